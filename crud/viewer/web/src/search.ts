import type { PDFDocumentProxy } from "pdfjs-dist";
import { hits, read, wanted, type Hit, type Piece, type Text } from "./find.ts";
import type { Reader } from "./reader.ts";
import { figure, say } from "./words.ts";

/** More hits than this help no one; they are counted as "1,000+". */
const MAX_HITS = 1_000;
/** Typing that pauses for so long is searched for, in milliseconds. */
const PAUSE_MS = 150;

/** The search of the document: a bar with a field, and hits on the pages. What is typed stays in the window. */
export class Search {
  private readonly form: HTMLFormElement;
  private readonly field: HTMLInputElement;
  private readonly status: HTMLElement;
  private readonly texts: (Text | undefined)[] = []; // of pages that were read
  private found: Hit[][] = []; // by page
  private looked = "";
  private at: { page: number; hit: number } | null = null;
  private run = 0; // a search that another one replaced stops
  private timer = 0;
  private before: Element | null = null; // had the focus

  constructor(
    private readonly pdf: PDFDocumentProxy,
    private readonly reader: Reader,
    find: <T extends HTMLElement>(id: string) => T,
  ) {
    this.form = find<HTMLFormElement>("search");
    this.field = find<HTMLInputElement>("query");
    this.status = find("hits");
    this.field.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => void this.start(), PAUSE_MS);
    });
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.step(1);
    });
    this.form.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && event.shiftKey) this.step(-1);
      else if (event.key === "Escape") this.close();
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
    find("search-previous").addEventListener("click", () => this.step(-1));
    find("search-close").addEventListener("click", () => this.close());
  }

  get shown(): boolean {
    return !this.form.hidden;
  }

  /** Whether the words are being typed, so that the same keys once more mean the browser's own search. */
  get typing(): boolean {
    return document.activeElement === this.field;
  }

  /** Shows the field, with the words of last time or those that are selected. */
  open(): void {
    const selected = getSelection()?.toString().trim() ?? "";
    if (selected !== "" && selected.length <= 100 && !selected.includes("\n")) this.field.value = selected;
    if (!this.shown) this.before = document.activeElement;
    this.form.hidden = false;
    document.documentElement.dataset.search = "";
    this.field.focus();
    this.field.select();
    void this.start();
  }

  close(): void {
    clearTimeout(this.timer);
    this.run++;
    this.looked = "";
    this.form.hidden = true;
    delete document.documentElement.dataset.search;
    this.forget();
    // A hidden field keeps the focus until the page is painted, and would take the next key.
    if (document.activeElement instanceof HTMLElement && this.form.contains(document.activeElement)) document.activeElement.blur();
    if (this.before instanceof HTMLElement && this.before.isConnected) this.before.focus({ preventScroll: true });
    this.before = null;
  }

  /** Goes to the next hit, or the one before, and around the ends of the document. */
  step(by: 1 | -1): void {
    if (wanted(this.field.value) !== this.looked) {
      void this.start();
      return;
    }
    if (!this.at) return;
    let { page, hit } = this.at;
    hit += by;
    while (!this.found[page - 1]?.[hit]) {
      page = (page - 1 + by + this.pdf.numPages) % this.pdf.numPages + 1;
      hit = by > 0 ? 0 : (this.found[page - 1]?.length ?? 0) - 1;
    }
    this.choose(page, hit);
  }

  private forget(): void {
    this.at = null;
    this.found = [];
    this.status.textContent = "";
    for (const page of this.reader.pages) page.highlight([]);
  }

  /** Searches all pages, those behind the one that is read first. */
  private async start(): Promise<void> {
    clearTimeout(this.timer);
    const looked = wanted(this.field.value);
    if (looked === this.looked) return;
    const run = ++this.run;
    this.forget();
    this.looked = looked;
    if (looked === "") return;
    const from = this.reader.current;
    let total = 0;
    let letters = false;
    for (let i = 0; i < this.pdf.numPages && total < MAX_HITS; i++) {
      const page = (from - 1 + i) % this.pdf.numPages + 1;
      const text = (this.texts[page - 1] ??= await this.text(page));
      if (run !== this.run) return;
      letters ||= text.folded !== "";
      const found = hits(text, looked, MAX_HITS - total);
      if (found.length === 0) continue;
      total += found.length;
      this.found[page - 1] = found;
      if (this.at) {
        this.reader.pages[page - 1]!.highlight(found);
        this.tell();
      } else this.choose(page, 0);
    }
    this.tell(say(letters ? "search.none" : "search.pictures"));
  }

  private async text(page: number): Promise<Text> {
    try {
      const { items } = await (await this.pdf.getPage(page)).getTextContent();
      return read(items.filter((item): item is typeof item & Piece => "str" in item));
    } catch {
      return read([]); // a page without text is still a page
    }
  }

  /** Says which hit is shown, and of how many; without a hit it says none. */
  private tell(none = ""): void {
    const total = this.found.reduce((sum, of) => sum + of.length, 0);
    if (!this.at) {
      this.status.textContent = none;
      return;
    }
    const before = this.found.slice(0, this.at.page - 1).reduce((sum, of) => sum + of.length, 0);
    this.status.textContent = say("search.hit", { n: figure(before + this.at.hit + 1), total: figure(total) + (total < MAX_HITS ? "" : "+") });
  }

  private choose(page: number, hit: number): void {
    if (this.at && this.at.page !== page) this.reader.pages[this.at.page - 1]!.highlight(this.found[this.at.page - 1]!);
    this.at = { page, hit };
    this.reader.pages[page - 1]!.highlight(this.found[page - 1]!, hit);
    this.tell();
    void this.reader.reach(page, () => this.at?.page === page && this.at.hit === hit);
  }
}
