/** The positions of pages, and which of them is being read. Numbers only, so that tests need no browser. */

export interface Span {
  top: number;
  height: number;
}

/**
 * Returns which page is mostly seen in a window: the one with the largest share of what could be seen
 * of it; of several, the nearest to the middle. At the end of the document a last page that is wholly
 * there is the one. Pages are numbered from 1; null if none is there.
 */
export function mostSeen(pages: readonly Span[], top: number, bottom: number, atEnd = false): number | null {
  const middle = (top + bottom) / 2;
  let best: number | null = null;
  let bestShare = 0;
  let bestDistance = Infinity;
  for (let i = firstBelow(pages, top); i < pages.length; i++) {
    const page = pages[i]!;
    if (page.top >= bottom) break;
    const seen = Math.min(bottom, page.top + page.height) - Math.max(top, page.top);
    if (seen <= 0) continue;
    const share = seen / Math.min(page.height, bottom - top);
    const distance = Math.abs(page.top + page.height / 2 - middle);
    const last = atEnd && i === pages.length - 1 && share > 0.99;
    if (last || share > bestShare + 0.01 || (share > bestShare - 0.01 && distance < bestDistance)) {
      best = i + 1;
      bestShare = share;
      bestDistance = distance;
    }
  }
  return best;
}

/** Returns the index of the first page that ends below a height. */
export function firstBelow(pages: readonly Span[], y: number): number {
  let low = 0;
  let high = pages.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    const page = pages[mid]!;
    if (page.top + page.height <= y) low = mid + 1;
    else high = mid;
  }
  return low;
}

/** "auto" shows the first page as a whole and the others at the width of the window. */
export type Zoom = "auto" | "width" | "page" | number;

export const SMALLEST = 0.25;
export const LARGEST = 5;
/** Wider than this, lines of a page are too long to follow. */
const WIDEST = 860; // as --page in viewer.css

/** Small pages are not made larger than this to fit the width: their letters would be those of a poster. */
const BIGGEST_FIT = 1.25;

/** Returns CSS pixels a point for a page of a size in points. first: it is the document's first page. */
export function scaleOf(zoom: Zoom, page: { width: number; height: number }, area: { width: number; height: number }, first = false): number {
  const upright = page.width <= page.height;
  const width = Math.min(area.width, upright ? WIDEST : area.width);
  if (zoom === "auto" && first) return clamp(Math.min(width / page.width, area.height / page.height));
  if (zoom === "auto" || zoom === "width") return clamp(Math.min(width / page.width, upright ? BIGGEST_FIT * CSS_UNITS : Infinity));
  if (zoom === "page") return clamp(Math.min(area.width / page.width, area.height / page.height));
  return clamp(zoom * CSS_UNITS);
}

/** CSS pixels a point at 100 %. */
export const CSS_UNITS = 96 / 72;

function clamp(scale: number): number {
  return Math.min(LARGEST * CSS_UNITS, Math.max(SMALLEST * CSS_UNITS, scale));
}

const STEPS = [0.25, 0.33, 0.5, 0.67, 0.75, 0.9, 1, 1.1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4, 5];

/** Returns the next step of zoom, up or down from what is shown now. */
export function step(now: number, direction: 1 | -1): number {
  const found = direction > 0 ? STEPS.find((s) => s > now * 1.02) : STEPS.filter((s) => s < now * 0.98).at(-1);
  return found ?? (direction > 0 ? LARGEST : SMALLEST);
}

/** Returns how many device pixels a CSS pixel gets, so that a canvas stays within a number of pixels. */
export function density(width: number, height: number, wanted: number, max: number): number {
  return Math.min(wanted, Math.sqrt(max / (width * height)));
}

/** Returns an address that a document may lead to, or null: web pages and mail, nothing else. */
export function safeLink(text: string | undefined | null): string | null {
  if (!text) return null;
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return null;
  }
  return ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : null;
}
