// SPDX-License-Identifier: Apache-2.0
// Bundles page.ts and style.css into RINGSCOPE_PAGE_DIR. ringscope.js beside them is loaded when the page runs.
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';

const folder = process.env.RINGSCOPE_PAGE_DIR;
if (!folder) {
  console.error('RINGSCOPE_PAGE_DIR is not set; build the CMake target ringscope_page');
  process.exit(2);
}
await build({
  absWorkingDir: fileURLToPath(new URL('.', import.meta.url)),
  entryPoints: ['page.ts', 'style.css'],
  outdir: folder,
  bundle: true,
  minify: true,
  format: 'esm',
  target: ['chrome123', 'firefox120', 'safari17.5'],
  logLevel: 'warning',
});
