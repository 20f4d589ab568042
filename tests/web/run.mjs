// SPDX-License-Identifier: Apache-2.0
// Runs tests/web/*.test.mjs one after the other: npm --prefix web test [words of a test's name].
// The last line is "N passed, N failed".
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { begin, end, tests } from './harness.mjs';

const folder = fileURLToPath(new URL('.', import.meta.url));
for (const file of readdirSync(folder).filter((name) => name.endsWith('.test.mjs')).sort()) {
  await import(new URL(file, import.meta.url));
}
const wanted = process.argv.slice(2).join(' ').toLowerCase();
const limitMs = 120_000;
let passed = 0;
let failed = 0;
try {
  await begin();
  for (const { name, body } of tests.filter((one) => one.name.toLowerCase().includes(wanted))) {
    const started = Date.now();
    let timer;
    const limit = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error(`not done after ${limitMs / 1000} s`)), limitMs);
    });
    try {
      await Promise.race([body(), limit]);
      ++passed;
      console.log(`ok      ${name} (${Date.now() - started} ms)`);
    } catch (error) {
      ++failed;
      console.log(`FAILED  ${name}\n        ${String(error?.stack ?? error).split('\n').slice(0, 6).join('\n        ')}`);
    } finally {
      clearTimeout(timer);
    }
  }
} catch (error) {
  ++failed;
  console.log(`FAILED  to start: ${error?.stack ?? error}`);
} finally {
  await end();
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
