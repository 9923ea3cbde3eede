/** What a destination is measured with: a page as pdf.js shows it at a scale of 1. */
export interface Shown {
  height: number;
  /** The corners of the page in its own coordinates. */
  viewBox: readonly number[];
  convertToViewportPoint(x: number, y: number): number[];
}

/**
 * Returns the share of a page that lies above a destination (PDF 1.7, 12.3.2.2), from 0 to 1: 0 if
 * the destination is the page as a whole. Crops, rotations and units of the page count, so the
 * point is converted as the page is.
 */
export function shareAbove(dest: readonly unknown[], page: Shown): number {
  const kind = (dest[1] as { name?: string } | undefined)?.name;
  const at = (i: number, otherwise: number) => (typeof dest[i] === "number" ? (dest[i] as number) : otherwise);
  const [left = 0, bottom = 0, right = 0, top = 0] = page.viewBox;
  let box: [number, number, number, number];
  switch (kind) {
    case "XYZ": {
      const [x, y] = [at(2, left), at(3, top)];
      box = [x, y, x, y];
      break;
    }
    case "FitH":
    case "FitBH":
      box = [left, at(2, top), right, at(2, top)];
      break;
    case "FitV":
    case "FitBV":
      box = [at(2, left), bottom, at(2, left), top];
      break;
    case "FitR":
      box = [at(2, left), at(3, bottom), at(4, right), at(5, top)];
      break;
    default:
      return 0;
  }
  const [, y1 = 0] = page.convertToViewportPoint(box[0], box[1]);
  const [, y2 = 0] = page.convertToViewportPoint(box[2], box[3]);
  return Math.min(1, Math.max(0, Math.min(y1, y2) / page.height));
}
