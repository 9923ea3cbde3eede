import type { PDFDocumentProxy, PDFPageProxy, RenderTask } from "pdfjs-dist";
import { bleed } from "./bleed.ts";
import { isBlank, isDark, photographs, shade } from "./dark.ts";
import type { Shown } from "./destination.ts";
import type { Hit } from "./find.ts";
import { density, safeLink } from "./layout.ts";
import type { Size } from "./paper.ts";
import { boundSelection } from "./selection.ts";
import { structure } from "./structure.ts";
import { say } from "./words.ts";

type Library = typeof import("pdfjs-dist");

/** Actions by name that a link of a document may have: they turn pages, search, and no more. */
const ACTIONS = new Set(["NextPage", "PrevPage", "FirstPage", "LastPage", "GoBack", "GoToPage", "Find"]);

/** Maximum pixels of one canvas: on phones, and on desktops. */
const MAX_PIXELS = matchMedia("(pointer: coarse)").matches ? 6e6 : 16e6;

/**
 * Where a link within the document leads: to a destination, or to what an action of a name does.
 */
export interface Target {
  dest?: unknown;
  action?: string;
}

/** Seconds after which a page that is not drawn counts as one that cannot be, so that it holds up no other page. */
const LONGEST_S = 30;

/** One page in the document: its place, its picture, its text and its links. */
export class Page {
  readonly element: HTMLElement;
  size: Size;
  known = false; // the size is the page's own
  scale = 1;

  private proxy: PDFPageProxy | null = null;
  private canvas: HTMLCanvasElement | null = null;
  private drawnWidth = 0; // device pixels
  private over: HTMLCanvasElement | null = null; // photographs of the page, on dark paper
  private recorded = false; // where they are
  private task: RenderTask | null = null;
  private written: Promise<void> | null = null;
  private pieces: HTMLElement[] = []; // of the text
  private hits: readonly Hit[] = [];
  private chosen = -1;
  private marks: HTMLElement | null = null;

  constructor(
    readonly number: number,
    total: number,
    private readonly library: Library,
    private readonly pdf: PDFDocumentProxy,
    size: Size,
    private readonly follow: (target: Target) => void,
    existing: HTMLElement | null,
  ) {
    this.size = size;
    this.element = existing ?? document.createElement("div");
    this.element.id = "";
    this.element.classList.add("page");
    this.element.dataset.page = String(number);
    this.element.setAttribute("role", "group");
    this.element.setAttribute("aria-label", say("place", { n: number, total }));
  }

  /** Fetches the page and returns whether its size was not the one assumed. */
  async learn(): Promise<boolean> {
    if (this.proxy) return false;
    this.proxy = await this.pdf.getPage(this.number);
    const { width, height } = this.proxy.getViewport({ scale: 1 });
    const changed = width !== this.size.width || height !== this.size.height;
    this.size = { width, height };
    this.known = true;
    return changed;
  }

  /** The page as pdf.js shows it at a scale of 1, null before it is learned. */
  get shown(): Shown | null {
    return this.proxy?.getViewport({ scale: 1 }) as Shown | null ?? null;
  }

  /** Gives the page its place at a scale, in CSS pixels a point. */
  place(scale: number): void {
    this.scale = scale;
    const { style } = this.element;
    style.setProperty("--width", `${Math.max(1, Math.round(this.size.width * scale))}px`);
    style.setProperty("--height", `${Math.max(1, Math.round(this.size.height * scale))}px`);
    style.setProperty("--total-scale-factor", String(scale));
    style.setProperty("--scale-round-x", "1px");
    style.setProperty("--scale-round-y", "1px");
  }

  private wantedWidth(): number {
    const width = Math.max(1, Math.round(this.size.width * this.scale));
    const height = Math.max(1, Math.round(this.size.height * this.scale));
    const wanted = devicePixelRatio * Math.max(1, visualViewport?.scale ?? 1);
    return Math.max(1, Math.round(width * density(width, height, wanted, MAX_PIXELS)));
  }

  /** Whether the picture there is serves. */
  get drawn(): boolean {
    return this.canvas !== null && this.known && (this.recorded || !isDark()) && Math.abs(this.drawnWidth - this.wantedWidth()) <= 1;
  }

