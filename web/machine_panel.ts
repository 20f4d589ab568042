// SPDX-License-Identifier: Apache-2.0
// The switch between simulation and this machine, and what is said and done about the machine.
import type { Core, State } from './core.js';
import { element, setText } from './dom.js';
import type { EngineInfo, Failure } from './machine.js';
import { followRun, readReason, readThreadsEngine, rememberToken, startRun } from './machine.js';
import { announce } from './notices.js';

export interface MachineHooks {
  onRanksMax(ranks: number | null): void; // null: no machine in the way
  onRunId(): void;
}

export const rankCountMax = 64; // as many as the scene draws
const noDaemon =
  'No daemon serves this page. Start one with “ringscope serve” and open the address it prints; then this button runs the same ring on real threads.';

export class MachinePanel {
  runId = '';
  private engine: EngineInfo | null = null;
  private readonly known: Promise<void>;
  private stop = new AbortController();
  private readonly simulation = element('source').querySelector<HTMLInputElement>('[value="simulation"]')!;
  private readonly onMachine = element('source').querySelector<HTMLInputElement>('[value="machine"]')!;
  private readonly button = element<HTMLButtonElement>('run-machine');
  private words = '';
  private busy = false;

  constructor(
    private readonly core: Core,
    private readonly hooks: MachineHooks,
  ) {
    this.simulation.addEventListener('change', () => this.enterSimulation());
    this.onMachine.addEventListener('change', () => this.enterMachine());
    this.button.addEventListener('click', () => void this.run());
    element('token-form').addEventListener('submit', (event) => {
      event.preventDefault();
      rememberToken(element<HTMLInputElement>('token').value.trim().replace(/^.*#?token=/, ''));
      element('token-form').hidden = true;
      void this.run();
    });
    this.known = readThreadsEngine().then((engine) => {
      this.engine = engine;
      this.say('');
    });
  }

  show(state: State): void {
    element('machine').hidden = !state.on_machine;
    this.simulation.checked = !state.on_machine;
    this.onMachine.checked = state.on_machine;
    setText(element('note'), state.on_machine ? measuredNote : simulatedNote);
    this.tell(state);
  }

  // A link to a run that the daemon keeps.
  async reopen(id: string): Promise<void> {
    this.core.command('machine');
    await this.known;
    this.runId = id;
    await this.follow();
  }

  leave(): void {
    this.stop.abort();
    this.runId = '';
  }

  private enterSimulation(): void {
    this.leave();
    this.hooks.onRanksMax(null);
    this.core.command('simulation');
  }

  private enterMachine(): void {
    this.hooks.onRanksMax(this.engine?.rank_count_max ?? null);
    this.core.command('machine');
    this.say('');
  }

  private async run(): Promise<void> {
    this.leave();
    element('token-form').hidden = true;
    this.core.command('machine'); // what was measured before goes
    this.busy = true;
    this.say('Asking the daemon.');
    const answer = await startRun(this.core.report().shown_line);
    if ('words' in answer) {
      this.fail(answer);
      return;
    }
    this.runId = answer.id;
    await this.follow();
  }

  private async follow(): Promise<void> {
    this.stop = new AbortController();
    this.busy = true;
    this.say('Running.');
    this.core.command('begin_trace');
    let problem = '';
    const take = (text: string): void => {
      problem ||= this.core.pushTrace(text)?.title ?? '';
    };
    const failure = await followRun(this.runId, take, this.stop.signal);
    if (this.stop.signal.aborted) return;
    const complete = this.core.state().complete;
    this.core.command('end_trace');
    if (failure || problem) {
      this.fail(failure ?? { words: `The trace cannot be read: ${problem}`, token: false });
      return;
    }
    this.busy = false;
    this.say(complete ? 'Measured on CPU threads of this machine.' : `The run broke off. ${await readReason(this.runId)}`);
    announce(complete ? 'Measured' : 'The run broke off');
    this.hooks.onRunId();
  }

  private fail(failure: Failure): void {
    this.busy = false;
    this.say(failure.words);
    announce(failure.words);
    element('token-form').hidden = !failure.token;
    if (failure.token) element('token').focus();
  }

  private say(words: string): void {
    this.words = words;
    this.tell(this.core.state());
  }

  private tell(state: State): void {
    const engine = this.engine;
    const ready = engine !== null && !engine.missing;
    this.button.disabled = !ready || this.busy;
    setText(this.button, state.hops > 0 ? 'Run again' : 'Run on this machine');
    if (!ready) setText(element('machine-words'), engine?.missing ?? noDaemon);
    else setText(element('machine-words'), this.words || `The cores of this machine carry out the same hops on real buffers in memory; up to ${Math.min(rankCountMax, engine.rank_count_max)} ranks.`);
  }
}

const simulatedNote =
  'Each cell shows the first element of its chunk; its fill is the share of ranks already summed up in it. Adding costs no time in the simulation.';
const measuredNote =
  'Each cell shows the first element of its chunk, computed here from the same inputs; the times are measured, adding included.';
