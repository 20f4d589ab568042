// SPDX-License-Identifier: Apache-2.0
// What the benchmarks share: programs to run, rows to print. A benchmark is a file NAME.bench.mjs with
//
//     // What it measures, for scripts/bench --list.                    (its second line)
//     export const builds = [['native', 'simulator_bench', 'ringscope'], ['wasm', 'simulator_bench']];
//     export function run({ row, note, quick }) {
//       row({ case: '1024 ranks', metric: 'CPU time', unit: 's', ours: 0.1, most: 2 });
//     }
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));
export const buildFolder = `${root}build/bench`;

// --- Programs ----------------------------------------------------------------------------------------

// What it wrote to standard output. `allowed` are the exit statuses that are no reason to give up.
function output(command, allowed, stderr) {
  const options = { encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', stderr] };
  const { status, signal, stdout, error } = spawnSync(command[0], command.slice(1), options);
  if (error || !allowed.includes(status)) {
    const end = error?.message ?? (signal ? `signal ${signal}` : `exit status ${status}`);
    throw new Error(`${command[0].replace(root, '')} ended with ${end}`);
  }
  return stdout;
}

// A program of this folder, natively and as WebAssembly under node; 1 says that a bar falls short.
export function native(name, ...args) {
  return output([`${root}build/native/tests/bench/${name}_bench`, ...args], [0, 1], 'inherit');
}
export function underNode(name, ...args) {
  return output([process.execPath, `${root}build/wasm/tests/bench/${name}_bench.js`, ...args], [0, 1], 'inherit');
}

// The JSON that `ringscope ... --json` prints: of a run, or of why there was none.
export function ringscope(...args) {
  return JSON.parse(output([`${root}build/native/native/ringscope`, ...args, '--json'], [0, 1, 2, 3], 'ignore'));
}

// --- Rows --------------------------------------------------------------------------------------------

const keys = ['bench', 'case', 'metric', 'unit', 'ours', 'peer', 'theirs', 'ratio', 'bar', 'pass'];

// Four digits, or all in front of the point.
function digits(number) {
  if (number === null) return '-';
  if (Math.abs(number) < 10_000) return String(Number(number.toPrecision(4)));
  return String(Math.round(number)).replace(/\B(?=(\d{3})+$)/g, ' ');
}

// Negative: aligned to the right.
const widths = [32, 34, 6, -12, -12, 16, -8, 15, 0];

function line(fields) {
  const pad = (field, width) => (width < 0 ? field.padStart(-width) : field.padEnd(width));
  return fields.map((field, index) => pad(field, widths[index])).join(' ').trimEnd();
}

// Whether a bar holds, and the bar for people.
function judge(value, { least, most, within }) {
  if (least !== undefined) return { bar: least, holds: value >= least, words: `>= ${digits(least)}` };
  if (most !== undefined) return { bar: most, holds: value <= most, words: `<= ${digits(most)}` };
  if (within !== undefined) return { bar: within, holds: Math.abs(value - 1) <= within, words: `+-${digits(100 * within)} %` };
  return { bar: null, holds: null, words: '' };
}

// Collects a benchmark's rows: prints each at once and hands it to `keep`.
export class Rows {
  constructor(bench, keep) {
    Object.assign(this, { bench, keep, passed: 0, failed: 0, skipped: 0 });
    console.log(line(['case', 'metric', 'unit', 'ours', 'theirs', ' peer', 'ratio', ' bar', '']));
  }

  // The bar is `least` or `most`, for the ratio where there is a peer and for ours where there is none;
  // or `within`, for what the ratio may be off 1. A missing `ours` falls short; a missing peer decides
  // nothing.
  row({ ours = null, peer = null, theirs = null, least, most, within, ...names }) {
    const ratio = ours !== null && theirs !== null ? ours / theirs : null;
    const { bar, holds, words } = judge(peer === null ? ours : ratio, { least, most, within });
    const undecided = bar === null || (peer !== null && theirs === null);
    const pass = undecided ? null : ours !== null && holds;
    this.add({ ...names, ours, peer, theirs, ratio, bar, pass }, words);
  }

  // A row as it will be written; `words` are its bar for people.
  add(row, words = row.bar === null ? '' : digits(row.bar)) {
    const missing = keys.filter((key) => row[key] === undefined && key !== 'bench');
    if (missing.length) throw new Error(`a row without ${missing.join(', ')}: ${JSON.stringify(row)}`);
    let verdict = '';
    if (row.pass === true) {
      ++this.passed;
      verdict = 'ok';
    } else if (row.pass === false) {
      ++this.failed;
      verdict = row.ours === null ? 'MISSING' : 'SHORT';
    } else if (row.bar !== null) {
      ++this.skipped;
      verdict = 'SKIPPED';
    }
    console.log(line([
      row.case, row.metric, row.unit, digits(row.ours), digits(row.theirs), ` ${row.peer ?? ''}`, digits(row.ratio), ` ${words}`, verdict]));
    this.keep(Object.fromEntries(keys.map((key) => [key, key === 'bench' ? this.bench : row[key]])));
  }

  // The rows that a program printed, one JSON object a line, `mark` added to their cases. It may leave
  // out what it has not, and add a `note` for people.
  addAll(text, mark = '') {
    const lines = text.split('\n').filter((one) => one.startsWith('{'));
    if (lines.length === 0) throw new Error('it printed no row');
    for (const json of lines) {
      const row = { peer: null, theirs: null, bar: null, pass: null, ...JSON.parse(json) };
      row.ratio ??= typeof row.ours === 'number' && typeof row.theirs === 'number' ? row.ours / row.theirs : null;
      this.add({ ...row, case: `${row.case}${mark}` });
      if (row.note) this.note(row.note);
    }
  }

  note(words) {
    console.log(words.replace(/^/gm, '! '));
  }
}