  /** Draws the page; the one drawn before stays until then. Resolves to false if it was given up. */
  async draw(): Promise<boolean> {
    await this.learn();
    const page = this.proxy!;
    const width = this.wantedWidth();
    const viewport = page.getViewport({ scale: width / this.size.width });
    const canvas = document.createElement("canvas");
    canvas.width = width;
    canvas.height = Math.max(1, Math.round(viewport.height));
    canvas.setAttribute("aria-hidden", "true");
    if (!this.canvas) this.element.classList.add("waiting");
    const recordImages = isDark();
    this.task = page.render({ canvas, viewport, recordImages });
    let seconds = 0;
    const watch = setInterval(() => {
      if (!document.hidden && ++seconds === LONGEST_S) this.task?.cancel(); // nothing is drawn in a hidden tab
    }, 1000);
    try {
      await this.task.promise;
      if (isBlank(canvas) && lacksImage(page)) throw new Error("the picture on the page cannot be decoded");
    } catch (error) {
      if (error instanceof this.library.RenderingCancelledException && seconds < LONGEST_S) return false;
      throw error;
    } finally {
      clearInterval(watch);
      this.task = null;
    }
    bleed(canvas);
    shade(canvas);
    this.canvas?.remove();
    this.over?.remove();
    this.over = recordImages && !canvas.classList.contains("shaded") ? photographs(canvas, page.imageCoordinates as ArrayLike<number> | null) : null;
    this.recorded = recordImages;
    this.canvas = canvas;
    this.drawnWidth = width;
    this.element.prepend(canvas);
    if (this.over) canvas.after(this.over);
    this.element.classList.remove("waiting");
    this.element.classList.add("drawn");
    this.element.querySelector(".wrong-page")?.remove();
    return true;
  }

  /** Whether the page says that it cannot be shown. */
  get wrong(): boolean {
    return this.element.querySelector(".wrong-page") !== null;
  }

  /** Says that the page cannot be shown, and offers to try again. */
  fail(again: () => void): void {
    this.element.classList.remove("waiting");
    this.element.classList.add("drawn"); // no picture stands in for it any more
    if (this.wrong) return;
    const box = document.createElement("div");
    box.className = "wrong-page";
    const words = document.createElement("span");
    words.textContent = say("failed", { n: this.number });
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = say("again");
    button.addEventListener("click", () => {
      box.remove();
      this.element.classList.remove("drawn");
      again();
    });
    box.append(words, button);
    this.element.append(box);
  }

  cancel(): void {
    this.task?.cancel();
  }

  /** Adds the text, for selecting and for being read out, and the links. */
  write(): Promise<void> {
    return (this.written ??= this.compose().catch((error: unknown) => {
      this.written = null;
      throw error;
    }));
  }

  private async compose(): Promise<void> {
    await this.learn();
    const page = this.proxy!;
    const text = document.createElement("div");
    text.className = "textLayer";
    try {
      const viewport = page.getViewport({ scale: 1 });
      const layer = new this.library.TextLayer({ textContentSource: page.streamTextContent({ includeMarkedContent: true }), container: text, viewport });
      await layer.render();
      text.style.width = text.style.height = ""; // as large as the page, at any scale
      boundSelection(text);
      this.element.append(text);
      this.pieces = layer.textDivs;
      this.mark();
      const tree = await structure(page, text, this.number);
      if (tree) this.element.append(tree);
      await this.link(page);
    } catch (error) {
      text.remove();
      throw error;
    }
  }

  /** Marks hits of a search, one of them as the one that is shown. A page that has no text yet marks them when it has. */
  highlight(hits: readonly Hit[], chosen = -1): void {
    this.hits = hits;
    this.chosen = chosen;
    this.mark();
  }

