// SPDX-License-Identifier: Apache-2.0
// The page and the daemon that serves it: a run on real threads, its link, the token, and no daemon at all.
import { writeFileSync } from 'node:fs';

import { check, equal, open, origin, serveStatic, shotFolder, test, token, until } from './harness.mjs';

const words = (visit) => visit.text('#machine-words');

async function measure(visit) {
  await visit.page.click('#source label:nth-of-type(2)');
  await visit.page.click('#run-machine');
  await until(async () => (await words(visit)) === 'Measured on CPU threads of this machine.', 'measured');
}

const fnv64 = (text) => {
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash.toString(16).padStart(16, '0');
};
const block = (lines) => {
  const text = lines.map((line) => `${line}\n`).join('');
  return `${text}block\t${lines.length}\t${fnv64(text)}\n`;
};
const columns = 'action\titeration\tstep\tchannel\tsource\ttarget\tchunk\tchunks\tbytes\tbegin_ps\tend_ps';
const runLine = (ranks, more = '') => `algorithm=ring&ranks=${ranks}&bytes=1MiB&engine=threads${more}`;
const beginning = (ranks, more) => block(['ringscope-trace 1', runLine(ranks, more), columns]);
const asEvent = (text) => `${text.split('\n').slice(0, -1).map((line) => `data: ${line}\n`).join('')}\n`;
const streamEnd = 'event: end\ndata: {}\n\n';
const linkTo = (ranks, id) => `#v1&${runLine(ranks)}&open=${id}`;
const enginesText = JSON.stringify({ engines: [{ name: 'threads', summary: '', rank_count_max: 64, missing: null }] });

// A daemon whose runs are what the test makes of them: runs[id](response) begins to answer a follower.
async function serveRuns(runs, startRun = null) {
  const extra = { 'api/v1/info': (request, response) => response.end(enginesText) };
  if (startRun) extra['api/v1/runs'] = (request, response) => startRun(response);
  for (const [id, follow] of Object.entries(runs)) {
    extra[`api/v1/runs/${id}/events`] = (request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/event-stream' });
      follow(response);
    };
  }
  return serveStatic(extra);
}

