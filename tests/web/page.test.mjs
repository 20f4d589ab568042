// SPDX-License-Identifier: Apache-2.0
// The page as a person meets it: the scene, the controls, playback, links, bad input.
import { readFileSync, writeFileSync } from 'node:fs';

import { borderColors, check, colors, equal, open, root, shotFolder, test, until } from './harness.mjs';

const expectedMs = (ranks, bytes, bandwidth, latencyS) => 2 * (ranks - 1) * (latencyS + bytes / (ranks * bandwidth)) * 1000;
const shownMs = async (visit) => {
  const [number, unit] = (await visit.text('#time')).split(' ');
  return Number(number) * { s: 1000, ms: 1, 'µs': 1e-3, ns: 1e-6 }[unit];
};
const near = (actual, expected, what) => check(Math.abs(actual / expected - 1) < 1e-3, `${what}: ${actual}, expected ${expected}`);
const step = (visit) => visit.text('#step');

async function drag(visit, selector, from, to, count) {
  const box = await visit.page.locator(selector).boundingBox();
  const at = (share) => box.x + 8 + (box.width - 16) * share;
  await visit.page.mouse.move(at(from), box.y + box.height / 2);
  await visit.page.mouse.down();
  for (let i = 1; i <= count; ++i) await visit.page.mouse.move(at(from + ((to - from) * i) / count), box.y + box.height / 2);
  await visit.page.mouse.up();
}

// As in web/theme.cpp.
const ground = { light: '255,255,255', dark: '20,23,28' };
const chunkColors = {
  light: ['40,116,189', '230,154,31', '22,153,122', '200,100,159', '86,176,224', '207,84,26', '185,164,26', '116,97,184'],
  dark: ['79,151,224', '240,168,60', '48,183,143', '224,138,187', '127,201,242', '236,119,66', '220,203,82', '164,147,234'],
};

// The pairs of texts around the scene that lie on one another, as far as they can be seen.
async function overlappingTexts(visit) {
  return visit.page.evaluate(() => {
    const texts = ['#phase', '#step', '#clock-line', '#explain', '.lead h1', '.lead p', '#phases .first', '#phases .second']
      .map((selector) => {
        const box = document.querySelector(selector);
        const range = document.createRange();
        range.selectNodeContents(box);
        const text = range.getBoundingClientRect();
        const clip = getComputedStyle(box).overflow === 'visible' ? text : box.getBoundingClientRect();
        return {
          selector,
          left: Math.max(text.left, clip.left),
          right: Math.min(text.right, clip.right),
          top: Math.max(text.top, clip.top),
          bottom: Math.min(text.bottom, clip.bottom),
        };
      })
      .filter((one) => one.right > one.left && one.bottom > one.top);
    const over = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 0.5 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 0.5;
    const pairs = texts.length < 6 ? [`only ${texts.length} texts`] : [];
    texts.forEach((one, index) => texts.slice(index + 1).forEach((two) => {
      if (over(one, two)) pairs.push(`${one.selector} and ${two.selector}`);
    }));
    return pairs;
  });
}

test('TheSceneIsDrawnAndPlays', async () => {
  const visit = await open();
  equal(await visit.page.getAttribute('#play', 'aria-label'), 'Pause', 'it plays by itself');
  const before = await visit.frames();
  await until(async () => (await visit.frames()) > before + 5, 'frames follow one another');
  await visit.pauseAt(0.3);
  const seen = await colors(visit, await visit.page.locator('#canvas').screenshot());
  check((seen.get('255,255,255') ?? 0) < 0.85, 'much of the canvas is drawn on');
  for (const color of chunkColors.light) check(seen.has(color), `chunk colour ${color} is in the picture`);
  await visit.close();
});

