// SPDX-License-Identifier: Apache-2.0
// The first of the page's scripts, and a short one: it sets going what others work on, the GPU process and the
// compiler threads, while the larger scripts are still on their way. page.ts takes up what it began.
import { restoreTheme } from './theme.js';

const patienceMs = 250;

restoreTheme();

// The controls do not wait for a core that is long on its way. Until then the browser has less to lay out.
setTimeout(showAll, patienceMs);

export function showAll(): void {
  document.documentElement.dataset['started'] = '';
}

// Has the GPU process compile and draw for the first time, which takes it a while, and waits for none of it.
function warmUp(gl: WebGLRenderingContext): void {
  const program = gl.createProgram();
  const sources = [
    [gl.VERTEX_SHADER, 'void main() { gl_Position = vec4(0, 0, 0, 1); }'],
    [gl.FRAGMENT_SHADER, 'void main() { gl_FragColor = vec4(0); }'],
  ] as const;
  for (const [kind, source] of sources) {
    const shader = gl.createShader(kind);
    if (!shader || !program) return; // the context is lost
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
    gl.deleteShader(shader); // with the program
  }
  gl.linkProgram(program);
  gl.useProgram(program);
  gl.drawArrays(gl.TRIANGLES, 0, 3);
  gl.useProgram(null);
  gl.deleteProgram(program);
  gl.flush();
}

// SDL asks for a context of the same canvas later and is given this one.
const gl = document
  .querySelector<HTMLCanvasElement>('#canvas')
  ?.getContext('webgl', { alpha: false, antialias: false, depth: false, stencil: false });
if (gl) warmUp(gl);

async function compile(): Promise<WebAssembly.Module> {
  const response = await fetch(new URL('ringscope.wasm', import.meta.url));
  if (!response.ok) throw new Error(`ringscope.wasm: ${response.status} ${response.statusText}`);
  // A host that serves it under another type than application/wasm is slower, not refused.
  const streamed = response.headers.get('Content-Type') === 'application/wasm';
  return streamed ? WebAssembly.compileStreaming(response) : WebAssembly.compile(await response.arrayBuffer());
}

export const compiledScene = compile();
compiledScene.catch(() => undefined); // page.ts reports it
