// SPDX-License-Identifier: Apache-2.0
// The page and the daemon that serves it: a run on real threads, its link, the token, and no daemon at all.
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';

import { check, equal, open, pageFolder, shotFolder, test, token, until } from './harness.mjs';

const words = (visit) => visit.text('#machine-words');

async function measure(visit) {
  await visit.page.click('#source label:nth-of-type(2)');
  await visit.page.click('#run-machine');
  await until(async () => (await words(visit)) === 'Measured on CPU threads of this machine.', 'measured');
}

test('ThisMachineRunsStreamsAndVerifies', async () => {
  const visit = await open({ fragment: `#token=${token}` });
  check(!(await visit.fragment()).includes('token'), 'the token leaves the address');
  await visit.fill('#ranks', '4');
  await visit.fill('#bytes', '16MiB');
  await measure(visit);
  equal(await visit.text('#verified-words'), 'sums verified', 'verdict');
  check(/^[0-9.]+ (ms|µs|s)$/.test(await visit.text('#time')), 'a measured time');
  equal(await visit.text('#time-words'), 'measured', 'said to be measured');
  check(parseFloat(await visit.text('#algbw')) > 0 && parseFloat(await visit.text('#busbw')) > 0, 'rates');
  check(/^[0-9.]+ (ms|µs)$/.test(await visit.text('#bound')), 'the predicted time beside it');
  await until(async () => parseFloat(await visit.text('#clock')) > 0, 'it plays');
  await visit.page.waitForTimeout(2500);
  writeFileSync(`${shotFolder}/measured-desktop-light.png`, await visit.page.screenshot());
  await visit.page.keyboard.press('End');
  await until(async () => (await visit.text('#phase')) === 'all-reduce done', 'the end');
  const fragment = await visit.settledFragment();
  check(/&engine=threads&open=[0-9a-f]{16}$/.test(fragment) && !fragment.includes(token), fragment);
  const hash = await visit.text('#hash');
  await visit.close();

  const other = await open({ fragment, dark: true });
  await until(async () => (await other.text('#hash')) === hash, 'the same trace in another profile');
  equal((await other.notices()).length, 0, 'notices');
  equal(await other.fragment(), fragment, 'address');
  await other.close();
});

test('AMeasuredLinkOfAForgottenRunSaysSo', async () => {
  const visit = await open({ fragment: '#v1&algorithm=ring&ranks=4&bytes=1MiB&engine=threads&open=0123456789abcdef', expected: /404/ });
  await until(async () => (await words(visit)).includes('does not know that run'), 'said');
  await visit.close();
});

test('WithoutTheTokenThePageSaysHowToGetItAndTakesIt', async () => {
  const visit = await open({ expected: /401/ });
  await visit.page.click('#source label:nth-of-type(2)');
  await visit.page.click('#run-machine');
  await until(async () => visit.page.isVisible('#token'), 'asks for the token');
  check((await words(visit)).includes('ringscope serve'), 'says where it is');
  await visit.fill('#token', '0123');
  await until(async () => visit.page.isVisible('#token'), 'a wrong one is refused');
  await visit.fill('#token', `http://127.0.0.1/#token=${token}`);
  await until(async () => (await words(visit)).startsWith('Measured'), 'the right one is taken');
  await visit.close();
});

test('EditingAfterAMeasurementAsksForANewOne', async () => {
  const visit = await open({ fragment: `#token=${token}` });
  await visit.fill('#bytes', '1MiB');
  await measure(visit);
  await visit.fill('#ranks', '3');
  await until(async () => (await visit.text('#phase')) === 'not run yet', 'inputs at rest');
  await visit.fill('#bandwidth', '1GB/s');
  await visit.page.click('#run-machine');
  await until(async () => (await words(visit)).startsWith('Measured'), 'measured again');
  await visit.page.click('#source label:nth-of-type(1)');
  await until(async () => (await visit.text('#time-words')).includes('whole'), 'back in the simulation');
  equal(await visit.page.inputValue('#ranks'), '3', 'ranks stay');
  await visit.close();
});

test('OnAStaticHostThePageWorksAndExplainsTheSwitch', async () => {
  const types = { html: 'text/html', js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml', wasm: 'application/wasm' };
  const server = createServer((request, response) => {
    const name = request.url === '/' ? 'index.html' : request.url.slice(1);
    try {
      const body = readFileSync(`${pageFolder}/${name}`);
      response.writeHead(200, { 'Content-Type': types[name.split('.').pop()] }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const visit = await open({ base: `http://127.0.0.1:${server.address().port}`, expected: /404/ });
  await visit.page.click('#source label:nth-of-type(2)');
  await until(async () => (await words(visit)).includes('ringscope serve'), 'explained');
  check(await visit.page.isDisabled('#run-machine'), 'nothing to run on');
  await visit.close();
  server.close();
});
