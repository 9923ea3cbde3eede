import type { PDFDocumentProxy } from "pdfjs-dist";
import { CSS_UNITS, mostSeen, scaleOf, step, type Span, type Zoom } from "./layout.ts";
import { Page, type Size } from "./page.ts";

type Library = typeof import("pdfjs-dist");

/** Pages that keep their picture on each side of the one that is read. */
const KEEP = matchMedia("(pointer: coarse)").matches ? 2 : 4;
/** Documents of up to so many pages get all of their text, for the browser's own search. */
const MAX_TEXT = 200;

export interface Place {
  page: number;
  /** Share of the page above the window. */
  offset: number;
}

/** The document on the screen: where its pages lie, which are drawn, and how large. */
export class Reader {
  readonly pages: Page[] = [];
  current = 1;
  zoom: Zoom = "auto";

  private spans: Span[] = [];
  private drawing: Page | null = null;
  private scheduled = false;
  private idle: (() => Promise<unknown>)[] = [];

  constructor(
    private readonly library: Library,
    private readonly pdf: PDFDocumentProxy,
    private readonly root: HTMLElement,
    private readonly bar: HTMLElement,
    private readonly complete: boolean, // all of the file is here
    private readonly changed: (seen: number | null) => void,
  ) {}

  /** Puts all pages in their places, by the size of the first one. */
  async begin(first: HTMLElement | null): Promise<void> {
    const sample = await this.pdf.getPage(1);
    const { width, height } = sample.getViewport({ scale: 1 });
    const fragment = document.createDocumentFragment();
    for (let n = 1; n <= this.pdf.numPages; n++) {
      const page = new Page(n, this.pdf.numPages, this.library, this.pdf, { width, height }, (dest) => void this.follow(dest), n === 1 ? first : null);
      this.pages.push(page);
      if (n > 1 || !first) fragment.append(page.element);
    }
    this.root.append(fragment);
    this.layout();
    addEventListener("scroll", () => this.scrolled(), { passive: true });
    addEventListener("resize", () => this.resized());
    visualViewport?.addEventListener("resize", () => this.scrolled());
    if (this.complete && this.pages.length <= MAX_TEXT) {
      let other = false;
      for (const page of this.pages) other = (await page.learn()) || other;
      if (other) this.relayout();
    }
  }

