// SPDX-License-Identifier: Apache-2.0
// The simulator's speed, memory and growth, natively and as WebAssembly, and SimGrid's times and speed.
import { readFileSync } from 'node:fs';

import { buildFolder, native, ringscope, root, underNode } from './harness.mjs';
import * as simgrid from './simgrid/simgrid.mjs';

export const builds = [['native', 'simulator_bench', 'ringscope'], ['wasm', 'simulator_bench']];

export function run(rows, { quick, peersNeeded }) {
  const peer = simgrid.build(`${buildFolder}/simgrid`);
  if (!peer && peersNeeded) throw new Error('SimGrid is absent; scripts/setup --bench installs it');
  const speed = measureSpeed(rows);
  if (!peer) rows.note('SimGrid is ABSENT: nothing is held against it. scripts/setup --bench installs it.');
  compareSpeed(rows, speed, peer, quick ? [64, 256] : [64, 256, 1024]);
  compareTimes(rows, peer);
}

// --- Speed: CPU seconds of the best of some runs -----------------------------------------------------

const ringLine = (rankCount) => `ranks=${rankCount}&bytes=1GiB`;
const ringMessages = (rankCount) => 2 * rankCount * (rankCount - 1);

function measure(program, runLine, batches, seconds) {
  const printed = program('simulator', runLine, String(batches), String(seconds));
  const { messages, cpu_s: cpuS, peak_bytes: peakBytes } = JSON.parse(printed);
  const rankCount = Number(/ranks=(\d+)/.exec(runLine)[1]);
  if (messages !== ringMessages(rankCount)) throw new Error(`${messages} messages of ${rankCount} ranks`);
  return { rankCount, messages, cpuS, peakBytes };
}

const ranks = (count) => [...Array(count).keys()];
const best = (measured) => measured.reduce((one, other) => (other.cpuS < one.cpuS ? other : one));

// The ranks begin at times of their own, 1 to 5000 us: Marsaglia's xorshift32, from a fixed seed. Those
// after the first 1000, the most settings that a run line takes, begin at once.
function withRandomStarts(rankCount) {
  let state = 2463534242;
  const starts = ranks(Math.min(rankCount, 1000)).map((rank) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return `&set=rank.${rank}.start:${1 + ((state >>> 0) % 5000)}us`;
  });
  return ringLine(rankCount) + starts.join('');
}

// Returns what was measured natively, by number of ranks.
function measureSpeed(rows) {
  const [equal, random, wasm] = [[], [], []];
  for (let round = 0; round < 5; ++round) { // in turn, so that a busy moment meets all of them
    equal.push(measure(native, ringLine(1024), 1, 0));
    random.push(measure(native, withRandomStarts(1024), 1, 0));
    wasm.push(measure(underNode, ringLine(1024), 2, 0)); // the first is still being compiled
  }
  const speed = new Map([[1024, best(equal)]]);
  const { messages, cpuS, peakBytes } = best(equal);
  const time = { metric: 'CPU time', unit: 's' };
  const ring1024 = 'ring, 1024 ranks';
  rows.row({ case: ring1024, metric: 'messages per CPU second', unit: '1/s', ours: messages / cpuS, least: 20e6 });
  rows.row({ case: ring1024, metric: 'peak memory', unit: 'MB', ours: peakBytes / 1e6, most: 50 });
  rows.row({ case: `${ring1024}, random starts`, ...time, ours: best(random).cpuS, peer: 'equal starts', theirs: cpuS, most: 1.2 });
  rows.row({ case: `${ring1024}, under node`, ...time, ours: best(wasm).cpuS, peer: 'native', theirs: cpuS, most: 2 });

  speed.set(4096, measure(native, ringLine(4096), 1, 0.2));
  rows.row({ case: 'ring, 4096 ranks', ...time, ours: speed.get(4096).cpuS, most: 2 });
  for (const rankCount of [8, 16, 32, 64, 128, 256, 512, 2048]) {
    speed.set(rankCount, measure(native, ringLine(rankCount), rankCount < 1024 ? 3 : 2, 0.2));
  }
  const points = [...speed.values()].sort((one, other) => one.rankCount - other.rankCount);
  const growth = { metric: 'exponent of CPU time by messages', unit: '' };
  rows.row({ case: 'ring, 8 to 4096 ranks', ...growth, ours: exponent(points), most: 1.1 });
  rows.note(`ns per message: ${points.map((one) => `${one.rankCount} ranks ${Math.round((1e9 * one.cpuS) / one.messages)}`).join(', ')}`);
  return speed;
}