  private mark(): void {
    this.marks?.remove();
    this.marks = null;
    if (this.hits.length === 0 || this.pieces.length === 0) return;
    this.marks = document.createElement("div");
    this.marks.className = "marks";
    this.marks.setAttribute("aria-hidden", "true");
    const frame = this.element.getBoundingClientRect();
    const share = (value: number, of: number) => `${(100 * value) / of}%`;
    this.hits.forEach(({ from, start, to, end }, hit) => {
      for (let i = from; i <= to; i++) {
        const node = this.pieces[i]?.firstChild;
        if (!node) continue;
        const range = document.createRange();
        range.setStart(node, i === from ? start : 0);
        range.setEnd(node, i === to ? end : node.textContent!.length);
        const box = range.getBoundingClientRect();
        const mark = document.createElement("span");
        if (hit === this.chosen) mark.className = "chosen";
        mark.style.left = share(box.left - frame.left, frame.width);
        mark.style.top = share(box.top - frame.top, frame.height);
        mark.style.width = share(box.width, frame.width);
        mark.style.height = share(box.height, frame.height);
        this.marks!.append(mark);
      }
    });
    this.element.append(this.marks);
  }

  /** Where the hit that is shown lies in the window, null if it has no place. */
  get chosenBox(): DOMRect | null {
    return this.marks?.querySelector(".chosen")?.getBoundingClientRect() ?? null;
  }

  private async link(page: PDFPageProxy): Promise<void> {
    const viewport = page.getViewport({ scale: 1 });
    for (const annotation of await page.getAnnotations({ intent: "display" })) {
      if (annotation.subtype !== "Link" && !annotation.pushButton) continue;
      const url = safeLink(annotation.url);
      const target: Target | null = annotation.dest ? { dest: annotation.dest } : ACTIONS.has(annotation.action) ? { action: annotation.action } : null;
      if (!url && !target) continue; // scripts and other actions lead nowhere
      const [left, bottom, right, top] = annotation.rect as [number, number, number, number];
      const [x1, y1] = viewport.convertToViewportPoint(left, bottom) as [number, number];
      const [x2, y2] = viewport.convertToViewportPoint(right, top) as [number, number];
      const spot = document.createElement("a");
      spot.className = "link-spot";
      const share = (value: number, of: number) => `${(100 * value) / of}%`;
      spot.style.left = share(Math.min(x1, x2), this.size.width);
      spot.style.top = share(Math.min(y1, y2), this.size.height);
      spot.style.width = share(Math.abs(x2 - x1), this.size.width);
      spot.style.height = share(Math.abs(y2 - y1), this.size.height);
      if (url) {
        spot.href = url;
        spot.target = "_blank";
        spot.rel = "noopener noreferrer nofollow";
        spot.setAttribute("aria-label", (annotation.overlaidText as string | undefined)?.trim() || new URL(url).host || url);
        spot.title = url;
      } else {
        spot.href = "#";
        spot.setAttribute("aria-label", (annotation.overlaidText as string | undefined)?.trim() || say("link"));
        spot.addEventListener("click", (event) => {
          event.preventDefault();
          this.follow(target!);
        });
      }
      this.element.append(spot);
    }
  }

  /** Gives back the memory of the picture. */
  forget(): void {
    this.cancel();
    if (!this.canvas) return;
    this.canvas.width = this.canvas.height = 0; // some browsers keep the pixels of a canvas that is gone
    this.canvas.remove();
    this.canvas = null;
    if (this.over) this.over.width = this.over.height = 0;
    this.over?.remove();
    this.over = null;
    this.recorded = false;
    this.drawnWidth = 0;
    this.element.classList.remove("drawn");
    this.proxy?.cleanup();
  }

  /**
   * Draws a picture of the page apart from the document, so many pixels wide; to be printed, as it
   * should be on paper.
   */
  async picture(width: number, intent: "display" | "print" = "display"): Promise<HTMLCanvasElement> {
    await this.learn();
    const viewport = this.proxy!.getViewport({ scale: width / this.size.width });
    const canvas = document.createElement("canvas");
    canvas.width = Math.max(1, Math.round(viewport.width));
    canvas.height = Math.max(1, Math.round(viewport.height));
    await this.proxy!.render({ canvas, viewport, intent }).promise;
    bleed(canvas);
    shade(canvas);
    return canvas;
  }
}

/** Whether the page has a picture that pdf.js left out, because it could not decode it. */
function lacksImage(page: PDFPageProxy): boolean {
  for (const [, value] of (page as unknown as { objs: Iterable<[string, unknown]> }).objs) if (value === null) return true;
  return false;
}
