// SPDX-License-Identifier: Apache-2.0
// How fast traces are written, read and hashed, natively and as WebAssembly.
import { native, underNode } from './harness.mjs';

export const builds = [['native', 'codec_bench'], ['wasm', 'codec_bench']];

export function run(rows) {
  addRows(rows, native('codec'), '', 3e6);
  addRows(rows, underNode('codec'), ', under node', 1e6);
}

// The text is what a viewer waits for; hashing has no bar of its own.
function addRows(rows, printed, mark, least) {
  for (const json of printed.trim().split('\n')) {
    const { case: name, events_per_s: ours } = JSON.parse(json);
    rows.row({ case: `${name}${mark}`, metric: 'events per second', unit: '1/s', ours, ...(name === 'hash' ? {} : { least }) });
  }
}