test('EditsRedrawAndTheNumbersAreTheClosedForm', async () => {
  const visit = await open();
  near(await shownMs(visit), expectedMs(8, 64 * 2 ** 20, 50e9, 500e-9), 'default run');
  await visit.pauseAt(0);
  const before = await visit.page.locator('#canvas').screenshot();
  await visit.fill('#ranks', '5');
  await visit.fill('#bytes', '10MB');
  await visit.fill('#bandwidth', '400 Gb/s');
  await visit.fill('#latency', '2us');
  await until(async () => (await visit.text('#formula')).replaceAll('\u00a0', ' ').startsWith('2·(5−1)·(2 µs'), 'the formula follows');
  near(await shownMs(visit), expectedMs(5, 10e6, 50e9, 2e-6), 'edited run');
  near(parseFloat(await visit.text('#algbw')), 10e6 / (expectedMs(5, 10e6, 50e9, 2e-6) / 1000) / 1e9, 'algbw');
  near(parseFloat(await visit.text('#busbw')), (10e6 / (expectedMs(5, 10e6, 50e9, 2e-6) / 1000) / 1e9) * 1.6, 'busbw');
  near(parseFloat(await visit.text('#wire')) * 2 ** 20, (10e6 * 8) / 5, 'bytes on a link');
  near(parseFloat(await visit.text('#bound')), ((10e6 * 8) / 5 / 50e9) * 1e6, 'lower bound in µs');
  equal(await visit.text('#verified-words'), 'sums verified', 'verdict');
  const after = await visit.page.locator('#canvas').screenshot();
  check(!before.equals(after), 'the picture changed');
  check((await visit.settledFragment()).startsWith('#v1&algorithm=ring&ranks=5&bytes='), 'the address follows');
  await visit.close();
});

test('RanksKeepTheRelativePositionAndThePlaying', async () => {
  const visit = await open();
  await visit.pauseAt(0.5);
  await visit.fill('#ranks', '12');
  near(Number(await visit.page.inputValue('#scrub')), 500, 'position');
  equal(await visit.page.getAttribute('#play', 'aria-label'), 'Play', 'still paused');
  await visit.page.click('#play');
  await visit.fill('#ranks', '6');
  await until(async () => (await visit.page.getAttribute('#play', 'aria-label')) === 'Pause', 'still playing');
  await visit.close();
});

test('AKnobTurnedInFlightJoinsTheRunAndReplaysToTheSameTrace', async () => {
  const visit = await open();
  await visit.pauseAt(0.4);
  const clock = await visit.text('#clock');
  await visit.fill('#bandwidth', '5GB/s');
  await until(async () => !(await visit.page.isHidden('#knobs')), 'the knob is listed');
  check(/at .+ bandwidth → 5 GB\/s/.test(await visit.text('#knob-list')), 'in words');
  check(Math.abs(parseFloat(await visit.text('#clock')) - parseFloat(clock)) < 0.01, 'the clock stays');
  near(await shownMs(visit), 2.356 * 0.4 + 2.356 * 0.6 * 9.98, 'ten times slower from there');
  await visit.page.click('#play');
  await visit.page.waitForTimeout(300);
  const fragment = await visit.settledFragment();
  check(/&change=[0-9.]+[munp]s:bandwidth:5GB\/s&trace=[0-9a-f]{16}$/.test(fragment), fragment);
  const other = await open({ fragment });
  await until(async () => (await other.text('#hash')).length === 16, 'the other page names its trace');
  equal(await other.text('#hash'), fragment.slice(-16), 'trace of the other page');
  equal((await other.notices()).length, 0, 'notices');
  await other.close();
  await visit.page.click('#knob-list button');
  await until(async () => visit.page.isHidden('#knobs'), 'undone');
  near(await shownMs(visit), 2.356, 'as before');
  await visit.close();
});

test('OneDragIsOneTurn', async () => {
  const visit = await open();
  await visit.pauseAt(0.25);
  await drag(visit, '#bandwidth-range', 0.67, 0.3, 12);
  equal(await visit.page.locator('#knob-list li').count(), 1, 'turned knobs');
  await drag(visit, '#latency-range', 0.35, 0.8, 5);
  equal(await visit.page.locator('#knob-list li').count(), 2, 'turned knobs');
  await visit.page.click('#clear-knobs');
  await until(async () => visit.page.isHidden('#knobs'), 'cleared');
  await visit.pauseAt(0);
  await drag(visit, '#bandwidth-range', 0.67, 0.3, 5);
  check(await visit.page.isHidden('#knobs'), 'before the start the run itself is edited');
  await visit.pauseAt(1);
  await drag(visit, '#latency-range', 0.35, 0.5, 5);
  check(await visit.page.isHidden('#knobs'), 'and after the end');
  await visit.close();
});

