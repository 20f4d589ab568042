// SPDX-License-Identifier: Apache-2.0
// The module that Emscripten makes of the C++ beside this file; the functions are bridge.cpp's.

export interface SceneModule extends EmscriptenModule {
  canvas: HTMLCanvasElement;
  UTF8ToString: typeof UTF8ToString;
  stringToNewUTF8: typeof stringToNewUTF8;
  _page_open_window(): number;
  _page_draw_now(): void;
  _page_lose_window(): void;
  _page_resize(widthPx: number, heightPx: number, scale: number): void;
  _page_set_glyphs(coverage: number, table: number): void;
  _page_command(name: number, value: number): number;
  _page_load(line: number): number;
  _page_edit(key: number, value: number, gesture: number): number;
  _page_push_trace(bytes: number): number;
  _page_state(): number;
  _page_report(): number;
  _page_algorithms(): number;
  _page_topologies(): number;
  _page_trace_hash(): number;
  _page_simulated_trace_hash(): number;
  _page_frame_count(): number;
}

declare const createScene: EmscriptenModuleFactory<SceneModule>;
export default createScene;