// The slope of the straight line, by least squares, through log CPU time over log messages.
function exponent(points) {
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const x = points.map(({ messages }) => Math.log(messages));
  const y = points.map(({ cpuS }) => Math.log(cpuS));
  const [xMean, yMean] = [mean(x), mean(y)];
  return mean(x.map((value, index) => (value - xMean) * (y[index] - yMean))) / mean(x.map((value) => (value - xMean) ** 2));
}

// The same all-reduce as an MPI program on SimGrid. One run at 1024 ranks takes a minute and 2.3 GB.
function compareSpeed(rows, speed, peer, rankCounts) {
  for (const rankCount of rankCounts) {
    const names = { case: `ring, ${rankCount} ranks`, metric: 'messages per CPU second', unit: '1/s', least: 10 };
    const ours = speed.get(rankCount).messages / speed.get(rankCount).cpuS;
    if (!peer) {
      rows.row({ ...names, ours, peer: 'peer absent' });
      continue;
    }
    const runs = [...Array(rankCount < 1024 ? 3 : 1)].map(() => simgrid.simulateAllReduce(rankCount));
    // 2(N-1)(alpha + S/(N B)); SMPI adds some bytes to each message.
    const closedFormS = 2 * (rankCount - 1) * (500e-9 + 1 / 50 / rankCount);
    if (Math.abs(runs[0].simulatedS / closedFormS - 1) > 0.03) {
      throw new Error(`SimGrid simulates ${runs[0].simulatedS} s where ${closedFormS} s are expected`);
    }
    rows.row({ ...names, ours, peer: 'SimGrid', theirs: speed.get(rankCount).messages / best(runs).cpuS });
  }
}

// --- Agreement where links are shared ----------------------------------------------------------------

const [MiB, GB, us] = [2 ** 20, 1e9, 1e-6];

