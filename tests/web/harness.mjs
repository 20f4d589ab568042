// SPDX-License-Identifier: Apache-2.0
// What the page's tests share: a list of tests, a real daemon that serves the built page, browser profiles.
//
//     test('Claim', async () => { const visit = await open(); ...; await visit.close(); });
//
// close() fails the test when the page wrote an error to the console, threw, or asked anything of a
// machine other than the one it came from.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const pageFolder = `${root}build/wasm/web/page`;
export const shotFolder = `${root}build/shots`;
const program = `${root}build/native/native/ringscope`;

const require = createRequire(`${root}web/package.json`);
const { chromium } = require('playwright-core');
export const axeSource = require('axe-core').source;
export const esbuild = require('esbuild');

export const tests = [];
export function test(name, body) {
  tests.push({ name, body });
}

export function check(truth, claim) {
  if (!truth) throw new Error(claim);
}

export function equal(actual, expected, what) {
  if (actual !== expected) throw new Error(`${what}: ${JSON.stringify(actual)}, expected ${JSON.stringify(expected)}`);
}

export async function until(condition, claim, limitMs = 10_000) {
  const end = Date.now() + limitMs;
  for (;;) {
    if (await condition()) return;
    if (Date.now() > end) throw new Error(`not within ${limitMs / 1000} s: ${claim}`);
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
}

// --- The daemon and the browser, started once ---------------------------------------------------------------

let daemon = null;
let browser = null;
export let origin = '';
export let token = '';

function chromiumPath() {
  const places = [process.env.RINGSCOPE_CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
  const found = places.find((place) => place && existsSync(place));
  if (!found) throw new Error('no Chromium found; run scripts/setup --tests or set RINGSCOPE_CHROMIUM');
  return found;
}

// A real daemon that serves a folder: its origin, its token, and how to end it.
export async function startDaemon(folder) {
  const daemon = spawn(program, ['serve', '--port', '0', '--page', folder], { stdio: ['ignore', 'pipe', 'ignore'] });
  const address = await new Promise((resolve, reject) => {
    let text = '';
    daemon.stdout.on('data', (bytes) => {
      text += bytes;
      const match = text.match(/Open (http:\/\/127\.0\.0\.1:\d+)\/#token=([0-9a-f]+)/);
      if (match) resolve(match);
    });
    daemon.on('error', reject);
    daemon.on('exit', (code) => reject(new Error(`the daemon ended with ${code}: ${text}`)));
  });
  return { origin: address[1], token: address[2], end: () => daemon.kill('SIGTERM') };
}

export async function begin() {
  mkdirSync(shotFolder, { recursive: true });
  daemon = await startDaemon(pageFolder);
  ({ origin, token } = daemon);
  browser = await chromium.launch({
    executablePath: chromiumPath(),
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync'],
  });
}

export async function end() {
  await browser?.close();
  daemon?.end();
}

// --- One visit in a profile of its own ------------------------------------------------------------------------

const noise = /GPU stall due to ReadPixels/;

export class Visit {
  constructor(context, page, base, options) {
    this.context = context;
    this.page = page;
    this.base = base;
    this.options = options;
    this.errors = [];
    this.requests = [];
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type()) && !noise.test(message.text())) this.errors.push(message.text());
    });
    page.on('pageerror', (error) => this.errors.push(String(error)));
    page.on('request', (request) => this.requests.push(request.url()));
  }

  text(selector) {
    return this.page.textContent(selector);
  }

  async fill(selector, value) {
    await this.page.fill(selector, value);
    await this.page.press(selector, 'Enter');
  }

  frames() {
    return this.page.evaluate(() => window.ringscope.frameCount());
  }

  fragment() {
    return this.page.evaluate(() => location.hash);
  }

  // The address follows the run after a moment.
  async settledFragment() {
    let last = '';
    await until(async () => {
      const now = await this.fragment();
      const same = now === last && now !== '';
      last = now;
      if (!same) await this.page.waitForTimeout(350);
      return same;
    }, 'the address settles');
    return last;
  }

  async pauseAt(share) {
    if ((await this.page.getAttribute('#play', 'aria-label')) === 'Pause') await this.page.click('#play');
    await this.page.evaluate((value) => {
      const scrub = document.getElementById('scrub');
      scrub.value = String(value * 1000);
      scrub.dispatchEvent(new Event('input'));
    }, share);
    await this.page.waitForTimeout(60);
  }

  notices() {
    return this.page.$$eval('#notices p', (all) => all.map((one) => one.textContent));
  }

  async close() {
    await this.context.close();
    const foreign = this.requests.filter((url) => !url.startsWith(this.base) && !/^(data|blob):/.test(url));
    const errors = this.errors.filter((text) => !this.options.expected?.test(text));
    if (foreign.length > 0) throw new Error(`asked elsewhere: ${foreign.join(' ')}`);
    if (errors.length > 0) throw new Error(`the console says: ${errors.join(' | ')}`);
  }
}

