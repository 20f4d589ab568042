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

// A number stays on one line with its unit.
function together(text: string): string {
  return withMicro(text).replaceAll(' ', '\u00a0');
}

// The same for the numbers in a sentence.
function togetherInside(sentence: string): string {
  return sentence.replace(/\d (?=%|[munp]?s\b|[kKMGT]?i?B\b)/g, (digit) => together(digit));
}

// On the machine, and nothing of its run is known.
export function isWaiting(state: State): boolean {
  return state.on_machine && state.hops === 0 && !state.complete;
}

// How a measured run ended.
export function outcomeWords({ numbers }: Report): string {
  const reason = numbers.reason ? `: ${numbers.reason}` : '';
  switch (numbers.outcome) {
    case 'ok':
      return 'Measured on CPU threads of this machine.';
    case 'wrong':
      return `The run is over, but its sums are wrong${reason}.`;
    case 'timeout':
      return `The run took too long${reason}.`;
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

export function showNumbers(report: Report, state: State): void {
  const { numbers, formula } = report;
  const waiting = isWaiting(state);
  const absent = waiting || (state.on_machine && state.hops === 0 && numbers.outcome !== 'ok');
  setText(element('time'), absent ? nothing : numbers.time);
  setText(element('time-words'), state.on_machine ? (waiting ? 'not measured yet' : absent ? 'not measured' : 'measured') : 'for the whole all-reduce');
  setText(element('algbw'), absent ? nothing : numbers.algbw);
  setText(element('busbw'), absent ? nothing : numbers.busbw);
  setText(element('wire'), absent ? nothing : numbers.wire);
  setText(element('bound-words'), state.on_machine ? 'predicted' : 'lower bound');
  setText(element('bound'), (state.on_machine ? report.predicted : numbers.bound) || nothing);
  const closed = `2·(${report.ranks}−1)·(${together(formula.latency)} + ${together(formula.bytes)} ∕ (${report.ranks}·${together(formula.bandwidth)}))`;
  setText(
    element('formula'),
    `${closed} =\u00a0${together(formula.time)}${state.on_machine ? '' : whatDiffers(report)}`,
  );
  setText(element('bottleneck'), absent ? '' : togetherInside(numbers.bottleneck));
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
      : `${report.numbers.outcome}: ${report.numbers.reason ?? 'the sums are not right'}`;
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
    element('hint').hidden = !hidden;
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
