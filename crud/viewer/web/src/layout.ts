/** The positions of pages, and which of them is being read. Numbers only, so that tests need no browser. */

export interface Span {
  top: number;
  height: number;
}

/**
 * Returns which page is mostly seen in a window: the one with the largest share of what could be
 * seen of it. Several pages that are wholly there have equal shares. Then it is the one that lies
 * in the document where the window lies on its way through it, so that each page has its turn while
 * someone scrolls: the first page at the beginning, the last at the end.
 * way: 0 at the beginning, also if there is nothing to scroll, 1 at the end. Pages are numbered
 * from 1; null if none is there.
 */
export function mostSeen(pages: readonly Span[], top: number, bottom: number, way: number): number | null {
  const from = pages[0]?.top ?? 0;
  const to = pages.length > 0 ? end(pages[pages.length - 1]!) : 0;
  const line = from + way * (to - from);
  let best: number | null = null;
  let bestShare = 0;
  let bestDistance = Infinity;
  for (let i = firstBelow(pages, top); i < pages.length; i++) {
    const page = pages[i]!;
    if (page.top >= bottom) break;
    const seen = Math.min(bottom, end(page)) - Math.max(top, page.top);
    if (seen <= 0) continue;
    const share = seen / Math.min(page.height, bottom - top);
    const distance = Math.max(0, page.top - line, line - end(page));
    if (share > bestShare + 0.01 || (share > bestShare - 0.01 && distance < bestDistance)) {
      best = i + 1;
      bestShare = share;
      bestDistance = distance;
    }
  }
  return best;
}

const end = (page: Span): number => page.top + page.height;

/** Milliseconds that a page has its turn: longer than it has to be seen to count as read, MIN_MS in visits.ts. */
const TURN_MS = 600;

/**
 * Turns gives each page its turn where several are wholly in the window: a page that is still there
 * is left after its time only, and none of those is passed over. So steps of a wheel, which are
 * longer than a short page, count all that the reader sees.
 */
export class Turns {
  private until = -Infinity;

  /** later: calls back once, after a time in milliseconds, to ask again. */
  constructor(
    private readonly now: () => number,
    private readonly later: (ms: number) => void,
  ) {}

  /** Returns the page to be read now: the current one, the one that is mostly seen, or one between them. */
  next(current: number, seen: number, pages: readonly Span[], top: number, bottom: number): number {
    if (current === seen) return seen;
    const whole = (n: number): boolean => pages[n - 1]!.top >= top && end(pages[n - 1]!) <= bottom;
    const left = this.until - this.now();
    if (left > 0 && whole(current)) {
      this.later(left);
      return current;
    }
    this.until = this.now() + TURN_MS;
    const direction = Math.sign(seen - current);
    for (let n = current + direction; n !== seen; n += direction) if (!whole(n)) return seen;
    if (current + direction !== seen) this.later(TURN_MS);
    return current + direction;
  }
}

/** A point of the document: a share of a page's height, and pixels below or above it. */
export interface Place {
  page: number;
  share: number;
  beyond: number;
}

/** Returns the place that lies at a height: within a page, or above the next one. */
export function placeAt(pages: readonly Span[], y: number): Place {
  const i = Math.min(firstBelow(pages, y), pages.length - 1);
  const { top, height } = pages[i]!;
  const share = Math.min(1, Math.max(0, (y - top) / height));
  return { page: i + 1, share, beyond: y - top - share * height };
}

/** Returns the height at which a place lies. */
export function heightOf(pages: readonly Span[], { page, share, beyond }: Place): number {
  const { top, height } = pages[Math.min(page, pages.length) - 1]!;
  return top + share * height + beyond;
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

/**
 * A page that is so many times as long as it is wide is read from its top, at its width: as a whole
 * it would be a strip.
 */
const LONG = 2; // as in first.Long of viewer.go

/**
 * Returns CSS pixels a point for a page of a size in points. first: it is the document's first
 * page. What fits has no smallest scale: the widest page fits the narrowest window.
 */
export function scaleOf(zoom: Zoom, page: { width: number; height: number }, area: { width: number; height: number }, first = false): number {
  const upright = page.width <= page.height;
  const width = Math.min(area.width, upright ? WIDEST : area.width) / page.width;
  const whole = Math.min(zoom === "page" ? area.width / page.width : width, area.height / page.height);
  const largest = LARGEST * CSS_UNITS;
  if (typeof zoom === "number") return Math.min(largest, zoom * CSS_UNITS);
  if (zoom === "page" || (zoom === "auto" && first && page.height <= LONG * page.width)) return Math.min(largest, whole);
  return Math.min(largest, width, upright ? BIGGEST_FIT * CSS_UNITS : Infinity);
}

/** CSS pixels a point at 100 %. */
export const CSS_UNITS = 96 / 72;

const STEPS = [0.25, 0.33, 0.5, 0.67, 0.75, 0.9, 1, 1.1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4, 5];

/**
 * Returns the next step of zoom, up or down from what is shown now. A page that fits below the
 * smallest step gets no smaller.
 */
export function step(now: number, direction: 1 | -1): number {
  const found = direction > 0 ? STEPS.find((s) => s > now * 1.02) : STEPS.filter((s) => s < now * 0.98).at(-1);
  return found ?? (direction > 0 ? LARGEST : Math.min(now, SMALLEST));
}

/** Returns a zoom within the steps, or as small as what is shown now. */
export function within(zoom: number, now: number): number {
  return Math.min(LARGEST, Math.max(Math.min(now, SMALLEST), zoom));
}

/** Pixels of a canvas along one side that every browser draws; more, and it stays white. */
const LONGEST_SIDE = 16_000;

/**
 * Returns how many device pixels a CSS pixel gets, so that a canvas stays within a number of
 * pixels, and of each side.
 */
export function density(width: number, height: number, wanted: number, max: number): number {
  return Math.min(wanted, Math.sqrt(max / (width * height)), LONGEST_SIDE / Math.max(width, height));
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
