// SPDX-License-Identifier: Apache-2.0
// The run in numbers, and the knobs that were turned on the way.
import type { Core, Report, State } from './core.js';
import { element, setText as setPlainText } from './dom.js';
import { withMicro } from './clock.js';

const nothing = '–';
const simulationHint = 'Turn bandwidth or latency while it runs: what is on the wire changes pace at once.';
const machineHint = 'A real machine brings its own bandwidth and latency; these two only feed the prediction.';

// The core spells microseconds so that they can be typed.
function setText(target: HTMLElement, text: string): void {
  setPlainText(target, withMicro(text));
}

// As nccl-tests has them.
const busFactors: Record<string, string> = { 'all-reduce': '2(N−1)/N', 'reduce-scatter': '(N−1)/N', 'all-gather': '(N−1)/N' };

// A number stays on one line with its unit.
function together(text: string): string {
  return withMicro(text).replaceAll(' ', '\u00a0');
}

// The same for the numbers in a sentence.
function togetherInside(sentence: string): string {
  return sentence.replace(/\d (?=%|[mµnp]?s\b|[kKMGT]?i?B\b)/g, (digit) => together(digit));
}

// On the machine, and nothing of its run is known.
export function isWaiting(state: State): boolean {
  return state.on_machine && state.hops === 0 && !state.complete;
}

// How a run ended.
export function outcomeWords({ numbers }: Report, measured: boolean): string {
  const reason = numbers.reason ? `: ${withMicro(numbers.reason)}` : '';
  switch (numbers.outcome) {
    case 'ok':
      return measured ? 'Measured on CPU threads of this machine.' : 'The run is over.';
    case 'wrong':
      return `The run is over, but its sums are wrong${reason}.`;
    case 'timeout':
      return `${measured ? 'The run took too long' : 'The run is given up'}${reason}.`;
    case 'failed':
      return numbers.reason === 'cancelled' ? 'The run was cancelled.' : `The run failed${reason}.`;
  }
}

// What the formula, which knows one bandwidth and one latency, leaves out.
function whatDiffers({ formula, numbers }: Report): string {
  const time = together(numbers.time);
  if (formula.changed) return ` with the knobs left alone; turned on the way, it takes ${time}`;
  return formula.set ? ` if all links and ranks were alike; as set, it takes ${time}` : '';
}

// The ring's with its numbers, the others' in their own words; none where none is known to hold.
function formulaWords({ ranks, formula }: Report): string {
  const time = together(formula.time);
  switch (formula.kind) {
    case 'ring':
      return `2·(${ranks}−1)·(${together(formula.latency)} + ${together(formula.bytes)} ∕ (${ranks}·${together(formula.bandwidth)})) =\u00a0${time}`;
    case 'other':
      return `${formula.steps} steps, ${formula.bytes_per_rank} bytes per rank: in closed form ${formula.exact ? '' : 'at most '}${time}`;
    case 'none':
      return '';
  }
}

function showFormula(report: Report, state: State): void {
  const words = formulaWords(report);
  element('formula').hidden = words === '';
  setText(element('formula'), `${words}${state.on_machine ? '' : whatDiffers(report)}`);
}

function timeWords(report: Report, state: State): string {
  const what = report.algorithm.collective;
  if (!report.numbers.verified && state.complete) return 'until it stopped';
  return report.iterations > 1 ? `for one ${what}, the median of ${report.iterations}` : `for the whole ${what}`;
}

