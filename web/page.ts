// SPDX-License-Identifier: Apache-2.0
// The page: starts the core, wires words and controls to it, keeps the address in step with the run.
import { Choice, Control, plainName } from './controls.js';
import type { Problem, Report, State } from './core.js';
import { Core } from './core.js';
import { withMicro } from './clock.js';
import { element, setText } from './dom.js';
import { measuredFragment, readFragment, simulationFragment } from './fragment.js';
import { rememberToken } from './machine.js';
import { MachinePanel, rankCountMax } from './machine_panel.js';
import { announce, clearNotices, fail, notify } from './notices.js';
import { isWaiting, KnobList, outcomeWords, ownWords, showNotes, showNumbers, whyIdle } from './numbers.js';
import { bandwidthStops, byteStops, latencyStops } from './scale.js';
import { Scene } from './scene.js';
import { showAll } from './start.js';
import { isDark, startTheme } from './theme.js';
import { Transport } from './transport.js';

const addressDelayMs = 250;
const hashDelayMs = 120;
const noWebGl = 'This browser gives the page no WebGL, so the ring is not drawn. The numbers are right all the same.';
const notInStep = 'The ranks do not move in step here: each sends as soon as it has what it needs, and waits for whoever is late.';
const firstPicture = 'first-picture'; // a mark for whoever measures the page

declare global {
  interface Window {
    // For tests: how many pictures were drawn.
    ringscope?: { frameCount(): number };
  }
}

class Page {
  private readonly transport: Transport;
  private readonly knobs: KnobList;
  private readonly machine: MachinePanel;
  private readonly algorithm: Choice;
  private readonly topology: Choice;
  private readonly ranks: Control;
  private readonly bytes: Control;
  private readonly bandwidth: Control;
  private readonly latency: Control;
  private report: Report;
  private hashTimer = 0;
  private addressTimer = 0;
  private address = ''; // as this page has opened or written it
  private announced = '';

  constructor(
    private readonly core: Core,
    private readonly scene: Scene,
  ) {
    this.report = { ...core.report(), revision: -1 }; // not shown yet
    startTheme(element('theme'), (dark) => core.command('dark', dark ? 1 : 0));
    this.followMotion();
    this.transport = new Transport(core);
    this.knobs = new KnobList(core);
    this.algorithm = new Choice(core, 'algorithm', core.algorithms());
    // A graph of one's own comes with a link.
    this.topology = new Choice(core, 'topology', core.topologies().filter(({ name }) => name !== 'graph'));
    this.ranks = new Control(core, 'ranks', null);
    this.bytes = new Control(core, 'bytes', byteStops);
    this.bandwidth = new Control(core, 'bandwidth', bandwidthStops);
    this.latency = new Control(core, 'latency', latencyStops);
    this.machine = new MachinePanel(core, {
      onRanksMax: (ranks) => {
        this.ranks.maximum = Math.min(rankCountMax, ranks ?? rankCountMax);
      },
      onRunId: () => this.writeAddressSoon(),
    });
    element('copy-link').addEventListener('click', () => void this.copyLink());
    element('keys').addEventListener('click', () => element<HTMLDialogElement>('shortcuts').showModal());
    element('shortcuts-close').addEventListener('click', () => element<HTMLDialogElement>('shortcuts').close());
    window.addEventListener('hashchange', () => {
      clearNotices();
      this.open(location.hash);
    });
    this.open(location.hash);
    this.show();
  }

  // Called once per drawn frame.
  show(): void {
    const state = this.core.state();
    if (state.revision !== this.report.revision) this.showReport(state);
    const { algorithm } = this.report;
    this.scene.show(state, algorithm.collective, algorithm.with_switch);
    this.transport.show(state, this.report.phases, this.report.phase_ends_ps);
    this.bandwidth.show(state.bandwidth, state.bandwidth_text);
    this.latency.show(state.latency_ps, state.latency_text);
    setText(element('explain'), this.explain(state));
    this.announceProgress(state);
  }

