// SPDX-License-Identifier: Apache-2.0
// How close the models come to published measurements.
import { native } from './harness.mjs';

export const builds = [['native', 'accuracy_bench']];

export function run(rows) {
  rows.addAll(native('accuracy'));
}