test('StepsScrubAndKeys', async () => {
  const visit = await open();
  const { page } = visit;
  await visit.pauseAt(0);
  equal(await step(visit), 'step 1 of 14', 'start');
  await page.keyboard.press('ArrowRight');
  await until(async () => (await step(visit)) === 'step 2 of 14', 'one step on');
  await page.click('#forward');
  await until(async () => (await step(visit)) === 'step 3 of 14', 'and another');
  await page.keyboard.press('ArrowLeft');
  await until(async () => (await step(visit)) === 'step 2 of 14', 'one back');
  await page.keyboard.press('End');
  await until(async () => (await visit.text('#phase')) === 'all-reduce done', 'to the end');
  await page.keyboard.press('Home');
  await until(async () => (await step(visit)) === 'step 1 of 14', 'to the start');
  await page.keyboard.press(']');
  await until(async () => (await visit.text('#speed')) === '2×', 'faster');
  await page.keyboard.press('[');
  await page.keyboard.press('[');
  await until(async () => (await visit.text('#speed')) === '1/2×', 'slower');
  await page.keyboard.press(' ');
  await until(async () => (await page.getAttribute('#play', 'aria-label')) === 'Pause', 'space plays');
  await page.keyboard.press(' ');
  await until(async () => (await page.getAttribute('#play', 'aria-label')) === 'Play', 'space pauses');
  await visit.pauseAt(0.5);
  check((await visit.text('#phase')) === 'all-gather' || (await step(visit)) === 'step 8 of 14', 'half way is the second phase');
  await page.keyboard.press('?');
  check(await page.isVisible('#shortcuts'), '? shows the keys');
  await page.keyboard.press('Escape');
  check(await page.isHidden('#shortcuts'), 'Escape hides them');
  await visit.close();
});

test('TabReachesEveryControlAndNeverSticks', async () => {
  const visit = await open();
  await visit.pauseAt(0.5);
  const seen = new Set();
  for (let i = 0; i < 40; ++i) {
    await visit.page.keyboard.press('Tab');
    seen.add(await visit.page.evaluate(() => document.activeElement?.id || document.activeElement?.value || 'none'));
  }
  for (const id of ['simulation', 'copy-link', 'theme', 'keys', 'play', 'scrub', 'slower', 'ranks', 'ranks-range', 'latency-range']) {
    check(seen.has(id), `Tab reaches ${id}; it reached ${[...seen].join(' ')}`);
  }
  await visit.page.click('#bytes');
  await visit.page.keyboard.type('7');
  check((await visit.page.inputValue('#bytes')).includes('7'), 'keys reach a text field');
  const kept = await visit.page.evaluate(() => window.dispatchEvent(new Event('beforeunload', { cancelable: true })));
  check(kept, 'leaving the page is not asked about');
  await visit.close();
});

test('PausedAndFinishedMeansNoFrames', async () => {
  const visit = await open();
  for (const place of [0.4, 1]) {
    await visit.pauseAt(place);
    await visit.page.waitForTimeout(400);
    const before = await visit.frames();
    await visit.page.waitForTimeout(1200);
    equal((await visit.frames()) - before, 0, `frames at ${place}`);
  }
  await visit.close();
});

test('TheRunStopsAtItsEndAndPlaysAgain', async () => {
  const visit = await open();
  for (let i = 0; i < 3; ++i) await visit.page.click('#faster');
  await until(async () => (await visit.text('#phase')) === 'all-reduce done', 'it ends');
  equal(await visit.page.getAttribute('#play', 'aria-label'), 'Play', 'stopped');
  check((await visit.text('#explain')).includes('Every rank now holds the sum over all 8 ranks'), 'says what is reached');
  await visit.page.click('#play');
  await until(async () => (await visit.text('#phase')) === 'reduce-scatter', 'from the start');
  await visit.close();
});

test('ALinkShowsTheSameTraceInAnotherProfile', async () => {
  const one = await open();
  await one.fill('#ranks', '7');
  await one.fill('#latency', '3us');
  const fragment = await one.settledFragment();
  await one.close();
  const two = await open({ fragment, phone: true, dark: true });
  await until(async () => (await two.text('#hash')).length === 16, 'the trace is named');
  equal(await two.text('#hash'), fragment.slice(-16), 'trace');
  equal(await two.page.inputValue('#ranks'), '7', 'ranks');
  equal(await two.settledFragment(), fragment, 'address');
  equal((await two.notices()).length, 0, 'notices');
  await two.close();
});