  private showReport(state: State): void {
    this.report = this.core.report();
    showNumbers(this.report, state);
    this.knobs.show(this.report, state);
    showNotes(this.report);
    this.showTitle();
    this.algorithm.show(this.report);
    this.topology.show(this.report, ownWords(this.report));
    const idle = whyIdle(this.report);
    this.bandwidth.disable(idle.bandwidth);
    this.latency.disable(idle.latency);
    this.ranks.show(this.report.ranks, String(this.report.ranks));
    this.bytes.show(this.report.bytes, this.report.bytes_text);
    this.machine.show(state);
    this.showHashSoon(state);
    this.writeAddressSoon();
  }

  private showTitle(): void {
    const { algorithm } = this.report;
    const name = plainName(algorithm.name);
    const whole = name.includes(plainName(algorithm.collective.replace('-', ' '))) ? name : `${name} ${algorithm.collective}`;
    setText(element('title'), whole[0]!.toUpperCase() + whole.slice(1));
    element('lead').hidden = algorithm.name !== 'ring'; // the others' summary stands beside their choice
  }

  private explain(state: State): string {
    const { numbers, algorithm } = this.report;
    if (isWaiting(state)) return 'Each rank holds its own input. Run it to see the hops that really happened.';
    if (state.stalled && (state.at_end || state.round + 1 >= state.round_count)) return outcomeWords(this.report, state.on_machine);
    if (state.stalled) return `Nothing moves any more. ${this.sayNotes(state.time_ps)}`;
    if (state.explain && !state.in_step) return algorithm.lane_count > 1 ? inParts(algorithm.lane_count) : notInStep;
    if (state.explain) return state.example ? `${state.explain} For example, ${state.example}.` : state.explain;
    if (state.complete && numbers.outcome !== 'ok' && (state.on_machine || state.at_end)) return outcomeWords(this.report, state.on_machine);
    if (this.report.shown_ranks === 1) return 'One rank alone already holds the sum: nothing has to be sent.';
    if (!state.complete) return 'Waiting for the next hops.';
    if (!numbers.verified) return 'The run is over, and its result is not what it should be.';
    return resultWords(algorithm.collective, state.round_ranks);
  }

  private sayNotes(untilPs: number): string {
    const past = this.report.notes.filter((note) => note.time_ps <= untilPs);
    return past.map((note) => withMicro(`At ${note.time}: ${note.text}.`)).join(' ');
  }

  private announceProgress(state: State): void {
    const done = `${this.report.algorithm.collective} done`;
    const words = state.at_end && state.step_count > 0 ? (state.broken_off ? 'The run broke off' : done[0]!.toUpperCase() + done.slice(1)) : state.phase;
    if (words && words !== this.announced && state.hops > 0) {
      this.announced = words;
      announce(words);
    }
  }

  // The hash names every event, which takes a while for a large ring: not in the middle of a drag.
  private showHashSoon(state: State): void {
    window.clearTimeout(this.hashTimer);
    if (!state.complete) {
      setText(element('hash'), '–');
      return;
    }
    this.hashTimer = window.setTimeout(() => {
      setText(element('hash'), this.core.traceHash());
    }, hashDelayMs);
  }

  private fragment(): string {
    const state = this.core.state();
    if (!state.on_machine) return simulationFragment(this.report.line, this.core.simulatedTraceHash());
    const id = this.machine.runId;
    // Until there is a measured run to link to, the address holds the simulation of what the controls say.
    if (id && state.complete) return measuredFragment(this.report.shown_line, id);
    return simulationFragment(this.report.line, this.core.simulatedTraceHash());
  }

  private writeAddressSoon(): void {
    window.clearTimeout(this.addressTimer);
    this.addressTimer = window.setTimeout(() => this.writeAddress(), addressDelayMs);
  }

  private writeAddress(): void {
    window.clearTimeout(this.addressTimer);
    // Another one was pasted, and its event is about to come: it must still be there then.
    if (this.machine.opening || location.hash !== this.address) return;
    const fragment = this.fragment();
    if (fragment !== this.address) history.replaceState(null, '', fragment);
    this.address = location.hash;
  }

  private async copyLink(): Promise<void> {
    this.writeAddress();
    const words = element('copy-link-words');
    try {
      await navigator.clipboard.writeText(location.href);
      setText(words, 'Copied');
      announce('Link copied');
    } catch {
      setText(words, 'Copy the address bar');
    }
    window.setTimeout(() => setText(words, 'Copy link'), 2000);
  }

