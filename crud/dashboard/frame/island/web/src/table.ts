// The table behind a chart: its numbers, and the words for them.

/** rows are the lines of the table beside a picture. */
export function rows(picture: Element): HTMLTableRowElement[] {
  return [...(picture.parentElement?.querySelectorAll<HTMLTableRowElement>("tbody tr") ?? [])];
}

/** heads are the names of its columns. */
export function heads(row: HTMLTableRowElement): string[] {
  return [...(row.closest("table")?.tHead?.rows[0]?.cells ?? [])].map(text);
}

/** text is what a cell says. */
export function text(cell: Element | undefined): string {
  return cell?.textContent?.trim() ?? "";
}

/** label is the name of a line. */
export function label(row: HTMLTableRowElement): string {
  return text(row.cells[0]);
}

/** values are the name of a line, and each number that the picture shows with the name of its column. A table may have more. */
export function values(row: HTMLTableRowElement, picture?: Element): string[] {
  const names = heads(row);
  const kinds = (picture as HTMLElement | undefined)?.dataset.kinds;
  return [...row.cells].slice(0, kinds ? kinds.split(" ").length + 1 : undefined).map((cell, i) => (i === 0 ? text(cell) : `${names[i] ?? ""} ${text(cell)}`.trim()));
}