test('ADamagedLinkSaysSo', async () => {
  const line = 'algorithm=ring&ranks=8&bytes=64MiB&bandwidth=50GB/s&latency=500ns';
  const hash = readFileSync(`${root}tests/golden/traces.txt`, 'utf8').split('\n').find((row) => row.endsWith(` ${line}`)).slice(0, 16);
  const good = `#v1&${line}&trace=`;
  const cases = [
    [good + hash, null],
    [good + hash.slice(0, 8), 'cut'],
    [good + '0000000000000000', 'altered'],
    ['#v1&algorithm=ring&ranks=8', 'no trace hash'],
    [`#v1&ranks=0&trace=${hash}`, 'ranks=0'],
    [`#v1&ranks=65&trace=${hash}`, 'from 1 to 64 on this page'],
    [`#v1&bandwidth=5parsecs&trace=${hash}`, 'must be a rate'],
    [`#v1&colour=<img src=x onerror=alert(1)>&trace=${hash}`, 'is not a key'],
    [`#v1&engine=threads&trace=${hash}`, 'not simulated'],
    ['#what', 'none of this page'],
    [`#${'x'.repeat(1 << 20)}`, 'characters long'],
  ];
  for (const [fragment, words] of cases) {
    const visit = await open({ fragment });
    const notices = await visit.notices();
    if (words === null) equal(notices.length, 0, 'notices of a good link');
    else check(notices.length === 1 && notices[0].includes(words), `${fragment.slice(0, 60)}: ${notices.join(' | ') || 'no notice'}`);
    equal(await visit.text('#verified-words'), 'sums verified', 'something true is shown');
    if (words !== null) await visit.page.click('#notices button');
    equal((await visit.notices()).length, 0, 'notices after dismissal');
    await visit.close();
  }
});

test('ALinkPastedIntoAnOpenPageIsOpened', async () => {
  const visit = await open();
  await visit.page.evaluate(() => { location.hash = '#v1&ranks=3'; });
  await until(async () => (await visit.page.inputValue('#ranks')) === '3', 'the new run is shown');
  await visit.close();
});

test('APastedLinkIsNotOverwrittenBeforeItIsOpened', async () => {
  const visit = await open();
  await visit.settledFragment();
  // The address is written before the browser has told the page of the new one.
  await visit.page.evaluate(() => {
    location.hash = '#v1&ranks=3';
    document.getElementById('copy-link').click();
  });
  await until(async () => (await visit.page.inputValue('#ranks')) === '3', 'the new run is shown');
  await visit.close();
});

test('WhatWasWrongOfOneRunIsForgottenWithTheNext', async () => {
  const visit = await open();
  await visit.fill('#ranks', '0');
  await until(async () => !(await visit.page.isHidden('#ranks-error')), 'refused');
  await visit.page.fill('#bytes', 'half a w'); // not entered yet
  await visit.page.evaluate(() => { location.hash = '#v1&ranks=3&bytes=1MiB'; });
  await until(async () => (await visit.page.inputValue('#ranks')) === '3', 'the new run is shown');
  await until(async () => (await visit.page.inputValue('#bytes')) === '1MiB', 'in a field with the focus too');
  check(await visit.page.isHidden('#ranks-error'), 'no error');
  equal(await visit.page.getAttribute('#ranks', 'aria-invalid'), 'false', 'aria-invalid');
  await visit.close();
});

test('ARunOfMonthsEndsAtItsLastHop', async () => {
  // More picoseconds than a number of the script holds exactly.
  const visit = await open({ fragment: '#v1&ranks=3&bytes=1200000&bandwidth=1B/s&latency=1ps' });
  await visit.pauseAt(1);
  await until(async () => (await visit.text('#phase')) === 'all-reduce done', 'no hop is left in flight');
  check((await visit.text('#explain')).includes('Every rank now holds the sum'), await visit.text('#explain'));
  await visit.page.keyboard.press('Home');
  for (let step = 2; step <= 4; ++step) {
    await visit.page.keyboard.press('ArrowRight');
    await until(async () => (await visit.text('#step')) === `step ${step} of 4`, `step ${step}`);
  }
  await visit.close();
});

