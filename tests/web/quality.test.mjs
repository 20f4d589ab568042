// SPDX-License-Identifier: Apache-2.0
// What the page promises beyond working: accessibility, size, start.
import { readFileSync, readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { brotliCompressSync } from 'node:zlib';

import { axeSource, check, open, pageFolder, test, token, until } from './harness.mjs';

const brotliBytesMax = 250_000;
const startRatioMax = 2.5;
const profileCount = 7;

async function audit(visit, where) {
  // As a test tool, outside the page's own policy.
  await visit.page.evaluate(axeSource);
  const result = await visit.page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  const words = result.violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.target.join(' ')).join(', ')}`);
  check(words.length === 0, `${where}: ${words.join(' | ')}`);
}

for (const phone of [false, true]) {
  for (const dark of [false, true]) {
    test(`NoAccessibilityViolations-${phone ? 'phone' : 'desktop'}-${dark ? 'dark' : 'light'}`, async () => {
      const visit = await open({ phone, dark, fragment: '#v1&ranks=5' });
      await visit.pauseAt(0.4);
      await audit(visit, 'with a notice');
      await visit.fill('#bandwidth', '5GB/s');
      await visit.fill('#bytes', 'many');
      await audit(visit, 'with a turned knob and a wrong value');
      await visit.page.keyboard.press('Tab');
      await visit.page.click('#keys');
      await audit(visit, 'with the list of keys');
      await visit.close();
      const machine = await open({ phone, dark, fragment: `#token=${token}` });
      await machine.fill('#bytes', '1MiB');
      await machine.page.click('#source label:nth-of-type(2)');
      await audit(machine, 'before a measurement');
      await machine.page.click('#run-machine');
      await until(async () => (await machine.text('#machine-words')).startsWith('Measured'), 'measured');
      await audit(machine, 'after a measurement');
      await machine.close();
    });
  }
}

test('TheFirstLoadIsSmall', async () => {
  let sum = 0;
  for (const name of readdirSync(pageFolder).filter((file) => !file.endsWith('.txt'))) {
    const bytes = brotliCompressSync(readFileSync(`${pageFolder}/${name}`)).length;
    console.log(`        ${name.padEnd(16)} ${String(bytes).padStart(7)} bytes brotli`);
    sum += bytes;
  }
  console.log(`        first load       ${String(sum).padStart(7)} bytes brotli, at most ${brotliBytesMax}`);
  check(sum < brotliBytesMax, `${sum} bytes`);
});

const barePage = `<!doctype html><canvas id="c" width="900" height="600"></canvas><script>
requestAnimationFrame(() => {
  const context = document.getElementById('c').getContext('2d');
  context.fillRect(10, 10, 200, 200);
  performance.mark('first-picture');
});</script>`;

test('TheSceneStartsSoonComparedWithABareCanvas', async () => {
  const server = createServer((_, response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end(barePage));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const bare = `http://127.0.0.1:${server.address().port}`;
  const firstPictureMs = async (base) => {
    const visit = await open({ base, broken: true, expected: /favicon/ });
    await visit.page.waitForFunction(() => performance.getEntriesByName('first-picture').length > 0);
    const ms = await visit.page.evaluate(() => performance.getEntriesByName('first-picture')[0].startTime);
    await visit.close();
    return ms;
  };
  const ours = [];
  const theirs = [];
  for (let i = 0; i < profileCount; ++i) {
    theirs.push(await firstPictureMs(bare));
    ours.push(await firstPictureMs(undefined));
  }
  server.close();
  const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
  const ratio = median(ours) / median(theirs);
  console.log(`        first picture after ${median(ours).toFixed(0)} ms, bare canvas ${median(theirs).toFixed(0)} ms, ratio ${ratio.toFixed(2)}`);
  check(ratio < startRatioMax, `ratio ${ratio.toFixed(2)}`);
});