const api = async (path, options = {}) =>
  fetch(`${origin}/api/v1/${path}`, { ...options, headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' } });

test('LeavingARunInProgressLeavesTheButtonReady', async () => {
  const host = await serveRuns({ aaaa: (response) => response.write(asEvent(beginning(3))) },
    (response) => response.end(JSON.stringify({ id: 'aaaa' })));
  const visit = await open({ base: host.base });
  const { page } = visit;
  await page.click('#source label:nth-of-type(2)');
  await page.click('#run-machine');
  await until(async () => (await words(visit)) === 'Running.' && page.isDisabled('#run-machine'), 'it runs');
  await page.click('#source label:nth-of-type(1)');
  await page.click('#source label:nth-of-type(2)');
  await until(async () => page.isEnabled('#run-machine'), 'another run can be started');
  await visit.close();
  host.end();
});

test('ARunThatIsLeftBeforeTheDaemonAnswersIsNotFollowed', async () => {
  let answer = null;
  const host = await serveRuns({ aaaa: (response) => response.end(asEvent(beginning(3))) }, (response) => {
    answer = () => response.end(JSON.stringify({ id: 'aaaa' }));
  });
  const visit = await open({ base: host.base });
  await visit.page.click('#source label:nth-of-type(2)');
  await visit.page.click('#run-machine');
  await until(() => answer !== null, 'the daemon is asked');
  await visit.page.click('#source label:nth-of-type(1)');
  answer();
  await visit.page.waitForTimeout(400);
  check(await visit.page.isChecked('#source [value="simulation"]'), 'still the simulation');
  equal(await visit.page.inputValue('#ranks'), '8', 'still its ranks');
  await visit.close();
  host.end();
});

test('TheFollowerOfARunThatWasLeftIsSilent', async () => {
  let first = null;
  let second = null;
  const host = await serveRuns({
    aaaa: (response) => {
      first = response;
      response.write(asEvent(beginning(3)));
    },
    bbbb: (response) => {
      second = response;
      response.write(asEvent(beginning(5)));
    },
  });
  const visit = await open({ base: host.base, fragment: linkTo(3, 'aaaa') });
  await until(async () => first !== null && (await visit.page.inputValue('#ranks')) === '3', 'the first run');
  await visit.page.evaluate((hash) => { location.hash = hash; }, linkTo(5, 'bbbb'));
  await until(async () => second !== null && (await visit.page.inputValue('#ranks')) === '5', 'the second run');
  first.end(asEvent(block(['outcome\tfailed\tthe first one'])) + streamEnd);
  await visit.page.waitForTimeout(300);
  equal(await words(visit), 'Running.', 'the second goes on');
  second.end(asEvent(block(['outcome\tfailed\tthe second one'])) + streamEnd);
  await until(async () => (await words(visit)) === 'The run failed: the second one.', 'and is told to its end');
  await visit.close();
  host.end();
});

test('ARunThatDidNotSucceedSaysSoInWords', async () => {
  const endings = {
    aaaa: ['failed\tcancelled', 'The run was cancelled.', 'failed: cancelled'],
    bbbb: ['timeout\tnot done within 100 ms; the worker was killed', 'The run took too long: not done within 100 ms; the worker was killed.', 'timeout: not done within 100 ms; the worker was killed'],
    cccc: ['wrong\telement 3 is 7', 'The run is over, but its sums are wrong: element 3 is 7.', 'wrong: element 3 is 7'],
  };
  const runs = Object.entries(endings).map(([id, [outcome]]) =>
    [id, (response) => response.end(asEvent(beginning(3) + block([`outcome\t${outcome}`])) + streamEnd)]);
  const host = await serveRuns(Object.fromEntries(runs));
  for (const [id, [, said, verdict]] of Object.entries(endings)) {
    const visit = await open({ base: host.base, fragment: linkTo(3, id) });
    await until(async () => (await words(visit)).startsWith('The run '), `${id} is told`);
    equal(await words(visit), said, 'words');
    await until(async () => (await visit.text('#verified-words')) !== 'running', 'the verdict');
    equal(await visit.text('#verified-words'), verdict, 'verdict');
    equal(await visit.text('#explain'), said, 'explanation');
    check((await visit.text('#phase')) !== 'not run yet', 'it was run');
    await visit.close();
  }
  host.end();
});

test('ACancelledRunOfTheDaemonIsSaidToBeCancelled', async () => {
  const start = async (run) => (await (await api('runs', { method: 'POST', body: JSON.stringify({ run }) })).json()).id;
  const long = await start('algorithm=ring&ranks=8&bytes=256MiB&engine=threads&iterations=20');
  const waiting = await start('algorithm=ring&ranks=3&bytes=1MiB&engine=threads');
  check((await api(`runs/${waiting}`, { method: 'DELETE' })).ok && (await api(`runs/${long}`, { method: 'DELETE' })).ok, 'both are cancelled');
  const visit = await open({ fragment: linkTo(3, waiting) });
  await until(async () => (await words(visit)) === 'The run was cancelled.', 'said');
  equal(await visit.text('#verified-words'), 'failed: cancelled', 'verdict');
  equal(await visit.text('#explain'), 'The run was cancelled.', 'explanation');
  await visit.close();
});

test('ARunThePageCannotShowIsRefusedOnceAndForAll', async () => {
  const hop = 'reduce\t0\t60\t0\t0\t1\t0\t1\t16384\t0\t1000';
  const host = await serveRuns({
    aaaa: (response) => {
      response.write(asEvent(beginning(65)));
      setTimeout(() => response.write(asEvent(block([hop]))), 200);
      setTimeout(() => response.end(asEvent(block(['outcome\tok'])) + streamEnd), 400);
    },
  });
  const visit = await open({ base: host.base, fragment: linkTo(4, 'aaaa') });
  await until(async () => (await words(visit)).includes('from 1 to 64'), 'refused');
  await visit.page.waitForTimeout(600);
  equal(await visit.text('#phase'), 'not run yet', 'nothing of it is shown');
  equal(await visit.page.inputValue('#ranks'), '4', 'the controls stay');
  check(await visit.page.isHidden('#failure'), 'the page lives');
  await visit.close();
  host.end();
});

test('TheAddressOfTheMachineHoldsWhatTheControlsSay', async () => {
  const host = await serveRuns({ aaaa: (response) => response.write(asEvent(beginning(3))) },
    (response) => response.end(JSON.stringify({ id: 'aaaa' })));
  const visit = await open({ base: host.base });
  await visit.page.click('#source label:nth-of-type(2)');
  await visit.fill('#ranks', '3');
  const before = await visit.settledFragment();
  check(/^#v1&algorithm=ring&ranks=3&.*&trace=[0-9a-f]{16}$/.test(before), before);
  await visit.fill('#bytes', '1MiB');
  await visit.page.click('#run-machine');
  await until(async () => (await words(visit)) === 'Running.', 'it runs');
  const during = await visit.settledFragment();
  check(/^#v1&algorithm=ring&ranks=3&bytes=1MiB&.*&trace=[0-9a-f]{16}$/.test(during), during);
  await visit.close();
  const other = await open({ base: host.base, fragment: during });
  equal((await other.notices()).join(), '', 'notices of that link');
  await other.close();
  host.end();
});

test('TheAddressStaysTheLinkWhileItsRunIsOnItsWay', async () => {
  const host = await serveRuns({ aaaa: (response) => response.write(asEvent(beginning(3))) });
  const visit = await open({ base: host.base, fragment: linkTo(3, 'aaaa') });
  await until(async () => (await words(visit)) === 'Running.', 'it runs');
  await visit.page.waitForTimeout(800);
  equal(await visit.fragment(), linkTo(3, 'aaaa'), 'the address');
  await visit.page.click('#source label:nth-of-type(1)');
  check(!(await visit.settledFragment()).includes('open='), 'a run that was left is no longer named');
  await visit.close();
  host.end();
});

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
  equal(hash, (await (await api(`runs/${fragment.slice(-16)}`)).json()).trace_hash, 'the daemon names the same trace');
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
  const host = await serveStatic();
  const visit = await open({ base: host.base, expected: /404/ });
  await visit.page.click('#source label:nth-of-type(2)');
  await until(async () => (await words(visit)).includes('ringscope serve'), 'explained');
  check(await visit.page.isDisabled('#run-machine'), 'nothing to run on');
  await visit.close();
  host.end();
});