test('RanksThatAreNotInStepAreNotSaidToBe', async () => {
  const visit = await open({ fragment: '#v1&ranks=8&bytes=64MiB&set=link.3-4.bandwidth:5GB/s' });
  await visit.pauseAt(0.5);
  check(/^steps \d+ to \d+ of 14$/.test(await visit.text('#step')), await visit.text('#step'));
  check((await visit.text('#explain')).includes('do not move in step'), await visit.text('#explain'));
  check((await visit.text('#formula')).includes('as set, it takes 23.49'), await visit.text('#formula'));
  check((await visit.text('#bottleneck')).startsWith('Link 3->4 is the slowest'), await visit.text('#bottleneck'));
  await visit.close();
});

test('WrongInputIsExplainedAndTheLastGoodRunStays', async () => {
  const visit = await open();
  await visit.pauseAt(0);
  const cases = [
    ['#ranks', '0', 'whole number from 1 to 64'],
    ['#ranks', '65', 'whole number from 1 to 64'],
    ['#ranks', 'eight', 'whole number'],
    ['#bytes', '3', 'multiple of 4'],
    ['#bytes', '64 parsec', 'whole number of bytes'],
    ['#bytes', '16MiB&ranks=4', 'bytes takes a single value'],
    ['#bandwidth', '0', 'must be a rate'],
    ['#latency', '-1ns', 'must be a time'],
  ];
  for (const [selector, value, words] of cases) {
    await visit.fill(selector, value);
    await until(async () => !(await visit.page.isHidden(`${selector}-error`)), `${selector}=${value} is refused`);
    const error = await visit.text(`${selector}-error`);
    check(error.includes(words), `${selector}=${value}: ${error}`);
    equal(await visit.page.getAttribute(selector, 'aria-invalid'), 'true', 'aria-invalid');
    near(await shownMs(visit), 2.356, 'the last good run');
  }
  await visit.fill('#ranks', '4');
  await until(async () => visit.page.isHidden('#ranks-error'), 'a good value clears the message');
  await visit.close();
});

test('NothingIsAskedOfTheNetworkAfterLoading', async () => {
  const visit = await open();
  await visit.page.waitForTimeout(500);
  const atFirst = visit.requests.length;
  await visit.fill('#ranks', '6');
  await visit.pauseAt(0.5);
  await visit.fill('#bandwidth', '9GB/s');
  await visit.page.click('#theme');
  await visit.page.click('#source label:nth-of-type(2)');
  await visit.page.click('#source label:nth-of-type(1)');
  await visit.page.waitForTimeout(600);
  // The browser fetches a page's icon when it has nothing better to do.
  equal(visit.requests.slice(atFirst).filter((url) => !url.endsWith('favicon.svg')).join(' '), '', 'requests');
  equal(visit.requests.filter((url) => url.includes('/api/')).length, 1, 'one question to the daemon');
  await visit.close();
});

test('OneRankAndNoBytesAreRunsToo', async () => {
  const visit = await open();
  await visit.fill('#ranks', '1');
  await until(async () => (await visit.text('#explain')).includes('One rank alone'), 'one rank');
  await visit.fill('#ranks', '2');
  await visit.fill('#bytes', '0');
  await until(async () => (await visit.text('#bottleneck')).includes('Latency limits'), 'no bytes');
  await visit.fill('#bytes', '4');
  await visit.pauseAt(0.5);
  await visit.fill('#ranks', '64');
  equal(await visit.text('#verified-words'), 'sums verified', 'fewer elements than ranks');
  await visit.close();
});

test('ReducedMotionDoesNotStartByItselfAndSteps', async () => {
  const visit = await open({ reducedMotion: true });
  equal(await visit.page.getAttribute('#play', 'aria-label'), 'Play', 'it waits');
  equal(await step(visit), 'step 1 of 14', 'at the start');
  const before = await visit.frames();
  await visit.page.click('#play');
  await until(async () => (await step(visit)) === 'step 3 of 14', 'it steps');
  check((await visit.frames()) - before < 12, 'without frames in between');
  await visit.close();
});

