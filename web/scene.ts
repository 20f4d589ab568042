// SPDX-License-Identifier: Apache-2.0
// The canvas: its size, its letters, the loss of its GPU, and what it is called for those who cannot see it.
import type { Core, State } from './core.js';
import { element, setAttribute, setText, setVariable } from './dom.js';
import { drawGlyphs } from './glyphs.js';
import { readClock } from './clock.js';
import { isWaiting } from './numbers.js';

const scaleMax = 2; // beyond, more pixels cost time and show nothing
const spokenEveryMs = 1000;

function stepWords(state: State): string {
  const first = state.step + 1;
  const last = state.furthest_step + 1;
  return `${last > first ? `steps ${first} to ${last}` : `step ${first}`} of ${state.step_count}`;
}

export class Scene {
  private readonly box = element('scene');
  private readonly canvas = element<HTMLCanvasElement>('canvas');
  private glyphSizes = '';
  private scale = 1;
  private spokenAt = 0;
  private spoken = '';

  constructor(
    private readonly core: Core,
    private readonly onNoPicture: () => void,
  ) {
    this.fit();
    if (!this.core.openWindow(this.canvas)) this.onNoPicture();
    new ResizeObserver(() => this.fit()).observe(this.box);
    this.canvas.addEventListener('webglcontextlost', (event) => {
      event.preventDefault(); // or the browser would not give it back
      this.core.loseWindow();
    });
    this.canvas.addEventListener('webglcontextrestored', () => {
      if (!this.core.openWindow(this.canvas)) this.onNoPicture();
    });
    this.watchScale();
  }

  private watchScale(): void {
    const query = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
    query.addEventListener('change', () => {
      this.fit();
      this.watchScale();
    }, { once: true });
  }

  private fit(): void {
    this.scale = Math.min(devicePixelRatio || 1, scaleMax);
    const width = Math.max(1, Math.round(this.box.clientWidth * this.scale));
    const height = Math.max(1, Math.round(this.box.clientHeight * this.scale));
    this.core.resize(width, height, this.scale);
    this.fitLetters(this.core.state());
  }

  private fitLetters(state: State): void {
    const sizes = `${state.label_px} ${state.number_px}`;
    if (sizes !== this.glyphSizes) {
      this.glyphSizes = sizes;
      const family = getComputedStyle(document.body).fontFamily;
      const glyphs = drawGlyphs([state.label_px, state.number_px], family);
      if (glyphs) this.core.setGlyphs(glyphs.coverage, glyphs.table);
    }
    setVariable(this.box, '--hole', `${Math.round(state.free_radius_px / this.scale)}px`);
  }

  // `collective` is what the run does: "all-reduce".
  show(state: State, collective: string, withSwitch: boolean): void {
    this.fitLetters(state);
    const clock = readClock(state.time_ps, state.end_ps);
    const waiting = isWaiting(state);
    const over = state.step >= state.step_count || (state.at_end && state.stalled);
    const ended = over && (state.at_end || state.round + 1 >= state.round_count);
    const broken = ended && state.broken_off;
    setText(element('phase'), waiting ? 'not run yet' : broken ? 'broken off' : over ? `${collective} done` : state.stalled ? 'nothing moves' : state.phase);
    setText(element('step'), waiting ? 'inputs at rest' : broken ? `after ${state.hops} hops` : over ? `${state.step_count} steps` : stepWords(state));
    element('round').hidden = state.round_count < 2;
    setText(element('round'), `round ${state.round + 1} of ${state.round_count}`);
    element('hole').classList.toggle('raised', withSwitch);
    setText(element('clock'), clock.now);
    setText(element('clock-end'), clock.end);
    element('clock-line').hidden = state.end_ps === 0;
    this.describe(state, waiting, over, broken);
  }

  private describe(state: State, waiting: boolean, over: boolean, broken: boolean): void {
    const now = performance.now();
    const text = waiting
      ? 'The ranks at rest: each holds its own input'
      : broken
        ? 'The ranks as they were when the run broke off'
        : over
          ? `The ${state.round_ranks} ranks at the end: each holds its result`
          : `${state.round_ranks} ranks ${state.stalled ? 'that do not move' : `in ${state.phase}`}, ${stepWords(state)}`;
    if (text === this.spoken || (now - this.spokenAt < spokenEveryMs && state.playing)) return;
    this.spoken = text;
    this.spokenAt = now;
    setAttribute(this.canvas, 'aria-label', text);
  }
}
