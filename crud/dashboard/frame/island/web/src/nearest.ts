// Where a pointer is in a chart.

/** nearest returns the index of the point next to x, of count points from 0 to width, the first and the last at the edges. */
export function nearest(x: number, width: number, count: number): number {
  if (count < 2 || width <= 0) return 0;
  return Math.min(Math.max(Math.round((x / width) * (count - 1)), 0), count - 1);
}

/** step returns the index that a key leads to from at (-1: from nowhere), or undefined if the key means nothing here. */
export function step(key: string, at: number, count: number): number | undefined {
  if (count === 0) return undefined;
  switch (key) {
    case "ArrowRight":
      return Math.min(at + 1, count - 1);
    case "ArrowLeft":
      return at < 0 ? count - 1 : Math.max(at - 1, 0);
    case "Home":
      return 0;
    case "End":
      return count - 1;
  }
  return undefined;
}
