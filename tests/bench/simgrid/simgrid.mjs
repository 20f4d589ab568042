// SPDX-License-Identifier: Apache-2.0
// SimGrid as a peer (Debian's libsimgrid-dev; scripts/setup --bench installs it), by two programs of
// ours: messages.cpp takes a topology and a graph of messages, allreduce.cpp is an MPI program.
//
//     simgrid.build(folder);                                       // once
//     simgrid.simulateMessages(readTopology(text), direct(4, 2 ** 26));     // seconds
//     simgrid.simulateAllReduce(64);                               // { cpuS, simulatedS }
//
// Schedules and routes are written down here a second time, not taken from shared/: a peer that
// asked ours would agree with it.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));

// --- A topology file and its routes ------------------------------------------------------------------

const units = { 'B/s': 1, 'KB/s': 1e3, 'MB/s': 1e6, 'GB/s': 1e9, s: 1, ms: 1e-3, us: 1e-6, ns: 1e-9 };

function quantity(text) {
  const [, number, unit] = /^([0-9.]+)([A-Za-z/]+)$/.exec(text) ?? [];
  if (!(unit in units)) throw new Error(`'${text}' is no bandwidth and no time`);
  return Number(number) * units[unit];
}

// { links: [{ source, target, name, bytesPerS, latencyS }], rankNode: [name] }; a link for each direction.
export function readTopology(text) {
  const links = [];
  const rankNode = [];
  for (const line of text.split('\n').slice(1)) {
    const [record, a, b, bandwidth, latency, , way] = line.split(/\s+/);
    if (record === 'link') {
      const rates = { bytesPerS: quantity(bandwidth), latencyS: quantity(latency) };
      const add = (source, target) => links.push({ source, target, name: `${source}>${target}`, ...rates });
      add(a, b);
      if (way !== 'one-way') add(b, a);
    } else if (record === 'rank') {
      rankNode[Number(a)] = b;
    }
  }
  return { links, rankNode };
}

// The links of the shortest way, of several the one whose narrowest link is the widest.
function route({ links }, source, target) {
  const ways = new Map([[source, { width: Infinity, path: [] }]]);
  while (!ways.has(target)) {
    const further = new Map();
    for (const link of links) {
      if (!ways.has(link.source) || ways.has(link.target)) continue;
      const { width, path } = ways.get(link.source);
      const way = { width: Math.min(width, link.bytesPerS), path: [...path, link] };
      if (way.width > (further.get(link.target)?.width ?? 0)) further.set(link.target, way);
    }
    if (further.size === 0) throw new Error(`nothing leads from ${source} to ${target}`);
    for (const [node, way] of further) ways.set(node, way);
  }
  return ways.get(target).path;
}

// --- Schedules: [{ source, target, bytes, conditions: ['arrived:0', ...] }], as messages.cpp reads them ---

// Messages of one channel from one rank to another follow each other, as on any connection.
function inOrder(messages) {
  const last = new Map();
  messages.forEach((message, index) => {
    const connection = `${message.channel}:${message.source}>${message.target}`;
    if (last.has(connection)) message.conditions.push(`left:${last.get(connection)}`);
    last.set(connection, index);
  });
  return messages;
}

// A rank sends on what it got in the step before. Every channel is a ring with its part of the buffer.
export function ring(order, bytes, channelCount = 1) {
  const size = order.length;
  const messages = [];
  for (let channel = 0; channel < channelCount; ++channel) {
    const begin = messages.length;
    for (let step = 0; step < 2 * (size - 1); ++step) {
      for (let position = 0; position < size; ++position) {
        messages.push({
          channel,
          source: order[position],
          target: order[(position + 1) % size],
          bytes: bytes / channelCount / size,
          conditions: step === 0 ? [] : [`arrived:${begin + (step - 1) * size + ((position + size - 1) % size)}`],
        });
      }
    }
  }
  return inOrder(messages);
}

// Everybody sends everybody a chunk to sum; who has all of them sends the sum to everybody.
export function direct(rankCount, bytes) {
  const ranks = [...Array(rankCount).keys()];
  const pairs = ranks.flatMap((source) => ranks.filter((rank) => rank !== source).map((target) => ({ source, target })));
  const message = (pair, conditions) => ({ channel: 0, ...pair, bytes: bytes / rankCount, conditions });
  const received = (rank) => pairs.flatMap(({ target }, index) => (target === rank ? [`arrived:${index}`] : []));
  return inOrder([...pairs.map((pair) => message(pair, [])), ...pairs.map((pair) => message(pair, received(pair.source)))]);
}

