// SPDX-License-Identifier: Apache-2.0
// Playback: buttons, the time bar, speed, and the keys that do the same.
import type { Core, State } from './core.js';
import { readClock, speedText } from './clock.js';
import { element, setAttribute, setText, setVariable } from './dom.js';

const speeds = [0.125, 0.25, 0.5, 1, 2, 4, 8];

export class Transport {
  private readonly scrub = element<HTMLInputElement>('scrub');
  private readonly playButton = element<HTMLButtonElement>('play');
  private scrubbing = false;
  private wasPlaying = false;
  private latest: State;

  constructor(private readonly core: Core) {
    this.latest = core.state();
    // A button that was clicked gives the focus back, so that the space bar plays; one that was reached by
    // keyboard keeps it, and the space bar presses it.
    const click = (id: string, act: () => void): void =>
      element(id).addEventListener('click', (event) => {
        act();
        if (event.detail > 0) element(id).blur();
      });
    click('play', () => this.toggle());
    click('restart', () => this.core.command('seek', 0));
    click('back', () => this.core.command('step', -1));
    click('forward', () => this.core.command('step', 1));
    click('slower', () => this.changeSpeed(-1));
    click('faster', () => this.changeSpeed(1));
    this.scrub.addEventListener('pointerdown', () => {
      this.scrubbing = true;
      this.wasPlaying = this.latest.playing;
      if (this.wasPlaying) this.core.command('pause');
    });
    const release = (): void => {
      if (this.scrubbing && this.wasPlaying && !this.core.state().at_end) this.core.command('play');
      this.scrubbing = false;
    };
    this.scrub.addEventListener('pointerup', release);
    this.scrub.addEventListener('pointercancel', release);
    this.scrub.addEventListener('input', () => this.core.command('seek', (Number(this.scrub.value) / 1000) * this.latest.end_ps));
    document.addEventListener('keydown', (event) => this.key(event));
  }

  show(state: State, phases: readonly string[], phaseEndsPs: readonly number[]): void {
    this.latest = state;
    const share = state.end_ps > 0 ? state.time_ps / state.end_ps : 0;
    if (!this.scrubbing) this.scrub.value = String(share * 1000);
    setVariable(this.scrub, '--fill', `calc(8px + (100% - 16px) * ${share.toFixed(5)})`);
    const phaseEnd = phases.length === 2 ? phaseEndsPs[0] : undefined; // more have no room
    const mark = phaseEnd === undefined || state.end_ps === 0 ? 2 : phaseEnd / state.end_ps; // 2: out of sight
    setVariable(element('scrub-box'), '--mark', `calc(8px + (100% - 16px) * ${mark.toFixed(5)})`);
    element('phases').hidden = phaseEnd === undefined;
    setText(element('phase-first'), phases[0] ?? '');
    setText(element('phase-second'), phases[1] ?? '');
    const clock = readClock(state.time_ps, state.end_ps);
    setAttribute(this.scrub, 'aria-valuetext', `${clock.now} of ${clock.end}`);
    setAttribute(element('play-icon'), 'href', state.playing ? '#icon-pause' : '#icon-play');
    setAttribute(this.playButton, 'aria-label', state.playing ? 'Pause' : 'Play');
    setText(element('speed'), speedText(state.speed_permille));
    const nowhere = state.end_ps === 0;
    for (const id of ['play', 'restart', 'back', 'forward', 'scrub']) {
      element<HTMLButtonElement>(id).disabled = nowhere;
    }
  }

  private toggle(): void {
    this.core.command(this.core.state().playing ? 'pause' : 'play');
  }

  private changeSpeed(direction: number): void {
    const permille = this.core.state().speed_permille;
    const now = speeds.findIndex((speed) => speed * 1000 >= permille);
    const next = speeds[Math.min(speeds.length - 1, Math.max(0, now + direction))];
    this.core.command('speed', next);
  }

  // Keys belong to the field or slider that has the focus first.
  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
    const target = event.target instanceof HTMLElement ? event.target : document.body;
    if (target.matches('input.text') || (target.matches('input') && event.key !== ' ' && !'[]?'.includes(event.key))) return;
    const onButton = target.matches('button, input[type="radio"]');
    const acts: Record<string, () => void> = {
      ' ': () => this.toggle(),
      ArrowLeft: () => this.core.command('step', -1),
      ArrowRight: () => this.core.command('step', 1),
      Home: () => this.core.command('seek', 0),
      End: () => this.core.command('seek', this.latest.end_ps),
      '[': () => this.changeSpeed(-1),
      ']': () => this.changeSpeed(1),
      '?': () => element<HTMLDialogElement>('shortcuts').showModal(),
    };
    const act = acts[event.key];
    if (!act || (onButton && event.key === ' ')) return;
    event.preventDefault();
    act();
  }
}
