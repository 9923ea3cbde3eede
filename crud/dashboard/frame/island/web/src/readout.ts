// The number under the pointer, or at the keys, in bars, a funnel or a grid. Its words are those of the table behind.
import { fill } from "./fill.ts";
import { fieldAt, gridOf, moved, type Field, type Grid } from "./grid.ts";
import { heads, label, rows, text, values } from "./table.ts";
import { say } from "./words.ts";

/** start follows the pointer and the keys in a picture, and returns what ends that. */
export function start(svg: HTMLElement | SVGElement): () => void {
  let at: Field | undefined;
  let mark: HTMLElement | undefined;
  const end = new AbortController();
  const on = <K extends keyof HTMLElementEventMap>(type: K, fn: (e: HTMLElementEventMap[K]) => void) =>
    (svg as HTMLElement).addEventListener(type, fn, { signal: end.signal });

  const grid = (): Grid => {
    const { width, height } = svg.getBoundingClientRect();
    const all = rows(svg);
    return gridOf(svg.matches(".heat"), width, height, all.length, (all[0]?.cells.length ?? 1) - 1);
  };

  /** put marks a field with its words, and returns them. Without a field, nothing is marked. */
  const put = (field: Field | undefined): string => {
    const row = field && rows(svg)[field.row];
    const found = row ? wordsOf(svg, row, field.column) : [];
    svg.style.cursor = row && linkOf(row) ? "pointer" : "";
    if (row && mark && at?.row === field.row && at.column === field.column) return found.join(", ");
    mark?.remove();
    at = row && field;
    if (!row) return "";
    const g = grid();
    const [width, height] = [g.width / g.columns, g.height / g.rows];
    mark = document.createElement("div");
    mark.className = `at field${field.column > g.columns / 2 ? " end" : ""}`;
    mark.setAttribute("aria-hidden", "true"); // it is announced
    Object.assign(mark.style, { left: `${g.left + field.column * width}px`, top: `${g.top + field.row * height}px`, width: `${width}px`, height: `${height}px` });
    const words = document.createElement("p");
    words.textContent = found.join("\n");
    mark.append(words);
    svg.parentElement?.append(mark);
    return found.join(", ");
  };

  /** open leads to the people behind the marked field, as its row in the table does. */
  const open = (): void => {
    const row = at && rows(svg)[at.row];
    if (row) linkOf(row)?.click();
  };

  svg.setAttribute("tabindex", "0");
  on("pointermove", (e) => {
    const box = svg.getBoundingClientRect();
    put(fieldAt(grid(), e.clientX - box.left, e.clientY - box.top));
  });
  on("click", () => open());
  on("pointerleave", () => put(undefined));
  on("blur", () => put(undefined));
  on("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === "Enter" && at) return open();
    const to = moved(e.key, at, grid());
    if (!to && e.key !== "Escape") return;
    e.preventDefault();
    say(put(to));
  });
  return () => {
    end.abort();
    mark?.remove();
  };
}

/** linkOf is the link of a row of the table. */
function linkOf(row: HTMLTableRowElement): HTMLAnchorElement | null {
  return row.querySelector("a");
}

/** wordsOf are the words for a field: those of the whole row, or in a grid those of one of its numbers. */
function wordsOf(svg: Element, row: HTMLTableRowElement, column: number): string[] {
  const across = (svg as HTMLElement).dataset.across;
  if (across === undefined) return values(row);
  return [`${label(row)}, ${fill(across, { at: heads(row)[column + 1] ?? "" })}`, text(row.cells[column + 1])];
}
