// A page whose size is not a whole number of points ends within its last row and column of pixels, which are then half white:
// a line along a dark page.

const DEPTH = 4; // rows and columns at an edge that may be paler
const PALER = 6; // of 255
const COVERED = 0.5; // share of an edge that has to be coloured
const AGREEING = 0.95;

/** Returns how many lines at an edge are paler than the line within. at gives the brightness of a pixel of a line, counted from the edge. */
export function paleLines(length: number, at: (depth: number, i: number) => number): number {
  for (let depth = DEPTH - 1; depth >= 0; depth--) {
    let dark = 0;
    let pale = 0;
    for (let i = 0; i < length; i++) {
      const inside = at(DEPTH, i);
      if (inside > 255 - 4 * PALER) continue;
      dark++;
      if (at(depth, i) >= inside + PALER) pale++;
    }
    if (dark > COVERED * length && pale >= AGREEING * dark) return depth + 1;
  }
  return 0;
}

/** Lets the right and the lower edge of a page bleed: lines that its content covers in part get the colours of the line within. */
export function bleed(canvas: HTMLCanvasElement): void {
  const { width, height } = canvas;
  const context = canvas.getContext("2d");
  if (!context || width < 8 * DEPTH || height < 8 * DEPTH) return;
  const lines = (x: number, y: number, w: number, h: number, index: (depth: number, i: number) => number) => {
    const { data } = context.getImageData(x, y, w, h);
    return paleLines(Math.max(w, h), (depth, i) => {
      const at = 4 * index(depth, i);
      return (299 * data[at]! + 587 * data[at + 1]! + 114 * data[at + 2]!) / 1000;
    });
  };
  const strip = DEPTH + 1;
  const right = lines(width - strip, 0, strip, height, (depth, i) => i * strip + (DEPTH - depth));
  if (right > 0) context.drawImage(canvas, width - right - 1, 0, 1, height, width - right, 0, right, height);
  const lower = lines(0, height - strip, width, strip, (depth, i) => (DEPTH - depth) * width + i);
  if (lower > 0) context.drawImage(canvas, 0, height - lower - 1, width, 1, 0, height - lower, width, lower);
}