test('TheSceneSurvivesTheLossOfItsGpuContext', async () => {
  const visit = await open();
  await visit.pauseAt(0.35);
  const before = await visit.page.locator('#canvas').screenshot();
  await visit.page.evaluate(async () => {
    const canvas = document.getElementById('canvas');
    const gl = canvas.getContext('webgl2') ?? canvas.getContext('webgl');
    const extension = gl.getExtension('WEBGL_lose_context');
    const event = (name) => new Promise((resolve) => canvas.addEventListener(name, resolve, { once: true }));
    const lost = event('webglcontextlost');
    extension.loseContext();
    await lost;
    await new Promise((resolve) => setTimeout(resolve, 200));
    const restored = event('webglcontextrestored');
    extension.restoreContext();
    await restored;
  });
  await visit.page.waitForTimeout(400);
  const after = await visit.page.locator('#canvas').screenshot();
  const [one, two] = [await colors(visit, before), await colors(visit, after)];
  check(two.size > 20 && Math.abs((one.get('40,116,189') ?? 0) - (two.get('40,116,189') ?? 0)) < 1e-3, 'the same picture again');
  await visit.page.click('#play');
  const frames = await visit.frames();
  await until(async () => (await visit.frames()) > frames + 3, 'and it plays on');
  await visit.close();
});

test('TheCanvasFollowsItsBoxAndThePixelDensity', async () => {
  const visit = await open({ phone: true });
  const size = () => visit.page.evaluate(() => {
    const canvas = document.getElementById('canvas');
    return [canvas.width, canvas.clientWidth, canvas.height, canvas.clientHeight];
  });
  const [width, cssWidth, height, cssHeight] = await size();
  equal(width, cssWidth * 2, 'width at two pixels per pixel');
  equal(height, cssHeight * 2, 'height');
  await visit.page.setViewportSize({ width: 700, height: 844 });
  await until(async () => (await size())[0] === (await size())[1] * 2 && (await size())[1] > cssWidth, 'it grows');
  await visit.close();
});

test('ABrokenPromiseInTheCoreShowsAReloadButton', async () => {
  const visit = await open({
    broken: true,
    expected: /.*/,
    // A letter that the other side must refuse.
    before: (page) => page.route('**/page.js', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: (await response.text()).replace('"0123456789"', '"0123456789\\u00e9"') });
    }),
  });
  await visit.page.waitForSelector('#reload', { state: 'visible' });
  check((await visit.text('#failure-words')).includes('broken promise'), await visit.text('#failure-words'));
  await visit.close();
});

test('NoWebGlStillGivesTheNumbers', async () => {
  const visit = await open({
    broken: true,
    expected: /WebGL|webgl/i,
    before: (page) => page.addInitScript(() => {
      const original = HTMLCanvasElement.prototype.getContext;
      HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
        return String(kind).includes('webgl') ? null : original.call(this, kind, ...rest);
      };
    }),
  });
  await until(async () => (await visit.notices()).some((text) => text.includes('no WebGL')), 'it says so');
  await visit.fill('#ranks', '4');
  await until(async () => (await visit.text('#time')) === '2.016 ms', 'numbers');
  await visit.close();
});

for (const phone of [false, true]) {
  for (const dark of [false, true]) {
    const name = `${phone ? 'phone' : 'desktop'}-${dark ? 'dark' : 'light'}`;
    test(`Pictures-${name}`, async () => {
      const visit = await open({ phone, dark });
      for (const [ranks, share] of [[8, 0.33], [8, 1], [4, 0.2], [16, 0.6], [64, 0.3]]) {
        await visit.fill('#ranks', String(ranks));
        await visit.pauseAt(share);
        await visit.page.evaluate(() => document.activeElement?.blur());
        await visit.page.waitForTimeout(150);
        writeFileSync(`${shotFolder}/${name}-${ranks}-${share}.png`, await visit.page.screenshot({ fullPage: phone }));
        equal((await overlappingTexts(visit)).join(', '), '', `texts on one another at ${ranks} ranks`);
        await visit.page.evaluate(() => window.scrollTo(0, 0)); // or the window's edge cuts into a row of pixels
        const picture = await visit.page.locator('#canvas').screenshot();
        const theme = dark ? 'dark' : 'light';
        equal((await borderColors(visit, picture)).join(' '), ground[theme], `colours of the border at ${ranks} ranks: nothing is cut off`);
        const seen = await colors(visit, picture);
        const missing = chunkColors[theme].slice(0, ranks).filter((color) => ranks <= 8 && !seen.has(color));
        equal(missing.join(' '), '', `chunk colours missing at ${ranks} ranks`);
      }
      await visit.close();
    });
  }
}

test('ThePhonePageIsNotWiderThanThePhone', async () => {
  for (const width of [320, 390]) {
    const visit = await open({ phone: true, width });
    const wide = await visit.page.evaluate(() => document.documentElement.scrollWidth);
    check(wide <= width, `${wide} pixels on ${width}`);
    await visit.close();
  }
});