// Each with the time that max-min sharing comes to, reckoned by hand: a is the latency of the route,
// the sum of its links', and c the bytes of a message.
const cases = [
  {
    // 8 ranks in their order: a ring crosses the uplink once each way, 3>4 and 7>0, so that the two
    // rings have 20/2 GB/s each there. Elsewhere they have 25/2, which is enough for 3>4 never to
    // wait for a message: its 14 go one behind the other, and the last needs its latency besides.
    // What follows the last but one elsewhere is there earlier. T = a + 14 c/10.
    name: 'two rings, one uplink',
    topology: 'two-switches',
    options: ['--algorithm=ring', '--channels=2', '--bytes=1GiB'],
    messages: simgrid.ring(ranks(8), 1024 * MiB, 2),
    closedFormS: 2 * us + (14 * 64 * MiB) / (10 * GB),
  },
  {
    // Left and right by turns: all 8 hops of both rings cross, 8 flows each way at 20/8 GB/s, all in
    // step. T = 14 (a + c/2.5).
    name: 'two rings, every hop crosses',
    topology: 'two-switches',
    options: ['--algorithm=ring', '--channels=2', '--ring=0-4-1-5-2-6-3-7', '--bytes=64MiB'],
    messages: simgrid.ring([0, 4, 1, 5, 2, 6, 3, 7], 64 * MiB, 2),
    closedFormS: 14 * (2 * us + (4 * MiB) / (2.5 * GB)),
  },
  {
    // Every hop leads to the next leaf: the 4 ranks of a leaf share its way up to one spine and that
    // spine's way down, 25/4 GB/s each, all in step. T = 30 (a + c/6.25).
    name: 'leaf-spine, ring over leaves',
    topology: 'leaf-spine',
    options: ['--algorithm=ring', '--ring=0-4-8-12-1-5-9-13-2-6-10-14-3-7-11-15', '--bytes=64MiB'],
    messages: simgrid.ring([0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15], 64 * MiB),
    closedFormS: 30 * (3 * us + (4 * MiB) / (6.25 * GB)),
  },
  {
    // Each leaf is reached over one spine: 12 ranks send to its 4, 48 flows on one link of 25 GB/s.
    // On the way up there are at most 32, and a port's 12 such flows leave 18.75 GB/s for the 3 to
    // its own leaf, so those end sooner. Twice, in step. T = 2 (a + 48 c/25).
    name: 'leaf-spine, direct',
    topology: 'leaf-spine',
    options: ['--algorithm=direct', '--bytes=64MiB'],
    messages: simgrid.direct(16, 64 * MiB),
    closedFormS: 2 * (3 * us + (48 * 4 * MiB) / (25 * GB)),
  },
  {
    // 1>2 and 3>0 cross the sockets' link, one flow each way at 12 GB/s. As with the uplink, its 6
    // messages go one behind the other. T = a + 6 c/12.
    name: 'PCIe box, ring',
    topology: 'pcie-box',
    options: ['--algorithm=ring', '--bytes=1GiB'],
    messages: simgrid.ring(ranks(4), 1024 * MiB),
    closedFormS: 3 * us + (6 * 256 * MiB) / (12 * GB),
  },
  {
    // 0>2, 0>3, 1>2 and 1>3 share the sockets' link, as do the four back: 12/4 GB/s. Those within a
    // pair have the rest of their port and end sooner. Twice, in step. T = 2 (a + c/3).
    name: 'PCIe box, direct',
    topology: 'pcie-box',
    options: ['--algorithm=direct', '--bytes=64MiB'],
    messages: simgrid.direct(4, 64 * MiB),
    closedFormS: 2 * (3 * us + (16 * MiB) / (3 * GB)),
  },
  {
    // The narrow link: 0>2 and 1>2 get 6/2 GB/s each, which leaves 10 - 3 = 7 of the wide one for
    // 0>1, and the same back. Rank 1, nearer to both, begins its second step 1 us early: 1>2 has
    // the narrow link to itself for that time, but 2>1 and 2>0 do not. T = 2 (a + c/3).
    name: 'chain, direct',
    topology: 'chain',
    options: ['--algorithm=direct', '--bytes=384MiB'],
    messages: simgrid.direct(3, 384 * MiB),
    closedFormS: 2 * (3 * us + (128 * MiB) / (3 * GB)),
  },
];

function compareTimes(rows, peer) {
  for (const { name, topology, options, messages, closedFormS } of cases) {
    const file = `${root}tests/bench/topologies/${topology}.txt`;
    const described = simgrid.readTopology(readFileSync(file, 'utf8'));
    const network = [`--topology-file=${file}`, `--ranks=${described.rankNode.length}`];
    const result = ringscope('simulate', ...network, ...options);
    const ours = result.duration_ps === undefined ? null : result.duration_ps / 1e9;
    if (ours === null) rows.note(`${name}: ${result.title}`);
    const names = { case: name, metric: 'simulated time', unit: 'ms', ours, within: 0.001 };
    rows.row({ ...names, peer: 'closed form', theirs: closedFormS * 1e3 });
    if (!peer) {
      rows.row({ ...names, peer: 'peer absent' });
      continue;
    }
    const theirsS = simgrid.simulateMessages(described, messages);
    if (Math.abs(theirsS / closedFormS - 1) > 1e-6) {
      throw new Error(`${name}: SimGrid simulates ${theirsS} s, the closed form says ${closedFormS} s`);
    }
    rows.row({ ...names, peer: 'SimGrid', theirs: theirsS * 1e3 });
  }
}
