// SPDX-License-Identifier: Apache-2.0
// The first of the page's scripts, and a short one: it sets going what others work on, the GPU process and the
// compiler threads, while the larger scripts are still on their way. page.ts takes up what it began.
import { restoreTheme } from './theme.js';

restoreTheme();

// SDL asks for a context of the same canvas later and is given this one.
document
  .querySelector<HTMLCanvasElement>('#canvas')
  ?.getContext('webgl', { alpha: false, antialias: false, depth: false, stencil: false });

async function compile(): Promise<WebAssembly.Module> {
  const response = await fetch(new URL('ringscope.wasm', import.meta.url));
  if (!response.ok) throw new Error(`ringscope.wasm: ${response.status} ${response.statusText}`);
  // A host that serves it under another type than application/wasm is slower, not refused.
  const streamed = response.headers.get('Content-Type') === 'application/wasm';
  return streamed ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer());
}

export const compiledScene = compile();
compiledScene.catch(() => undefined); // page.ts reports it
