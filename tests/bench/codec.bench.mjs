// SPDX-License-Identifier: Apache-2.0
// How fast traces are written and read, natively and as WebAssembly.
import { native, underNode } from './harness.mjs';

export const builds = [['native', 'codec_bench'], ['wasm', 'codec_bench']];

export function run(rows) {
  rows.addAll(native('codec'));
  rows.addAll(underNode('codec'), ', under node');
}
