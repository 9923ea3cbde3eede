// Pictures of pages by a second renderer, and what differs from those of the reading page.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A picture is compared as the brightness, from 0 to 255, of so many cells across. */
const ACROSS = 24;

/** Returns the brightness of each cell of a picture of gray pixels. */
function cells(width, height, gray, across) {
  const down = Math.round((across * height) / width), out = [];
  for (let row = 0; row < down; row++) {
    for (let column = 0; column < across; column++) {
      let sum = 0, count = 0;
      for (let y = Math.floor((row * height) / down); y < Math.floor(((row + 1) * height) / down); y++) {
        for (let x = Math.floor((column * width) / across); x < Math.floor(((column + 1) * width) / across); x++, count++) sum += gray(y * width + x);
      }
      out.push(sum / count);
    }
  }
  return out;
}

/** Returns how poppler shows the pages of a document. */
export async function popplerPages(file, count) {
  const folder = await mkdtemp(join(tmpdir(), 'pages-'));
  try {
    const name = join(folder, 'document.pdf'), pages = [];
    await writeFile(name, file);
    for (let n = 1; n <= count; n++) {
      const { stdout } = await run('pdftoppm', ['-gray', '-cropbox', '-f', n, '-l', n, '-scale-to-x', 480, '-scale-to-y', -1, name], { encoding: 'buffer', maxBuffer: 1e8 })
        .catch((error) => { throw error.code === 'ENOENT' ? new Error('pdftoppm is missing: install poppler-utils') : error; });
      const [head, width, height] = /^P5\s+(\d+)\s+(\d+)\s+\d+\s/.exec(stdout.toString('latin1', 0, 60));
      pages.push(cells(Number(width), Number(height), (i) => stdout[head.length + i], ACROSS));
    }
    return pages;
  } finally {
    await rm(folder, { recursive: true });
  }
}

// What runs in the page, which hands over cells and not a million pixels.
const shown = new Function('canvas', 'across', `${cells}
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  return cells(canvas.width, canvas.height, (i) => (299 * data[4 * i] + 587 * data[4 * i + 1] + 114 * data[4 * i + 2]) / 1000, across);`);

/** Returns how the reading page shows a page. */
export const shownPage = (page, n) => page.locator(`.page[data-page="${n}"] > canvas`).evaluate(shown, ACROSS);

/** Returns the mean difference of two pictures, from 0 to 255. */
export function difference(a, b) {
  if (a.length !== b.length) return 255; // not the same shape
  return a.reduce((sum, value, i) => sum + Math.abs(value - b[i]), 0) / a.length;
}
