import type { PDFDocumentProxy } from "pdfjs-dist";
import { shareAbove } from "./destination.ts";
import { CSS_UNITS, firstBelow, heightOf, mostSeen, placeAt, scaleOf, step, Turns, type Place, type Span, type Zoom } from "./layout.ts";
import { Page, type Target } from "./page.ts";
import type { Size } from "./paper.ts";

type Library = typeof import("pdfjs-dist");

/** Pages that keep their picture on each side of the one that is read. */
const KEEP = matchMedia("(pointer: coarse)").matches ? 2 : 4;
/** Documents of up to so many pages get all of their text, for the browser's own search. */
const MAX_TEXT = 200;

/** Size in points of a page that nothing is known of. */
const A4: Size = { width: 595, height: 842 };
/** Pixels between the bar and a page that was turned to. */
const GAP = 8;
/** A page that was turned to is read until the window moves further than this. */
const NUDGE = 32;

/** The document on the screen: where its pages lie, which are drawn, and how large. */
export class Reader {
  readonly pages: Page[] = [];
  current = 1;
  zoom: Zoom = "auto";

  /** What named actions of the document do, by their names, beside those that turn pages. */
  readonly actions: Record<string, (() => void) | undefined> = {
    NextPage: () => this.go(this.current + 1),
    PrevPage: () => this.go(this.current - 1),
    FirstPage: () => this.go(1),
    LastPage: () => this.go(this.pages.length),
    GoBack: () => this.back(),
  };