  private followMotion(): void {
    const query = matchMedia('(prefers-reduced-motion: reduce)');
    const follow = (): void => void this.core.command('stepwise', query.matches ? 1 : 0);
    query.addEventListener('change', follow);
    follow();
  }

  // What a link, or the lack of one, asks for.
  private open(fragment: string): void {
    const link = readFragment(fragment);
    if (link.token !== null) {
      rememberToken(link.token);
      history.replaceState(null, '', location.pathname + location.search);
    }
    this.address = location.hash;
    if (link.line === null) {
      if (link.problem) notify(`${link.problem} Here is the default run instead.`);
      if (link.problem || fragment !== '') this.load('');
      this.begin();
      return;
    }
    if (link.open !== null && !link.problem) {
      this.openMeasured(link.line, link.open);
      return;
    }
    const problem = this.load(link.line);
    if (problem) {
      notify(`The link cannot be read: ${problem.title}. Here is the default run instead.`);
      this.load('');
    } else if (link.problem) {
      notify(link.problem);
    } else if (this.core.traceHash() !== link.trace) {
      notify(
        `The link was made for the trace ${link.trace}, but its run gives ${this.core.traceHash()}: it was altered on the way, or made by another version.`,
      );
    }
    this.begin();
  }

  // Another run than the one that the controls were busy with.
  private load(line: string): Problem | null {
    for (const control of [this.algorithm, this.topology, this.ranks, this.bytes, this.bandwidth, this.latency]) control.forget();
    return this.core.load(line);
  }

  private openMeasured(line: string, id: string): void {
    const problem = this.load(line.replace(/&engine=[^&]*/, ''));
    if (problem) notify(`The run line of the link cannot be read: ${problem.title}.`);
    void this.machine.reopen(id);
  }

  private begin(): void {
    this.machine.leave();
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
    this.core.command(still ? 'pause' : 'play');
  }
}

function inParts(count: number): string {
  return `The buffer is cut into ${count} parts, and each goes through the steps by itself, without waiting for the others.`;
}

function resultWords(collective: string, ranks: number): string {
  switch (collective) {
    case 'reduce-scatter':
      return `Every rank now holds its own part of the sum over all ${ranks} ranks.`;
    case 'all-gather':
      return `Every rank now holds the parts of all ${ranks} ranks.`;
    case 'broadcast':
      return 'Every rank now holds what the first one had.';
    case 'reduce':
      return `The first rank now holds the sum over all ${ranks} ranks.`;
    default:
      return `Every rank now holds the sum over all ${ranks} ranks, in every chunk.`;
  }
}

// Until the document is parsed and laid out, which takes about as long as the core takes to compile.
async function documentLaidOut(): Promise<void> {
  if (document.readyState === 'loading') {
    await new Promise((resolve) => document.addEventListener('DOMContentLoaded', resolve, { once: true }));
  }
  void element('scene').clientWidth; // asking makes the browser do it now
}

// Until the frame that shows what is drawn has begun and its callbacks are through.
async function firstFrame(): Promise<void> {
  await new Promise<void>((resolve) => {
    requestAnimationFrame(() => {
      performance.mark(firstPicture);
      showAll();
      setTimeout(resolve);
    });
  });
}

// The script runs as soon as it is here, so that the core loads while the document is laid out.
async function start(): Promise<void> {
  let page: Page | null = null;
  const loading = Core.start({
    onFrame: () => {
      page?.show();
    },
    onAbort: (reason) => fail(`Something in this page is broken, and it is not your doing. ${reason}`),
  });
  const [core] = await Promise.all([loading, documentLaidOut()]);
  core.command('dark', isDark() ? 1 : 0);
  const scene = new Scene(core, () => notify(noWebGl));
  // Most visitors bring no link: they see the ring before the rest of the page is wired up.
  if (location.hash === '') {
    core.drawNow();
    await firstFrame();
    core.load(''); // until now it has only laid out the inputs
    page = new Page(core, scene);
    core.drawNow();
  } else {
    page = new Page(core, scene);
    core.drawNow();
    void firstFrame();
  }
  window.ringscope = { frameCount: () => core.frameCount() };
}

start().catch((error: unknown) => {
  fail(`The page could not start: ${error instanceof Error ? error.message : String(error)}`);
});
