// SPDX-License-Identifier: Apache-2.0
// Runs a benchmark that scripts/bench has built, or says what to build for it:
//
//     node run.mjs NAME [--json FILE] [--quick] [--peers]
//     node run.mjs NAME --builds      a preset and its targets on each line
//
// The exit statuses are those of scripts/bench.
import { appendFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

import { Rows } from './harness.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { builds: { type: 'boolean' }, json: { type: 'string' }, quick: { type: 'boolean' }, peers: { type: 'boolean' } },
});
const name = positionals[0];
const { builds, run } = await import(new URL(`${name}.bench.mjs`, import.meta.url));
if (values.builds) {
  console.log(builds.map((build) => build.join(' ')).join('\n'));
  process.exit(0);
}

if (values.json) {
  try {
    writeFileSync(values.json, '');
  } catch (error) {
    console.error(`bench: --json ${values.json}: ${error.message}`);
    process.exit(2);
  }
}
const rows = new Rows(name, (row) => values.json && appendFileSync(values.json, `${JSON.stringify(row)}\n`));
try {
  await run(rows, { quick: Boolean(values.quick), peersNeeded: Boolean(values.peers) });
} catch (error) {
  console.error(`bench: ${name} cannot be measured here: ${error.message}`);
  process.exit(3);
}
console.log(`${rows.passed} bars hold, ${rows.failed} fall short${rows.skipped ? `, ${rows.skipped} skipped for want of a peer` : ''}`);
process.exit(rows.failed === 0 ? 0 : 1);
