/** Dark paper: light pages are inverted by CSS, and their photographs and pages that are dark by themselves stay as they are. */

/** Pictures that cover more of a page are a scan of it: paper as well. */
const WHOLE_PAGE = 0.7;
/** Pictures that cover less are ornaments. */
const SMALL = 0.005;
/** From this on, of 255, a picture is a drawing on white. */
const WHITE = 190;
const DARK = 110;

export const isDark = (): boolean => document.documentElement.hasAttribute("data-dark");

/** Returns how bright a part of a canvas is on average, from 0 to 255. */
function brightness(canvas: HTMLCanvasElement, x: number, y: number, width: number, height: number): number {
  const sample = document.createElement("canvas");
  sample.width = sample.height = 16;
  const context = sample.getContext("2d", { willReadFrequently: true });
  if (!context) return 255;
  context.drawImage(canvas, x, y, width, height, 0, 0, 16, 16);
  const { data } = context.getImageData(0, 0, 16, 16);
  let light = 0;
  for (let i = 0; i < data.length; i += 4) light += (299 * data[i]! + 587 * data[i + 1]! + 114 * data[i + 2]!) / 1000;
  return light / 256;
}

/** Whether a picture of a page is white all over. */
export function isBlank(canvas: HTMLCanvasElement): boolean {
  return brightness(canvas, 0, 0, canvas.width, canvas.height) >= 255;
}

/** Marks a picture of a page that is dark by itself. */
export function shade(canvas: HTMLCanvasElement): void {
  canvas.classList.toggle("shaded", brightness(canvas, 0, 0, canvas.width, canvas.height) < DARK);
}

/**
 * Returns a canvas with nothing but the photographs of a page, or null if it has none. coordinates are three corners of each picture, as shares of
 * the page: one, the one below it, and the one beside it.
 */
export function photographs(canvas: HTMLCanvasElement, coordinates: ArrayLike<number> | null): HTMLCanvasElement | null {
  const { width, height } = canvas;
  let over: HTMLCanvasElement | null = null;
  for (let i = 0; coordinates && i + 5 < coordinates.length; i += 6) {
    const at = (j: number) => coordinates[i + j]! * (j % 2 === 0 ? width : height);
    const corners = [[at(0), at(1)], [at(2), at(3)], [at(2) + at(4) - at(0), at(3) + at(5) - at(1)], [at(4), at(5)]] as const;
    const covered = Math.abs((at(4) - at(0)) * (at(3) - at(1)) - (at(5) - at(1)) * (at(2) - at(0))) / (width * height);
    if (!(covered >= SMALL && covered <= WHOLE_PAGE)) continue;
    const left = Math.max(0, Math.min(...corners.map(([x]) => x)));
    const top = Math.max(0, Math.min(...corners.map(([, y]) => y)));
    const right = Math.min(width, Math.max(...corners.map(([x]) => x)));
    const bottom = Math.min(height, Math.max(...corners.map(([, y]) => y)));
    if (right - left < 1 || bottom - top < 1 || brightness(canvas, left, top, right - left, bottom - top) > WHITE) continue;
    if (!over) {
      over = document.createElement("canvas");
      over.width = width;
      over.height = height;
      over.className = "photographs";
      over.setAttribute("aria-hidden", "true");
    }
    const context = over.getContext("2d")!;
    context.save();
    context.beginPath();
    for (const [x, y] of corners) context.lineTo(x, y);
    context.clip();
    context.drawImage(canvas, 0, 0);
    context.restore();
  }
  return over;
}