  get area(): Size {
    const style = getComputedStyle(this.root);
    const sides = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight) + parseFloat(style.marginLeft);
    return { width: document.documentElement.clientWidth - sides, height: innerHeight - this.bar.offsetHeight - 24 };
  }

  /** Zoom as people say it: 1 is 100 %. */
  get level(): number {
    return (this.pages[this.current - 1]?.scale ?? CSS_UNITS) / CSS_UNITS;
  }

  private layout(): void {
    const area = this.area;
    for (const page of this.pages) page.place(scaleOf(this.zoom, page.size, area, page.number === 1));
    this.measure();
  }

  private measure(): void {
    const top = this.root.getBoundingClientRect().top;
    const offset = top + scrollY;
    this.spans = this.pages.map(({ element }) => ({ top: element.offsetTop - this.root.offsetTop + offset, height: element.offsetHeight }));
  }

  /** The part of the document that is below the bar. */
  private window(): { top: number; bottom: number } {
    const top = scrollY + Math.max(0, this.bar.getBoundingClientRect().bottom);
    return { top, bottom: scrollY + innerHeight };
  }

  place(): Place {
    const { top } = this.window();
    const span = this.spans[this.current - 1];
    return { page: this.current, offset: span ? (top - span.top) / span.height : 0 };
  }

  /** Goes to a page, to its beginning or to a share of it. */
  go(page: number, offset = 0): void {
    const n = Math.min(this.pages.length, Math.max(1, Math.round(page)));
    const span = this.spans[n - 1];
    if (!span) return;
    const gap = offset === 0 ? 8 : 0;
    scrollTo({ top: Math.max(0, span.top + offset * span.height - this.bar.offsetHeight - gap), behavior: "instant" });
    this.look();
  }

  /** Goes to a destination of the document, as its links and its table of contents have them. */
  async follow(dest: unknown): Promise<void> {
    const explicit = typeof dest === "string" ? await this.pdf.getDestination(dest) : (dest as unknown[] | null);
    const target = explicit?.[0];
    if (target === undefined || target === null) return;
    const index = typeof target === "number" ? target : await this.pdf.getPageIndex(target as never);
    const page = this.pages[index];
    if (!page) return;
    if (await page.learn()) this.relayout();
    const kind = (explicit?.[1] as { name?: string } | undefined)?.name;
    const y = kind === "XYZ" ? explicit?.[3] : kind === "FitH" || kind === "FitBH" ? explicit?.[2] : null;
    this.go(index + 1, typeof y === "number" ? Math.min(0.98, Math.max(0, 1 - y / page.size.height)) : 0);
    page.element.tabIndex = -1;
    page.element.focus({ preventScroll: true });
  }

  /**
   * Goes to the hit of a search that a page shows, unless it is in sight. The page is then the one that is read, as if the reader had turned to it.
   * wanted: it is still asked for when the page's text is there.
   */
  async reach(n: number, wanted: () => boolean): Promise<void> {
    const page = this.pages[n - 1]!;
    if (await page.learn()) this.relayout();
    await page.write().catch(() => undefined);
    if (!wanted()) return;
    const box = page.chosenBox;
    const top = Math.max(0, this.bar.getBoundingClientRect().bottom);
    const seen = box && box.top >= top + 8 && box.bottom <= innerHeight - 8;
    if (!seen || this.current !== n) {
      const span = this.spans[n - 1]!;
      const height = innerHeight - this.bar.offsetHeight;
      // A page that the window does not show as a whole fills it, with the hit at a third of its height.
      const middle = box ? box.top + scrollY - span.top - height / 3 : 0;
      this.go(n, span.height <= height ? 0 : Math.max(0, Math.min(middle, span.height - height)) / span.height);
    }
    const now = page.chosenBox;
    if (now && (now.left < 0 || now.right > document.documentElement.clientWidth)) scrollBy({ left: now.left - innerWidth / 3, behavior: "instant" });
  }

  /** Changes the size, and keeps the point under a place of the window where it is. */
  resize(zoom: Zoom, x = innerWidth / 2, y = innerHeight / 2): void {
    const at = this.point(x, y);
    this.zoom = zoom;
    this.layout();
    if (at) {
      const box = this.pages[at.index]!.element.getBoundingClientRect();
      scrollBy({ left: box.left + at.x * box.width - x, top: box.top + at.y * box.height - y, behavior: "instant" });
    }
    this.look();
  }

  bigger(direction: 1 | -1, x?: number, y?: number): void {
    this.resize(step(this.level, direction), x, y);
  }

  private point(x: number, y: number): { index: number; x: number; y: number } | null {
    for (const index of [this.current - 1, this.current, this.current - 2]) {
      const box = this.pages[index]?.element.getBoundingClientRect();
      if (box && box.top <= y && box.bottom >= y) return { index, x: (x - box.left) / box.width, y: (y - box.top) / box.height };
    }
    const box = this.pages[this.current - 1]?.element.getBoundingClientRect();
    return box ? { index: this.current - 1, x: (x - box.left) / box.width, y: (y - box.top) / box.height } : null;
  }

  /** Lays the document out again, and stays at the same place of it. */
  relayout(): void {
    const place = this.place();
    this.layout();
    if (place.page > 1 || place.offset > 0.01) this.go(place.page, place.offset);
    else this.look();
  }

  private lastWidth = innerWidth;

  private resized(): void {
    // On phones the height changes whenever the address bar comes and goes.
    if (innerWidth === this.lastWidth && this.zoom !== "page" && (this.zoom !== "auto" || matchMedia("(pointer: coarse)").matches)) {
      this.look();
      return;
    }
    this.lastWidth = innerWidth;
    this.relayout();
  }

  private scrolled(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame(() => {
      this.scheduled = false;
      this.look();
    });
  }

  /** Finds out what is seen, and draws it. */
  look(): void {
    const { top, bottom } = this.window();
    const atEnd = scrollY > 0 && scrollY + innerHeight >= document.documentElement.scrollHeight - 2;
    const seen = mostSeen(this.spans, top, bottom, atEnd);
    if (seen !== null) this.current = seen;
    this.changed(seen);
    void this.work();
  }

  /** Adds work for when all that is seen is drawn; what is in sight comes before what is not. */
  whenIdle(job: () => Promise<unknown>, inSight = false): void {
    if (inSight) this.idle.unshift(job);
    else this.idle.push(job);
    void this.work();
  }

  /** Pages that should be drawn, the most urgent first. */
  private wanted(): Page[] {
    const { top, bottom } = this.window();
    const visible = this.pages.filter((_, i) => this.spans[i]!.top < bottom && this.spans[i]!.top + this.spans[i]!.height > top);
    const near = [this.pages[this.current], this.pages[this.current - 2]].filter((p) => p !== undefined);
    visible.sort((a, b) => Math.abs(a.number - this.current) - Math.abs(b.number - this.current));
    return [...new Set([...visible, ...near])];
  }

  private async work(): Promise<void> {
    const wanted = this.wanted();
    if (this.drawing) {
      if (!wanted.includes(this.drawing)) this.drawing.cancel();
      return;
    }
    const page = wanted.find((p) => !p.drawn && !p.element.querySelector(".wrong-page"));
    if (!page) {
      for (const p of this.pages) if (Math.abs(p.number - this.current) > KEEP) p.forget();
      const unwritten = wanted.find((p) => !p.element.querySelector(".textLayer"));
      const job = unwritten ? () => unwritten.write() : this.idle.shift();
      if (!job) return;
      this.drawing = unwritten ?? this.pages[0]!;
      try {
        await job();
      } catch {
        if (unwritten) unwritten.element.append(Object.assign(document.createElement("div"), { className: "textLayer" })); // a page without text is still a page
      }
      this.drawing = null;
      return this.work();
    }
    this.drawing = page;
    try {
      const size = page.size;
      if (await page.learn()) {
        if (size.width !== page.size.width || size.height !== page.size.height) this.relayout();
      }
      await page.draw();
    } catch {
      page.fail(() => void this.work());
    }
    this.drawing = null;
    return this.work();
  }

  /** Writes the text of all pages while nothing else is to do, so that the browser finds words in all. */
  writeAll(): void {
    if (!this.complete || this.pages.length > MAX_TEXT) return;
    for (const page of this.pages) this.whenIdle(() => page.write());
  }
}
