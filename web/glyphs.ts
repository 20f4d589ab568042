// SPDX-License-Identifier: Apache-2.0
// The letters of the scene, drawn by the browser in the page's own font: no font file to load, and crisp
// at any pixel density. bridge.cpp reads the table. The first four pixels are solid: shapes are drawn with them.

export interface Glyphs {
  coverage: Uint8Array;
  table: string;
}

// Letters that are drawn turned need twice the pixels to stay smooth.
const styles = [
  { weight: 400, letters: 'rank 0123456789', density: 1 },
  { weight: 600, letters: '0123456789', density: 2 },
];
const gapPx = 2;

// `wantedPx`: on the screen, of the letters of each style; 0 leaves a style out.
export function drawGlyphs(wantedPx: readonly number[], family: string): Glyphs | null {
  const sizesPx = styles.map((style, index) => (wantedPx[index] ?? 0) * style.density);
  const canvas = document.createElement('canvas');
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (!context) return null;
  const heights = sizesPx.map((size) => Math.ceil(size * 1.4));
  canvas.width = Math.ceil(Math.max(...sizesPx) * 16) + 16 * gapPx;
  canvas.height = heights.reduce((sum, height) => sum + height + gapPx, 2 * gapPx);
  context.fillStyle = '#fff';
  context.fillRect(0, 0, 2, 2);
  const rows = [`${canvas.width} ${canvas.height}`];
  let top = 2 * gapPx;
  styles.forEach((style, index) => {
    const size = sizesPx[index] ?? 0;
    const height = heights[index] ?? 0;
    if (size === 0) return;
    context.font = `${style.weight} ${size}px ${family}`;
    const digitHeight = context.measureText('0').actualBoundingBoxAscent;
    let left = 2 * gapPx;
    for (const letter of style.letters) {
      const advance = context.measureText(letter).width;
      const width = Math.ceil(advance);
      // The digits' middle is the box's middle.
      context.fillText(letter, left, top + Math.round((height + digitHeight) / 2));
      rows.push([index, letter.charCodeAt(0), left, top, width, height, Math.round((advance / style.density) * 64), style.density].join(' '));
      left += width + gapPx;
    }
    top += height + gapPx;
  });
  const pixels = context.getImageData(0, 0, canvas.width, canvas.height).data;
  const coverage = new Uint8Array(canvas.width * canvas.height);
  for (let i = 0; i < coverage.length; ++i) coverage[i] = pixels[4 * i + 3] ?? 0;
  return { coverage, table: rows.join('\n') };
}
