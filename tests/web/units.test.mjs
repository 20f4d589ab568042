// SPDX-License-Identifier: Apache-2.0
// The page's modules that need no page.
import { check, equal, esbuild, root, test } from './harness.mjs';

async function load(name) {
  const { outputFiles } = await esbuild.build({ entryPoints: [`${root}web/${name}.ts`], bundle: true, format: 'esm', write: false });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].text).toString('base64')}`);
}

test('FragmentsComeBackAsTheyWereWritten', async () => {
  const { readFragment, simulationFragment, measuredFragment } = await load('fragment');
  const line = 'algorithm=ring&ranks=8&bytes=64MiB&bandwidth=50GB/s&latency=500ns&change=1ms:bandwidth:5GB/s';
  const simulated = readFragment(simulationFragment(line, '0123456789abcdef'));
  equal(simulated.line, line, 'line');
  equal(simulated.trace, '0123456789abcdef', 'hash');
  equal(simulated.problem, null, 'problem');
  const measured = readFragment(measuredFragment(line, 'f6bf051fa07c871e'));
  equal(measured.line, line, 'line');
  equal(measured.open, 'f6bf051fa07c871e', 'run');
  equal(measured.problem, null, 'problem');
  equal(readFragment(encodeURI(simulationFragment(line, '0123456789abcdef')).replaceAll(':', '%3A')).line, line, 'encoded line');
});

test('EveryCutOfALinkIsNoticed', async () => {
  const { readFragment, simulationFragment } = await load('fragment');
  const whole = simulationFragment('algorithm=ring&ranks=16', '0123456789abcdef');
  for (let length = 2; length < whole.length; ++length) {
    check(readFragment(whole.slice(0, length)).problem !== null, `cut after ${length} characters`);
  }
  equal(readFragment(whole).problem, null, 'the whole link');
});

test('GarbageInAFragmentIsAMessage', async () => {
  const { readFragment } = await load('fragment');
  for (const text of ['#%', '#%ff%fe', '#hello', '#v2&ranks=8', '#&&&', '#v1', `#v1&${'x'.repeat(70_000)}`, '#open=../../x', '#token=xyz']) {
    const link = readFragment(text);
    check(text === '#&&&' || link.problem !== null, text.slice(0, 20));
    equal(link.token, null, 'token');
  }
  equal(readFragment('').problem, null, 'an empty one');
  equal(readFragment('#token=00ff').token, '00ff', 'token');
});

test('SliderStopsRiseAndAreFoundAgain', async () => {
  const { byteStops, bandwidthStops, latencyStops, positionOf } = await load('scale');
  for (const stops of [byteStops, bandwidthStops, latencyStops]) {
    stops.forEach((stop, index) => {
      check(index === 0 || stop.value > stops[index - 1].value, `${stop.text} is more than the one before`);
      equal(positionOf(stops, stop.value), index, stop.text);
    });
    equal(positionOf(stops, 1), 0, 'below');
    equal(positionOf(stops, 1e18), stops.length - 1, 'above');
  }
});

test('TheClockKeepsItsDigitsAndEndsOnlyAtTheEnd', async () => {
  const { readClock, speedText } = await load('clock');
  equal(readClock(0, 2.356e9).now, '0.000', 'start');
  equal(readClock(2.356e9 - 1, 2.356e9).now, '2.355', 'just before the end');
  equal(readClock(2.356e9, 2.356e9).now, '2.356', 'end');
  equal(readClock(5e8, 2.356e9).end, '2.356 ms', 'unit');
  equal(readClock(0, 0).now, '0', 'nothing');
  equal(speedText(125), '1/8×', 'slow');
  equal(speedText(4000), '4×', 'fast');
});

test('StreamsAreReadInAnySplit', async () => {
  const { StreamParser } = await load('sse');
  const text = ': hello\n\nid: 2\ndata: a\ndata: b\tc\n\nid: 3\r\ndata: d\r\n\r\nevent: end\ndata: {}\n\n';
  const expected = JSON.stringify([
    { name: 'message', data: 'a\nb\tc' },
    { name: 'message', data: 'd' },
    { name: 'end', data: '{}' },
  ]);
  for (let size = 1; size <= text.length; ++size) {
    const parser = new StreamParser();
    const events = [];
    for (let at = 0; at < text.length; at += size) events.push(...parser.push(text.slice(at, at + size)));
    equal(JSON.stringify(events), expected, `pieces of ${size}`);
  }
});