  private spans: Span[] = [];
  private top: Place = { page: 1, share: 0, beyond: -GAP }; // what lies below the bar
  private settled = 0; // scrollY when that was last so
  private turned: { page: number; at: number } | null = null; // the page that was asked for, and scrollY then
  private readonly turns = new Turns(() => performance.now(), (ms) => {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.look(), ms);
  });
  private waiting: ReturnType<typeof setTimeout> | undefined;
  private followed: { page: number; top: Place }[] = []; // places from which links led away
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
    private readonly failed: (page: number) => void,
  ) {}

  /**
   * Puts all pages in their places, by the size of the first one. Resolves to false if no page can
   * be shown.
   */
  async begin(first: HTMLElement | null): Promise<boolean> {
    const size = await this.pdf.getPage(1).then((page) => page.getViewport({ scale: 1 }), () => A4);
    const fragment = document.createDocumentFragment();
    for (let n = 1; n <= this.pdf.numPages; n++) {
      const { width, height } = size;
      const page = new Page(n, this.pdf.numPages, this.library, this.pdf, { width, height }, (to) => void this.follow(to), n === 1 ? first : null);
      this.pages.push(page);
      if (n > 1 || !first) fragment.append(page.element);
    }
    this.root.append(fragment);
    this.layout();
    this.rest();
    addEventListener("scroll", () => this.scrolled(), { passive: true });
    addEventListener("resize", () => this.resized());
    visualViewport?.addEventListener("resize", () => this.scrolled());
    if (this.complete && this.pages.length <= MAX_TEXT) {
      let wrong = 0;
      for (const page of this.pages) await page.learn().catch(() => wrong++);
      if (wrong === this.pages.length) return false;
      this.relayout();
    }
    return true;
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

  /** What lies below the bar, for restore(). */
  place(): Place {
    return this.top;
  }

  /** Turns to a page: to its beginning, or to a share of it. */
  go(page: number, share = 0): void {
    const n = Math.min(this.pages.length, Math.max(1, Math.round(page)));
    this.restore(n, { page: n, share, beyond: share === 0 ? -this.gap(n) : 0 });
  }

  /** The space above a page: the first one has that of the document. */
  private gap(page: number): number {
    return page === 1 ? (this.spans[0]?.top ?? 0) - this.bar.offsetHeight : GAP;
  }

  /** Turns to a page, with a place of the document below the bar. */
  restore(page: number, top: Place): void {
    if (this.pages.length === 0) return;
    this.current = Math.min(this.pages.length, page);
    this.top = top;
    this.settle();
    this.turned = { page: this.current, at: this.settled };
    this.look();
  }

  /** Scrolls so that the place is below the bar which should be there. */
  private settle(): void {
    const y = Math.max(0, heightOf(this.spans, this.top) - this.bar.offsetHeight);
    if (Math.abs(y - scrollY) >= 1) scrollTo({ top: y, behavior: "instant" });
    this.settled = scrollY;
  }

  /** Whether someone scrolled. */
  private get moved(): boolean {
    return Math.abs(scrollY - this.settled) >= 1;
  }

  /** Takes what is below the bar now as the place that should be there. */
  private rest(): void {
    this.settled = scrollY;
    this.top = placeAt(this.spans, scrollY + this.bar.offsetHeight);
  }

  /** Goes where a link leads, within the document. */
  async follow({ dest, action }: Target): Promise<void> {
    if (action) {
      this.actions[action]?.();
      return;
    }
    const explicit = typeof dest === "string" ? await this.pdf.getDestination(dest).catch(() => null) : (dest as unknown[] | null);
    const target = explicit?.[0];
    if (!explicit || target === undefined || target === null) return;
    const index = typeof target === "number" ? target : await this.pdf.getPageIndex(target as never).catch(() => -1);
    const page = this.pages[index];
    if (!page) return;
    this.followed.push({ page: this.current, top: this.top });
    if (await page.learn().catch(() => false)) this.relayout();
    this.go(index + 1, Math.min(0.98, page.shown ? shareAbove(explicit, page.shown) : 0));
    page.element.tabIndex = -1;
    page.element.focus({ preventScroll: true });
  }

  /** Returns to where the last link was. */
  private back(): void {
    const from = this.followed.pop();
    if (from) this.restore(from.page, from.top);
  }

  /**
   * Goes to the hit of a search that a page shows, unless it is in sight. The page is then the one that is read, as if the reader had turned to it.
   * wanted: it is still asked for when the page's text is there.
   */
  async reach(n: number, wanted: () => boolean): Promise<void> {
    const page = this.pages[n - 1]!;
    if (await page.learn().catch(() => false)) this.relayout();
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
    const { element } = this.pages[Math.min(firstBelow(this.spans, scrollY + y), this.pages.length - 1)]!;
    const before = element.getBoundingClientRect();
    const at = { x: (x - before.left) / before.width, y: (y - before.top) / before.height };
    this.zoom = zoom;
    this.layout();
    const box = element.getBoundingClientRect();
    scrollBy({ left: box.left + at.x * box.width - x, top: box.top + at.y * box.height - y, behavior: "instant" });
    this.rest();
    if (this.turned) this.turned.at = this.settled;
    this.look();
  }

  bigger(direction: 1 | -1, x?: number, y?: number): void {
    this.resize(step(this.level, direction), x, y);
  }

  /** Lays the document out again, and stays at the same place of it. */
  relayout(): void {
    if (this.moved) this.rest();
    this.layout();
    this.settle();
    if (this.turned) this.turned.at = this.settled;
    this.look();
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
    if (this.moved) this.rest();
    const { top, bottom } = this.window();
    const span = this.turned && this.spans[this.turned.page - 1]!;
    const there = span && span.top < bottom && span.top + span.height > top && Math.abs(scrollY - this.turned!.at) <= NUDGE;
    if (!there) this.turned = null;
    const way = document.documentElement.scrollHeight - innerHeight;
    const most = mostSeen(this.spans, top, bottom, way > 0 ? Math.min(1, Math.max(0, scrollY / way)) : 0);
    const seen = this.turned?.page ?? (most && this.turns.next(this.current, most, this.spans, top, bottom));
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
    for (const p of this.pages) if (Math.abs(p.number - this.current) > KEEP && !wanted.includes(p)) p.forget();
    const page = wanted.find((p) => !p.drawn && !p.wrong);
    if (!page) {
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
      if (await page.learn()) this.relayout();
      await page.draw();
    } catch {
      page.fail(() => void this.work());
      this.failed(page.number);
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
