// SPDX-License-Identifier: Apache-2.0
// Whatever the core simulates, the page shows or says why not: other algorithms, failures, rounds, topologies.
import { check, equal, open, test, until } from './harness.mjs';

const words = async (visit, selector) => (await visit.text(selector)).replaceAll('\u00a0', ' ');
// Without a hash the page warns that the link may have been cut.
const link = (line) => `#v1&${line}&trace=${'0'.repeat(16)}`;

async function options(visit) {
  return visit.page.$$eval('#algorithm option', (all) => all.map((one) => one.value));
}

// How many wedges a circle through the cells crosses.
async function countWedges(visit) {
  const png = (await visit.page.locator('#canvas').screenshot()).toString('base64');
  return visit.page.evaluate(async (data) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [image.width, image.height];
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const { data: pixels } = context.getImageData(0, 0, image.width, image.height);
    const pixel = (x, y) => pixels.slice(4 * (Math.round(y) * image.width + Math.round(x)), 4 * (Math.round(y) * image.width + Math.round(x)) + 3).join();
    const ground = pixel(1, 1);
    const hole = parseFloat(getComputedStyle(document.getElementById('scene')).getPropertyValue('--hole'));
    const radius = (hole / 0.415) * 0.8 * (image.width / document.getElementById('canvas').clientWidth);
    const drawn = Array.from({ length: 2000 }, (_, i) => {
      const angle = (2 * Math.PI * i) / 2000;
      return pixel(image.width / 2 + radius * Math.sin(angle), image.height / 2 - radius * Math.cos(angle)) !== ground;
    });
    return drawn.filter((here, i) => here && !drawn[(i + 1999) % 2000]).length;
  }, png);
}

test('EveryAlgorithmOfTheCoreCanBeChosenAndIsDrawn', async () => {
  const visit = await open();
  await visit.pauseAt(0.3);
  const names = await options(visit);
  check(names.includes('ring'), `the list: ${names.join(' ')}`);
  for (const name of names) {
    await visit.page.selectOption('#algorithm', name);
    await until(async () => (await visit.settledFragment()).startsWith(`#v1&algorithm=${name}&`), `${name} is simulated`);
    check(await visit.page.isHidden('#algorithm-error'), `${name}: ${await visit.text('#algorithm-error')}`);
    equal(await visit.text('#verified-words'), 'sums verified', name);
    const formula = (await visit.page.isHidden('#formula')) ? '' : await words(visit, '#formula');
    equal(formula.startsWith('2·(8−1)·'), name === 'ring', `${name} has the ring's formula: ${formula}`);
    check((await visit.text('#algorithm-words')).length > 10, `${name} is explained`);
    equal(await visit.page.isVisible('#lead'), name === 'ring', `${name} has the ring's sentence`);
    await visit.pauseAt(1);
    await until(async () => (await visit.text('#phase')).endsWith(' done'), `${name} ends: ${await visit.text('#phase')}`);
    equal(await countWedges(visit), 8, `ranks drawn for ${name}`);
    await visit.pauseAt(0.3);
  }
  await visit.close();
});

test('AStepIsExplainedWithAnExample', async () => {
  const visit = await open();
  await visit.pauseAt(0);
  equal(await visit.text('#explain'), 'Every rank sends its own input of one chunk to its right-hand neighbour, which adds it in. ' +
    'For example, rank 0 sends chunk 0, its own input, to rank 1, which adds it to its own.', 'explanation');
  await visit.close();
});

test('AFailingRunShowsItsReason', async () => {
  const visit = await open({ fragment: '#v1&ranks=8&bytes=64MiB&change=1ms:rank.3.alive:0' });
  await until(async () => (await visit.text('#note-list')).includes('rank 3 dies'), 'the death is listed');
  check(/at 1 ms rank 3 dies/.test(await visit.text('#note-list')), await visit.text('#note-list'));
  check(/timeout: rank 3 died at 1 ms; rank 4 waits for rank 3 in step \d+/.test(await visit.text('#verified-words')), await visit.text('#verified-words'));
  check(await visit.page.isHidden('#formula'), 'no formula holds');
  await visit.pauseAt(1);
  await until(async () => (await visit.text('#phase')) === 'broken off', await visit.text('#phase'));
  equal(await countWedges(visit), 8, 'ranks drawn');
  check((await visit.text('#explain')).startsWith('The run is given up: rank 3 died at 1 ms'), await visit.text('#explain'));
  await visit.close();
});

test('AShrunkRunEndsWithTheRightSumsOfTheOthers', async () => {
  const visit = await open({ fragment: '#v1&ranks=8&bytes=64MiB&change=1ms:rank.3.alive:0&recovery=shrink' });
  await visit.pauseAt(0.5);
  equal(await visit.text('#phase'), 'nothing moves', 'in the middle of the timeout');
  equal(await visit.text('#round'), 'round 1 of 2', 'round');
  equal(await countWedges(visit), 8, 'ranks drawn before');
  equal(await visit.text('#verified-words'), 'sums verified', 'verdict');
  check((await visit.text('#note-list')).includes('shrink: 7 ranks begin again'), await visit.text('#note-list'));
  await visit.pauseAt(1);
  await until(async () => (await visit.text('#phase')) === 'all-reduce done', await visit.text('#phase'));
  equal(await visit.text('#round'), 'round 2 of 2', 'round');
  check((await visit.text('#explain')).includes('the sum over all 7 ranks'), await visit.text('#explain'));
  equal(await countWedges(visit), 7, 'ranks drawn after');
  await visit.close();
});

