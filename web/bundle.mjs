// SPDX-License-Identifier: Apache-2.0
// Bundles start.ts, page.ts and style.css into RINGSCOPE_PAGE_DIR; page.js takes up the glue that Emscripten
// left in RINGSCOPE_SCENE_DIR, which shrinks by half on the way.
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';

const pageFolder = process.env.RINGSCOPE_PAGE_DIR;
const sceneFolder = process.env.RINGSCOPE_SCENE_DIR;
if (!pageFolder || !sceneFolder) {
  console.error('RINGSCOPE_PAGE_DIR or RINGSCOPE_SCENE_DIR is not set; build the CMake target ringscope_page');
  process.exit(2);
}
const findGlue = {
  name: 'find-glue',
  setup(build) {
    build.onResolve({ filter: /^\.\/ringscope\.js$/ }, () => ({ path: `${sceneFolder}/ringscope.js` }));
  },
};
await build({
  absWorkingDir: fileURLToPath(new URL('.', import.meta.url)),
  entryPoints: ['start.ts', 'page.ts', 'style.css'],
  outdir: pageFolder,
  bundle: true,
  external: ['./start.js'], // one module, shared by the document and page.js
  plugins: [findGlue],
  minify: true,
  format: 'esm',
  target: ['chrome123', 'firefox120', 'safari17.5'],
  logLevel: 'warning',
});
