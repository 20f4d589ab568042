// SPDX-License-Identifier: Apache-2.0
// The other side of bridge.cpp: the C++ scene and core as one typed object.

import createScene from './ringscope.js';
import type { SceneModule } from './ringscope.js';
import { compiledScene } from './start.js';

export interface Problem {
  title: string;
  field?: string;
  value?: string;
  allowed?: string;
}

// What changes from frame to frame.
export interface State {
  revision: number; // of the report
  on_machine: boolean;
  hops: number;
  complete: boolean;
  broken_off: boolean; // complete, with hops missing
  time_ps: number;
  end_ps: number;
  playing: boolean;
  at_end: boolean;
  speed_permille: number;
  bandwidth: number; // these four: what is in force now
  bandwidth_text: string;
  latency_ps: number;
  latency_text: string;
  round: number; // one go at the collective: an iteration, or a new start after a failure
  round_count: number;
  round_ranks: number; // that take part in it
  stalled: boolean; // nothing moves, and the round is not over
  step: number; // of the slowest rank
  furthest_step: number;
  step_count: number;
  in_step: boolean; // all ranks move from step to step together, in the whole run
  phase: string;
  explain: string;
  example: string; // one message of the step, in words
  label_px: number; // letter sizes the scene wants, in device pixels
  number_px: number;
  free_radius_px: number;
}

export interface TurnedKnob {
  time: string;
  time_ps: number;
  knob: string;
  value: string;
}

// An algorithm or a topology.
export interface ChoiceInfo {
  name: string;
  summary: string;
}

export interface Formula {
  kind: 'ring' | 'other' | 'none';
  steps: string;
  bytes_per_rank: string;
  exact: boolean;
  bytes: string;
  bandwidth: string;
  latency: string;
  time: string;
  changed: boolean;
  set: boolean;
}

// What changes with the run, or as a measured trace grows.
export interface Report {
  revision: number;
  line: string;
  ranks: number;
  bytes: number;
  bytes_text: string;
  iterations: number;
  algorithm: ChoiceInfo & { collective: string; lane_count: number; with_switch: boolean };
  topology: ChoiceInfo & { follows_bandwidth: boolean; follows_latency: boolean };
  changes: TurnedKnob[];
  notes: { time: string; time_ps: number; text: string }[]; // what befell the run
  formula: Formula;
  phases: string[]; // of a run of one round
  phase_ends_ps: number[];
  numbers: {
    time: string;
    algbw: string;
    busbw: string;
    wire: string;
    bound: string;
    messages: number;
    bottleneck: string;
    outcome: 'ok' | 'wrong' | 'failed' | 'timeout';
    verified: boolean;
    reason?: string;
  };
  shown_ranks: number;
  shown_line: string;
  predicted?: string;
}

export type CommandName =
  | 'play'
  | 'pause'
  | 'step'
  | 'seek'
  | 'speed'
  | 'stepwise'
  | 'dark'
  | 'undo'
  | 'clear'
  | 'machine'
  | 'simulation'
  | 'begin_trace'
  | 'end_trace';

export type EditKey = 'algorithm' | 'topology' | 'ranks' | 'bytes' | 'bandwidth' | 'latency';

export interface CoreHooks {
  onFrame(): void;
  onAbort(reason: string): void;
}

export class Core {
  private constructor(private readonly module: SceneModule) {}

  static async start(hooks: CoreHooks): Promise<Core> {
    let lastWords = '';
    const compiled = await compiledScene;
    const options = {
      instantiateWasm: (imports: WebAssembly.Imports, receive: (instance: WebAssembly.Instance) => void) => {
        void WebAssembly.instantiate(compiled, imports).then(receive);
        return {}; // what the glue wants when it shall wait
      },
      onFrame: hooks.onFrame,
      onAbort: (reason: unknown) => hooks.onAbort(lastWords || String(reason)),
      printErr: (text: string) => {
        lastWords = text;
      },
    };
    return new Core(await createScene(options as Partial<SceneModule>));
  }

  openWindow(canvas: HTMLCanvasElement): boolean {
    this.module.canvas = canvas; // where Emscripten looks for it
    return this.module._page_open_window() === 1;
  }

  drawNow(): void {
    this.module._page_draw_now();
  }

  loseWindow(): void {
    this.module._page_lose_window();
  }

  resize(widthPx: number, heightPx: number, scale: number): void {
    this.module._page_resize(widthPx, heightPx, scale);
  }

  setGlyphs(coverage: Uint8Array, table: string): void {
    const pointer = this.module._malloc(coverage.length);
    this.module.HEAPU8.set(coverage, pointer);
    this.withText(table, (text) => {
      this.module._page_set_glyphs(pointer, text);
      return 0;
    });
    this.module._free(pointer);
  }

  command(name: CommandName, value = 0): Problem | null {
    return this.problem(this.withText(name, (text) => this.module._page_command(text, value)));
  }

  load(line: string): Problem | null {
    return this.problem(this.withText(line, (text) => this.module._page_load(text)));
  }

  edit(key: EditKey, value: string, gesture: number): Problem | null {
    return this.problem(
      this.withText(key, (keyText) => this.withText(value, (text) => this.module._page_edit(keyText, text, gesture))),
    );
  }

  pushTrace(bytes: string): Problem | null {
    return this.problem(this.withText(bytes, (text) => this.module._page_push_trace(text)));
  }

  state(): State {
    return JSON.parse(this.module.UTF8ToString(this.module._page_state())) as State;
  }

  report(): Report {
    return JSON.parse(this.module.UTF8ToString(this.module._page_report())) as Report;
  }

  topologies(): ChoiceInfo[] {
    return JSON.parse(this.module.UTF8ToString(this.module._page_topologies())) as ChoiceInfo[];
  }

  algorithms(): ChoiceInfo[] {
    return JSON.parse(this.module.UTF8ToString(this.module._page_algorithms())) as ChoiceInfo[];
  }

  traceHash(): string {
    return this.module.UTF8ToString(this.module._page_trace_hash());
  }

  // Of the simulation of what the controls say, whatever is on show.
  simulatedTraceHash(): string {
    return this.module.UTF8ToString(this.module._page_simulated_trace_hash());
  }

  frameCount(): number {
    return this.module._page_frame_count();
  }

  private withText(text: string, use: (pointer: number) => number): number {
    // A zero would end the text early on the other side.
    const pointer = this.module.stringToNewUTF8(text.replaceAll('\0', '\ufffd'));
    const result = use(pointer);
    this.module._free(pointer);
    return result;
  }

  private problem(pointer: number): Problem | null {
    const answer = JSON.parse(this.module.UTF8ToString(pointer)) as { error?: Problem };
    return answer.error ?? null;
  }
}
