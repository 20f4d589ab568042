// SPDX-License-Identifier: Apache-2.0
// The algorithm, and four parameters: a text field that takes any value the core takes, and a slider over the usual
// ones.
//
// One gesture (a drag, a key press on the slider, a text that was entered) turns a knob once, however often
// it reports on the way; the core is told which calls belong together.
import type { ChoiceInfo, Core, EditKey, Problem, Report } from './core.js';
import { element, setText, setVariable } from './dom.js';
import type { Stop } from './scale.js';
import { positionOf } from './scale.js';

let lastGesture = 0;

export class Control {
  private readonly box: HTMLElement;
  private readonly text: HTMLInputElement;
  private readonly range: HTMLInputElement;
  private readonly error: HTMLElement;
  private gesture = 0;
  private dragging = false;
  private typed = false;
  private outdated = false; // the text is of another run

  // Without stops the slider's own whole numbers are the values.
  constructor(
    private readonly core: Core,
    private readonly key: EditKey,
    private readonly stops: readonly Stop[] | null,
  ) {
    this.box = element(`field-${key}`);
    this.text = element<HTMLInputElement>(key);
    this.range = element<HTMLInputElement>(`${key}-range`);
    this.error = element(`${key}-error`);
    if (stops) {
      this.range.min = '0';
      this.range.max = String(stops.length - 1);
      this.range.step = 'any';
    }
    this.range.addEventListener('pointerdown', () => this.beginDrag());
    for (const end of ['pointerup', 'pointercancel', 'change'] as const) {
      this.range.addEventListener(end, () => {
        this.dragging = false;
      });
    }
    this.range.addEventListener('keydown', (event) => this.stepByKey(event));
    this.range.addEventListener('input', () => this.slide());
    this.text.addEventListener('input', () => {
      this.typed = true;
    });
    this.text.addEventListener('change', () => this.enter());
    this.text.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') this.enter();
    });
  }

  // What the core holds now. Leaves alone what a person is busy with.
  show(value: number, text: string): void {
    if (!this.dragging) {
      const position = this.stops ? positionOf(this.stops, value) : value;
      if (Number(this.range.value) !== position) this.range.value = String(position);
    }
    this.fill();
    this.range.setAttribute('aria-valuetext', text);
    if (this.typed || (document.activeElement === this.text && !this.outdated)) return;
    this.outdated = false;
    if (this.text.value !== text && this.error.hidden) this.text.value = text;
  }

  // Another run is opened: what was typed, and what was wrong with it, goes.
  forget(): void {
    this.typed = false;
    this.outdated = true;
    this.showProblem(null);
  }

  // With words: nothing follows this control, and why.
  disable(why: string): void {
    for (const input of [this.text, this.range]) {
      input.disabled = why !== '';
      input.title = why;
    }
  }

  set maximum(ranks: number) {
    this.range.max = String(ranks);
  }

  private beginDrag(): void {
    this.dragging = true;
    this.gesture = ++lastGesture;
  }

  private fill(): void {
    const min = Number(this.range.min);
    const share = (Number(this.range.value) - min) / (Number(this.range.max) - min || 1);
    // The thumb's middle, which the browser keeps inside the track.
    setVariable(this.range, '--fill', `calc(8px + (100% - 16px) * ${share.toFixed(4)})`);
  }

  // step="any" is smooth under a finger, but a key shall go from stop to stop.
  private stepByKey(event: KeyboardEvent): void {
    const directions: Record<string, number> = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -5, PageUp: 5 };
    const direction = directions[event.key];
    this.gesture = ++lastGesture;
    if (!direction || !this.stops) return;
    event.preventDefault();
    const from = Number(this.range.value);
    const next = direction > 0 ? Math.floor(from + 1e-9) + direction : Math.ceil(from - 1e-9) + direction;
    this.range.value = String(next);
    this.slide();
  }

  private slide(): void {
    const position = Number(this.range.value);
    const text = this.stops ? this.stops[Math.round(position)]!.text : String(position);
    this.fill();
    this.text.value = text;
    this.typed = false;
    this.apply(text);
  }

  private enter(): void {
    if (!this.typed) return;
    this.typed = false;
    this.gesture = ++lastGesture;
    this.apply(this.text.value.replace(/\s+/g, ''));
  }

  private apply(text: string): void {
    this.showProblem(this.core.edit(this.key, text, this.gesture));
  }

  private showProblem(problem: Problem | null): void {
    this.error.hidden = problem === null;
    setText(this.error, problem ? (problem.field === this.key ? sentence(problem) : `${problem.title}.`) : '');
    this.text.setAttribute('aria-invalid', String(problem !== null));
    this.box.classList.toggle('wrong', problem !== null);
  }
}

// A list of what the core has, and what the chosen one is.
export class Choice {
  private readonly select: HTMLSelectElement;
  private readonly words: HTMLElement;
  private readonly error: HTMLElement;

  constructor(
    core: Core,
    private readonly key: 'algorithm' | 'topology',
    choices: ChoiceInfo[],
  ) {
    this.select = element<HTMLSelectElement>(key);
    this.words = element(`${key}-words`);
    this.error = element(`${key}-error`);
    this.select.replaceChildren(...choices.map(newOption));
    this.select.addEventListener('change', () => {
      const problem = core.edit(key, this.select.value, ++lastGesture);
      this.showProblem(problem);
      if (problem) this.select.value = core.report()[key].name;
    });
  }

  // `more`: a sentence behind the summary.
  show(report: Report, more = ''): void {
    const chosen = report[this.key];
    if (![...this.select.options].some((option) => option.value === chosen.name)) this.select.add(newOption(chosen));
    if (this.select.value !== chosen.name) this.select.value = chosen.name;
    setText(this.words, `${chosen.summary[0]!.toUpperCase()}${chosen.summary.slice(1)}.${more && ` ${more}`}`);
  }

  forget(): void {
    this.showProblem(null);
  }

  private showProblem(problem: Problem | null): void {
    this.error.hidden = problem === null;
    setText(this.error, problem ? `${problem.title}.` : '');
  }
}

function newOption({ name, summary }: ChoiceInfo): HTMLOptionElement {
  const option = new Option(plainName(name), name);
  option.title = summary;
  return option;
}

// "halving_doubling" for people.
export function plainName(name: string): string {
  return name.replaceAll('_', ' ');
}

// "ranks=0: must be a whole number from 1 to 4096", beside the field that is called Ranks.
export function sentence(problem: Problem): string {
  if (!problem.field) return `${problem.title}.`;
  const value = problem.value ? `“${problem.value}”` : 'An empty value';
  const allowed = problem.allowed ?? 'is not allowed';
  return /^(must|is|cannot)\b/.test(allowed) ? `${value} ${allowed}.` : `${value}: ${allowed}.`;
}