// Options: fragment, phone, dark, reducedMotion, base (another server), expected (console errors to allow),
// before (called with the page before it is opened).
export async function open(options = {}) {
  const context = await browser.newContext({
    viewport: options.phone ? { width: options.width ?? 390, height: 844 } : { width: 1440, height: 900 },
    deviceScaleFactor: options.phone ? 2 : 1,
    hasTouch: Boolean(options.phone),
    colorScheme: options.dark ? 'dark' : 'light',
    reducedMotion: options.reducedMotion ? 'reduce' : 'no-preference',
  });
  const page = await context.newPage();
  const base = options.base ?? origin;
  const visit = new Visit(context, page, base, options);
  await options.before?.(page);
  await page.goto(`${base}/${options.fragment ?? ''}`);
  if (!options.broken) {
    await page.waitForFunction(() => window.ringscope?.frameCount() > 0, null, { timeout: 20_000 });
  }
  return visit;
}

const contentTypes = { html: 'text/html', js: 'text/javascript', css: 'text/css', svg: 'image/svg+xml', wasm: 'application/wasm' };

// A static host: the built page, and beside it what `extra` holds by path: a text, or a function that answers.
// Returns its origin and how to end it.
export async function serveStatic(extra = {}) {
  const server = createServer((request, response) => {
    const name = request.url.endsWith('/') ? `${request.url.slice(1)}index.html` : request.url.slice(1);
    const file = `${pageFolder}/${name}`;
    if (typeof extra[name] === 'function') {
      extra[name](request, response);
      return;
    }
    if (!(name in extra) && !existsSync(file)) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { 'Content-Type': contentTypes[name.split('.').pop()] }).end(extra[name] ?? readFileSync(file));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { base: `http://127.0.0.1:${server.address().port}`, end: () => {
    server.close();
    server.closeAllConnections(); // streams that were left open
  } };
}

// The colours of all of a picture's pixels, or of those of its border, each with its share of the picture.
function countColors(visit, png, where) {
  return visit.page.evaluate(async ([data, part]) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = image.width;
    canvas.height = image.height;
    const context = canvas.getContext('2d');
    context.drawImage(image, 0, 0);
    const { data: pixels } = context.getImageData(0, 0, image.width, image.height);
    const counts = new Map();
    const inBorder = (x, y) => x === 0 || y === 0 || x === image.width - 1 || y === image.height - 1;
    for (let i = 0; i < pixels.length; i += 4) {
      const at = i / 4;
      if (part === 'border' && !inBorder(at % image.width, Math.floor(at / image.width))) continue;
      const color = `${pixels[i]},${pixels[i + 1]},${pixels[i + 2]}`;
      counts.set(color, (counts.get(color) ?? 0) + 1);
    }
    return [...counts].map(([color, count]) => [color, (count * 4) / pixels.length]);
  }, [png.toString('base64'), where]);
}

// The colours of a picture, each with its share of the pixels.
export async function colors(visit, png) {
  return new Map(await countColors(visit, png, 'all'));
}

// The colours of its outermost pixels.
export async function borderColors(visit, png) {
  return (await countColors(visit, png, 'border')).map(([color]) => color);
}