// --- The two programs --------------------------------------------------------------------------------

let programs = null;

function start(command, input = '') {
  const options = { encoding: 'utf8', maxBuffer: 1 << 26, input };
  const { status, stdout, stderr, error } = spawnSync(command[0], command.slice(1), options);
  if (error || status !== 0) throw new Error(`${command[0]} ended with ${error?.message ?? `status ${status}`}\n${stderr ?? ''}`);
  return { stdout, stderr };
}

function compile(compiler, source, program, ...libraries) {
  if (existsSync(program) && statSync(program).mtimeMs > statSync(source).mtimeMs) return;
  start([compiler, '-std=c++17', '-O2', source, '-o', program, ...libraries]);
}

// Compiles both into `folder`. Returns whether SimGrid is here at all.
export function build(folder) {
  if (spawnSync('smpicxx', ['--version']).error) return false;
  mkdirSync(folder, { recursive: true });
  programs = folder;
  compile('g++', `${here}messages.cpp`, `${folder}/messages`, '-lsimgrid');
  compile('smpicxx', `${here}allreduce.cpp`, `${folder}/allreduce`);
  return true;
}

// The second at which the last message has arrived.
export function simulateMessages(topology, messages) {
  const routes = new Map();
  for (const { source, target } of messages) {
    const pair = `${source} ${target}`;
    if (!routes.has(pair)) routes.set(pair, route(topology, topology.rankNode[source], topology.rankNode[target]));
  }
  const latencyS = ({ source, target }) => routes.get(`${source} ${target}`).reduce((sum, link) => sum + link.latencyS, 0);
  const input = [
    ...topology.links.map(({ name, bytesPerS }) => `link ${name} ${bytesPerS}`),
    ...topology.rankNode.map((_, rank) => `host ${rank}`),
    ...[...routes].map(([pair, links]) => `route ${pair} ${links.map(({ name }) => name).join(' ')}`),
    ...messages.map((message) =>
      `message ${message.source} ${message.target} ${message.bytes} ${latencyS(message)} ${message.conditions.join(' ')}`),
  ].join('\n');
  return Number(start([`${programs}/messages`], input).stdout);
}

// A ring all-reduce of 1 GiB over one ring of links, 50 GiB/s and 500 ns each, by SMPI's "lr". SMPI really
// touches the buffers, so both are divided by 1024: the same messages, the same simulated time.
export function simulateAllReduce(rankCount) {
  const ranks = [...Array(rankCount).keys()];
  const [bytes, bytesPerS] = [2 ** 30 / 1024, (50 * 2 ** 30) / 1024];
  const file = `${programs}/ring-${rankCount}`;
  writeFileSync(`${file}.hosts`, ranks.map((rank) => `rank${rank}\n`).join(''));
  writeFileSync(`${file}.xml`, `<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1"><zone id="ring" routing="Full">
${ranks.map((rank) => `<host id="rank${rank}" speed="1Gf"/>`).join('\n')}
${ranks.map((rank) => `<link id="link${rank}" bandwidth="${bytesPerS}Bps" latency="500ns"/>`).join('\n')}
${ranks.map((rank) => `<route src="rank${rank}" dst="rank${(rank + 1) % rankCount}" symmetrical="NO">
<link_ctn id="link${rank}"/></route>`).join('\n')}
</zone></platform>
`);
  // No computation, no correction for TCP or MPI, no cost per call.
  const settings = [
    'smpi/allreduce:lr', 'smpi/simulate-computation:no', 'smpi/bw-factor:0:1', 'smpi/lat-factor:0:1',
    'smpi/os:0:0:0', 'smpi/or:0:0:0', 'smpi/ois:0:0:0', 'smpi/async-small-thresh:0', 'smpi/send-is-detached-thresh:0',
    'network/crosstraffic:0', 'network/weight-S:0', 'network/TCP-gamma:1e30'];
  const command = ['smpirun', '-np', String(rankCount), '-platform', `${file}.xml`, '-hostfile', `${file}.hosts`,
    '--log=root.thresh:warning', ...settings.map((setting) => `--cfg=${setting}`), `${programs}/allreduce`, String(bytes / 4)];
  // Bash's time counts children too, and smpirun is a script.
  const { stdout, stderr } = start(['bash', '-c', 'TIMEFORMAT="cpu %U %S"; time "$@"', 'bash', ...command]);
  const [, user, system] = /cpu ([0-9.]+) ([0-9.]+)/.exec(stderr);
  return { cpuS: Number(user) + Number(system), simulatedS: Number(stdout) };
}
