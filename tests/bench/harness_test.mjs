// SPDX-License-Identifier: Apache-2.0
// What a row says of its bar; by itself: node harness_test.mjs
import assert from 'node:assert/strict';

import { Rows } from './harness.mjs';

const kept = [];
const rows = new Rows('example', (row) => kept.push(row));
function verdict(row) {
  rows.row({ case: 'case', metric: 'metric', unit: 's', ...row });
  return kept.at(-1).pass;
}

assert.equal(verdict({ ours: 3 }), null, 'no bar, no verdict');
assert.equal(verdict({ ours: 3, least: 3 }), true);
assert.equal(verdict({ ours: 3, least: 3.1 }), false);
assert.equal(verdict({ ours: 3, most: 3 }), true);
assert.equal(verdict({ ours: 3, most: 2.9 }), false);
assert.equal(verdict({ ours: 3, peer: 'other', theirs: 2, most: 1.5 }), true, 'the bar is for the ratio');
assert.equal(verdict({ ours: 3, peer: 'other', theirs: 2, most: 1.4 }), false);
assert.equal(verdict({ ours: 1.0005, peer: 'other', theirs: 1, within: 0.001 }), true);
assert.equal(verdict({ ours: 0.998, peer: 'other', theirs: 1, within: 0.001 }), false);
assert.equal(verdict({ ours: Number.NaN, least: 1 }), false, 'no number reaches no bar');
assert.equal(verdict({ peer: 'other', theirs: 1, within: 0.001 }), false, 'ours is missing');
assert.equal(verdict({ ours: 3, peer: 'peer absent', least: 10 }), null, 'the peer is missing');
assert.equal(verdict({ peer: 'peer absent', least: 10 }), null, 'both are missing');
assert.deepEqual([rows.passed, rows.failed, rows.skipped], [4, 6, 2]);

rows.addAll('words\n{"case":"c","metric":"m","unit":"s","ours":1,"theirs":2,"bar":2,"pass":false}\n', ', under node');
assert.deepEqual(kept.at(-1), {
  bench: 'example', case: 'c, under node', metric: 'm', unit: 's', ours: 1, peer: null, theirs: 2, ratio: 0.5, bar: 2, pass: false });
assert.equal(rows.failed, 7);
assert.throws(() => rows.addAll('{"case":"c","ours":1}'), /a row without metric, unit/);
assert.throws(() => rows.addAll('words'), /no row/);