export function showNumbers(report: Report, state: State): void {
  const { numbers } = report;
  const waiting = isWaiting(state);
  const absent = waiting || (state.on_machine && state.hops === 0 && numbers.outcome !== 'ok');
  setText(element('time'), absent ? nothing : numbers.time);
  setText(element('time-words'), state.on_machine ? (waiting ? 'not measured yet' : absent ? 'not measured' : 'measured') : timeWords(report, state));
  setText(element('algbw'), absent ? nothing : numbers.algbw);
  setText(element('busbw'), absent ? nothing : numbers.busbw);
  setText(element('wire'), absent ? nothing : numbers.wire);
  const { name, with_switch: withSwitch } = report.algorithm;
  setText(element('wire-words'), name === 'ring' ? 'sent over each link' : withSwitch ? 'sent by the switch' : 'most sent by a rank');
  element('bound-words').title = report.topology.name === 'uniform' && report.algorithm.collective === 'all-reduce' && !report.algorithm.with_switch
    ? '2(N−1)/N · bytes ∕ bandwidth: no all-reduce is faster'
    : `no ${report.algorithm.collective} is faster on this topology`;
  element('busbw-words').title = `algbw × ${busFactors[report.algorithm.collective] ?? '1'}`;
  setText(element('bound-words'), state.on_machine ? 'predicted' : 'lower bound');
  setText(element('bound'), (state.on_machine ? report.predicted : numbers.bound) || nothing);
  showFormula(report, state);
  setText(element('bottleneck'), absent ? '' : togetherInside(withMicro(numbers.bottleneck)));
  element('bottleneck').hidden = absent;
  showVerdict(report, state, waiting);
}

function showVerdict(report: Report, state: State, waiting: boolean): void {
  const verdict = element('verified');
  const open = waiting || !state.complete;
  verdict.classList.toggle('open', open);
  verdict.classList.toggle('wrong', !open && !report.numbers.verified);
  const words = open
    ? waiting ? 'not run yet' : 'running'
    : report.numbers.verified
      ? 'sums verified'
      : withMicro(`${report.numbers.outcome}: ${report.numbers.reason ?? 'the sums are not right'}`);
  setText(element('verified-words'), words);
}

export class KnobList {
  private readonly list = element('knob-list');
  private shown = '';

  constructor(private readonly core: Core) {
    element('clear-knobs').addEventListener('click', () => this.core.command('clear'));
  }

  show(report: Report, state: State): void {
    const hidden = report.changes.length === 0 || state.on_machine;
    element('knobs').hidden = hidden;
    const { follows_bandwidth: bandwidth, follows_latency: latency } = report.topology;
    element('hint').hidden = !hidden || !(state.on_machine || bandwidth || latency);
    setText(element('hint'), state.on_machine ? machineHint : simulationHint);
    const key = JSON.stringify([report.changes, state.end_ps]);
    if (key === this.shown) return;
    this.shown = key;
    const rows = report.changes.map((change, index) => this.row(change.time, change.time_ps >= state.end_ps, `${change.knob} → ${change.value}`, index));
    this.list.replaceChildren(...rows);
  }

  private row(time: string, late: boolean, what: string, index: number): HTMLElement {
    const row = document.createElement('li');
    const words = document.createElement('span');
    const when = document.createElement('span');
    when.className = 'when';
    when.textContent = withMicro(late ? `at ${time}, after the end: ` : `at ${time} `);
    words.append(when, withMicro(what));
    const undo = document.createElement('button');
    undo.type = 'button';
    undo.className = 'button small';
    undo.textContent = 'Undo';
    undo.setAttribute('aria-label', `Undo ${what} at ${time}`);
    undo.addEventListener('click', () => this.core.command('undo', index));
    row.append(words, undo);
    return row;
  }
}

// What befell the run: a rank that died, a recovery.
export function showNotes({ notes }: Report): void {
  element('notes').hidden = notes.length === 0;
  const rows = notes.map((note) => {
    const row = document.createElement('li');
    const words = document.createElement('span');
    const when = document.createElement('span');
    when.className = 'when';
    when.textContent = withMicro(`at ${note.time} `);
    words.append(when, withMicro(note.text));
    row.append(words);
    return row;
  });
  element('note-list').replaceChildren(...rows);
}

const ownRates = 'No link of this topology follows it: they have rates of their own.';
const ownLatencies = 'No link of this topology follows it: they have latencies of their own.';

// Why turning a rate would change nothing; empty when it would.
export function whyIdle({ topology }: Report): { bandwidth: string; latency: string } {
  return { bandwidth: topology.follows_bandwidth ? '' : ownRates, latency: topology.follows_latency ? '' : ownLatencies };
}

// What the links of the topology have of their own, in a sentence; empty when nothing.
export function ownWords(report: Report): string {
  const idle = whyIdle(report);
  const fixed = idle.bandwidth && idle.latency ? 'bandwidth and latency' : idle.bandwidth ? 'bandwidth' : idle.latency ? 'latency' : '';
  return fixed && `Its links have their own ${fixed}.`;
}
