// SPDX-License-Identifier: Apache-2.0
// The switch between simulation and this machine, and what is said and done about the machine.
import type { Core, Problem, State } from './core.js';
import { element, setText } from './dom.js';
import type { EngineInfo, Failure } from './machine.js';
import { followRun, readThreadsEngine, rememberToken, startRun } from './machine.js';
import { announce } from './notices.js';
import { outcomeWords } from './numbers.js';

export interface MachineHooks {
  onRanksMax(ranks: number | null): void; // null: no machine in the way
  onRunId(): void;
}

export const rankCountMax = 64; // as many as the scene draws
const noDaemon =
  'No daemon serves this page. Start one with “ringscope serve” and open the address it prints; then this button runs the same schedule on real threads.';

export class MachinePanel {
  runId = '';
  opening = false; // a link's run is on its way: until then, the address is the link
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
    const stop = this.begin();
    this.opening = true;
    this.core.command('machine');
    this.say('Asking the daemon.');
    await this.known;
    if (stop.aborted) return;
    await this.follow(id, stop);
    if (!stop.aborted) this.opening = false;
  }

  // What is still on its way for a run that was left changes nothing any more.
  leave(): void {
    this.stop.abort();
    this.runId = '';
    this.busy = false;
    this.opening = false;
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

  // One signal for each run that is asked for or followed, tested after every wait.
  private begin(): AbortSignal {
    this.leave();
    this.stop = new AbortController();
    this.busy = true;
    element('token-form').hidden = true;
    return this.stop.signal;
  }

  private async run(): Promise<void> {
    const stop = this.begin();
    this.core.command('machine'); // what was measured before goes
    this.say('Asking the daemon.');
    const answer = await startRun(this.core.report().shown_line, stop);
    if (stop.aborted) return;
    if ('words' in answer) {
      this.fail(answer);
      return;
    }
    await this.follow(answer.id, stop);
  }

  private async follow(id: string, stop: AbortSignal): Promise<void> {
    this.runId = id;
    this.say('Running.');
    this.core.command('begin_trace');
    let problem: Problem | null = null;
    const take = (text: string): void => {
      if (!stop.aborted) problem ??= this.core.pushTrace(text);
    };
    const failure = await followRun(id, take, stop);
    if (stop.aborted) return;
    const complete = this.core.state().complete;
    this.core.command('end_trace');
    if (failure || problem || !complete) {
      this.fail(failure ?? unreadable(problem));
      return;
    }
    this.busy = false;
    const words = outcomeWords(this.core.report(), true);
    this.say(words);
    announce(words);
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

function unreadable(problem: Problem | null): Failure {
  const words = problem ? `The trace cannot be shown: ${problem.title}.` : 'The trace ends before its outcome.';
  return { words, token: false };
}

const simulatedNote =
  'Each cell shows the first element of its chunk; its fill is the share of ranks already summed up in it. Adding costs no time in the simulation.';
const measuredNote =
  'Each cell shows the first element of its chunk, computed here from the same inputs; the times are measured, adding included.';
