import type { Reader } from "./reader.ts";
import { say } from "./words.ts";

const WIDTH = 128;

/** Thumbnails of the pages beside the document. Each is drawn when it comes into view. */
export class Rail {
  private readonly buttons: HTMLButtonElement[] = [];
  private filled = false;

  constructor(
    private readonly rail: HTMLElement,
    private readonly list: HTMLElement,
    private readonly toggle: HTMLElement,
    private readonly reader: Reader,
    private readonly chosen: (page: number) => void,
  ) {
    toggle.addEventListener("click", () => this.show(!this.shown));
    for (const button of rail.querySelectorAll<HTMLElement>("[data-shows]")) {
      button.addEventListener("click", () => this.choose(button.dataset.shows!));
    }
  }

  /** Shows the thumbnails or the contents. */
  choose(what: string): void {
    this.rail.dataset.shown = what;
    for (const button of this.rail.querySelectorAll<HTMLElement>("[data-shows]")) {
      button.setAttribute("aria-pressed", String(button.dataset.shows === what));
    }
    this.refresh();
  }

  /** Closes it where it covers the document. */
  done(): void {
    if (!matchMedia("(min-width: 1100px)").matches) this.show(false);
  }

  /** Whether it is there to see: on wide windows it is, until the reader hides it. */
  get shown(): boolean {
    return getComputedStyle(this.rail).display !== "none";
  }

  show(shown: boolean): void {
    document.documentElement.dataset.rail = shown ? "open" : "closed";
    this.refresh();
    this.reader.relayout();
  }

  /** Fills it once it is shown. */
  refresh(): void {
    const { shown } = this;
    this.toggle.setAttribute("aria-expanded", String(shown));
    if (!shown) return;
    if (!this.filled) this.make();
    this.mark(this.reader.current);
  }

  /** Marks the page that is read. */
  mark(page: number): void {
    if (!this.filled) return;
    for (const button of this.buttons) button.removeAttribute("aria-current");
    const button = this.buttons[page - 1];
    button?.setAttribute("aria-current", "page");
    if (button && this.shown) {
      const box = button.getBoundingClientRect();
      const frame = this.rail.getBoundingClientRect();
      if (box.top < frame.top || box.bottom > frame.bottom) this.rail.scrollTop += box.top - frame.top - frame.height / 2 + box.height / 2;
    }
  }

  private make(): void {
    this.filled = true;
    const watch = new IntersectionObserver((entries) => {
      for (const { isIntersecting, target } of entries.reverse()) { // each goes to the front
        if (!isIntersecting) continue;
        watch.unobserve(target);
        this.reader.whenIdle(() => this.draw(target as HTMLElement), true);
      }
    }, { root: this.rail, rootMargin: "200px" });
    for (const page of this.reader.pages) {
      const button = document.createElement("button");
      button.type = "button";
      button.setAttribute("aria-label", say("page", { n: page.number }));
      const leaf = document.createElement("span");
      leaf.className = "leaf";
      leaf.dataset.page = String(page.number);
      leaf.style.aspectRatio = `${page.size.width} / ${page.size.height}`;
      const number = document.createElement("span");
      number.textContent = String(page.number);
      button.append(leaf, number);
      button.addEventListener("click", () => {
        this.chosen(page.number);
        this.done();
      });
      const item = document.createElement("li");
      item.append(button);
      this.list.append(item);
      this.buttons.push(button);
      watch.observe(leaf);
    }
  }

  private async draw(leaf: HTMLElement): Promise<void> {
    const page = this.reader.pages[Number(leaf.dataset.page) - 1]!;
    const canvas = await page.picture(Math.round(WIDTH * Math.min(2, devicePixelRatio)));
    canvas.setAttribute("aria-hidden", "true");
    leaf.style.aspectRatio = `${page.size.width} / ${page.size.height}`;
    leaf.append(canvas);
  }
}
