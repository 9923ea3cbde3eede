// One time, marked in every line chart of the screen, with its values. They are those of the charts' tables.
import { nearest, step } from "./nearest.ts";
import { say } from "./words.ts";

const pictures = "figure.chart > svg.timed";

/** showTimes lets the keyboard reach the charts that are drawn. */
export function showTimes(): void {
  for (const svg of document.querySelectorAll(pictures)) svg.setAttribute("tabindex", "0");
}

/** startTimes follows the pointer and the keys. */
export function startTimes(): void {
  let under = false; // the pointer is over a chart
  document.addEventListener("pointermove", (e) => {
    const svg = (e.target as Element).closest<SVGSVGElement>(pictures);
    if (!svg) {
      if (under) clear();
      under = false;
      return;
    }
    under = true;
    mark(svg, nearest(e.clientX - svg.getBoundingClientRect().left, width(svg), rows(svg).length));
  });
  document.documentElement.addEventListener("pointerleave", () => {
    if (under) clear();
    under = false;
  });
  document.addEventListener("keydown", (e) => {
    const svg = e.target as SVGSVGElement;
    if (e.ctrlKey || e.metaKey || e.altKey || !svg.matches?.(pictures)) return;
    if (e.key === "Escape") {
      clear();
      return;
    }
    const at = Number(svg.parentElement?.querySelector<HTMLElement>(".at")?.dataset.row ?? -1);
    const to = step(e.key, at, rows(svg).length);
    if (to === undefined) return;
    e.preventDefault();
    say(mark(svg, to));
  });
  document.addEventListener("focusout", (e) => {
    if ((e.target as Element).matches?.(pictures)) clear();
  });
}

function rows(svg: Element): HTMLTableRowElement[] {
  return [...(svg.parentElement?.querySelectorAll<HTMLTableRowElement>("tbody tr") ?? [])];
}

function label(row: HTMLTableRowElement): string {
  return row.cells[0]?.textContent?.trim() ?? "";
}

/** width is that of the lines: the names at their ends stand beside them. */
function width(svg: SVGSVGElement): number {
  return svg.getBoundingClientRect().width - parseFloat(getComputedStyle(svg).paddingRight || "0");
}

function clear(): void {
  for (const old of document.querySelectorAll(".at")) old.remove();
}

/** mark marks the time of a row of one chart in all of them, and returns the values of that chart. */
function mark(svg: SVGSVGElement, index: number): string {
  const row = rows(svg)[index];
  clear();
  if (!row) return "";
  const time = label(row);
  for (const other of document.querySelectorAll<SVGSVGElement>(pictures)) {
    const all = rows(other);
    const at = other === svg ? index : all.findIndex((r) => label(r) === time);
    const found = all[at];
    if (found) put(other, found, at, all.length);
  }
  return values(row).join(", ");
}

/** values are the time of a row, and each number with the name of its column. */
function values(row: HTMLTableRowElement): string[] {
  const heads = row.closest("table")?.tHead?.rows[0]?.cells;
  return [...row.cells].map((cell, i) => {
    const text = cell.textContent?.trim() ?? "";
    return i === 0 ? text : `${heads?.[i]?.textContent?.trim() ?? ""} ${text}`.trim();
  });
}

function put(svg: SVGSVGElement, row: HTMLTableRowElement, index: number, count: number): void {
  const place = count < 2 ? 0.5 : index / (count - 1);
  const line = document.createElement("div");
  line.className = place > 0.5 ? "at end" : "at";
  line.dataset.row = String(index);
  line.style.left = `${place * width(svg)}px`;
  line.setAttribute("aria-hidden", "true"); // it is announced
  const text = document.createElement("p");
  text.textContent = values(row).join("\n");
  line.append(text);
  svg.parentElement?.append(line);
}
