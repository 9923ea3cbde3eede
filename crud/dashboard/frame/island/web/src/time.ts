// One time, marked in every line chart of the screen, with its values. They are those of the charts' tables.
import { showIslands } from "./islands.ts";
import { nearest, step } from "./nearest.ts";
import { adopt } from "./style.ts";
import { label, rows, values } from "./table.ts";
import { say, word } from "./words.ts";

const pictures = "figure.chart > svg.timed";

// Of the marks of all charts.
const css = `.chart{position:relative}.at{position:absolute;z-index:2;top:16px;height:168px;border-left:1px solid var(--soft);pointer-events:none}
.at>p{position:absolute;top:0;left:8px;margin:0;padding:var(--s4) var(--s8);border-radius:var(--radius);background:var(--ink);color:var(--ground);font:400 var(--text-12)/1.4 var(--sans);white-space:pre}
.at.end>p{left:auto;right:8px}.at.field{border:1px solid var(--ink);border-radius:3px}.at.field>p{top:100%;left:0}.at.field.end>p{right:0}`;

/** showTimes lets the keyboard reach the charts that are drawn, and offers to explore those that can be. */
export function showTimes(): void {
  for (const svg of document.querySelectorAll<SVGSVGElement>(pictures)) {
    svg.setAttribute("tabindex", "0");
    if (!svg.dataset.step || rows(svg).length < 3 || svg.parentElement?.querySelector(".explore-this")) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "link explore-this";
    button.textContent = word("explore");
    button.addEventListener("click", () => explore(svg));
    svg.after(button);
  }
}

/** explore lays a chart to explore over a picture. Its script comes now. */
function explore(svg: SVGSVGElement): void {
  if (svg.parentElement?.querySelector(".explore")) return;
  const root = document.createElement("div");
  root.className = "explore";
  root.dataset.island = "explore";
  root.addEventListener("failed", () => {
    root.remove();
    say(word("failed"));
  });
  svg.after(root);
  showIslands();
}

/** startTimes follows the pointer and the keys. */
export function startTimes(): void {
  adopt(css);
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
  return values(row, svg).join(", ");
}

function put(svg: SVGSVGElement, row: HTMLTableRowElement, index: number, count: number): void {
  const place = count < 2 ? 0.5 : index / (count - 1);
  const line = document.createElement("div");
  line.className = place > 0.5 ? "at end" : "at";
  line.dataset.row = String(index);
  line.style.left = `${place * width(svg)}px`;
  line.setAttribute("aria-hidden", "true"); // it is announced
  const text = document.createElement("p");
  text.textContent = values(row, svg).join("\n");
  line.append(text);
  svg.parentElement?.append(line);
}