test('IterationsFollowOneAnother', async () => {
  const visit = await open({ fragment: '#v1&ranks=4&bytes=1MiB&iterations=3' });
  await visit.pauseAt(0.5);
  equal(await visit.text('#round'), 'round 2 of 3', 'in the middle');
  check((await visit.text('#time-words')).includes('median of 3'), await visit.text('#time-words'));
  await visit.pauseAt(0);
  for (let step = 0; step < 6; ++step) await visit.page.keyboard.press('ArrowRight');
  await until(async () => (await visit.text('#round')) === 'round 2 of 3', 'six steps on');
  equal(await visit.text('#step'), 'step 1 of 6', 'its first step');
  await visit.pauseAt(1);
  await until(async () => (await visit.text('#phase')) === 'all-reduce done', 'the end');
  equal(await visit.text('#verified-words'), 'sums verified', 'verdict');
  await visit.close();
});

test('PiecesMakeThinnerCellsAndTooManyAreRefused', async () => {
  const visit = await open({ fragment: '#v1&ranks=8&bytes=64MiB&chunks=4' });
  await visit.pauseAt(0.4);
  equal(await visit.text('#verified-words'), 'sums verified', 'verdict');
  check(await visit.page.isHidden('#formula'), 'the formula of one piece is not shown');
  await visit.close();
  const refused = await open({ fragment: '#v1&ranks=8&bytes=64MiB&chunks=4000' });
  check(/chunks=4000.*32000 chunks.*at most \d+/.test((await refused.notices()).join()), (await refused.notices()).join());
  equal(await refused.text('#verified-words'), 'sums verified', 'something true is shown');
  await refused.close();
});

test('ATopologyIsNamedAndIdleControlsSayWhy', async () => {
  const visit = await open();
  check((await visit.text('#topology-words')).startsWith('One port per rank'), await visit.text('#topology-words'));
  check(await visit.page.isEnabled('#bandwidth'), 'its bandwidth can be turned');
  await visit.page.evaluate((hash) => { location.hash = hash; }, link('ranks=8&topology=dgx_a100'));
  await until(async () => (await visit.text('#topology-words')).startsWith('DGX A100:'), await visit.text('#topology-words'));
  equal(await visit.page.inputValue('#topology'), 'dgx_a100', 'the choice follows the link');
  check(await visit.page.isHidden('#formula'), 'the formula of the uniform network is not shown');
  check(await visit.page.isDisabled('#bandwidth') && await visit.page.isDisabled('#bandwidth-range'), 'its links have their own rates');
  check((await visit.page.getAttribute('#bandwidth', 'title')).includes('rates of their own'), 'which is said');
  check((await visit.text('#topology-words')).includes('have their own'), 'in words too');
  check(await visit.page.isHidden('#hint'), 'nobody is asked to turn what cannot be turned');
  check((await visit.text('#bottleneck')).includes('14 steps of'), await visit.text('#bottleneck'));
  check(!/\b8\sMiB at 50\sGB/.test(await visit.text('#bottleneck')), 'it names the rate of its links');
  await visit.close();
});

test('EveryTopologyCanBeChosen', async () => {
  const visit = await open();
  const names = await visit.page.$$eval('#topology option', (all) => all.map((one) => one.value));
  check(names.length >= 18 && names.includes('rail_infiniband') && !names.includes('graph'), names.join());
  for (const name of names.slice(1)) { // the first is on show
    await visit.page.selectOption('#topology', name);
    await until(async () => (await visit.settledFragment()).includes(`&topology=${name}`), `${name} is simulated`);
    check(await visit.page.isHidden('#topology-error'), `${name}: ${await visit.text('#topology-error')}`);
    equal(await visit.text('#verified-words'), 'sums verified', name);
  }
  await visit.page.selectOption('#topology', 'uniform');
  await visit.fill('#ranks', '9');
  await visit.page.selectOption('#topology', 'dgx_a100');
  check(/ranks=9/.test(await visit.text('#topology-error')), `nine ranks are too many: ${await visit.text('#topology-error')}`);
  equal(await visit.page.inputValue('#topology'), 'uniform', 'the last good choice stays');
  check((await visit.settledFragment()).includes('ranks=9'), 'and so does the run');
  await visit.close();
});

test('AnotherTopologyForgetsTheLinksOfTheOldOne', async () => {
  const visit = await open({ fragment: link('ranks=8&set=link.0-1.bandwidth:5GB/s&set=rank.2.start:1us') });
  await visit.page.selectOption('#topology', 'hgx_h100');
  await until(async () => (await visit.settledFragment()).includes('topology=hgx_h100'), 'it is simulated');
  const fragment = await visit.settledFragment();
  check(!fragment.includes('link.0-1') && fragment.includes('rank.2.start:1us'), fragment);
  await visit.close();
});
