// Where the fields of bars, funnels and grids lie, as package chart draws them. It knows nothing of the page.

/** Grid is the fields of a picture: its rows and columns, and where they begin. Sizes are in pixels. */
export interface Grid {
  rows: number;
  columns: number;
  left: number;
  top: number;
  width: number; // of all columns
  height: number; // of all rows
}

/** Field is one of a grid. */
export interface Field {
  row: number;
  column: number;
}

const gutter = 0.14; // of a grid's width, for the names of its rows
const head = 18; // above a grid, for those of its columns

/** gridOf returns the fields of a picture. Bars and funnels have one column and fill the picture. */
export function gridOf(heat: boolean, width: number, height: number, rows: number, columns: number): Grid {
  if (!heat) return { rows, columns: 1, left: 0, top: 0, width, height };
  return { rows, columns, left: gutter * width, top: head, width: (1 - gutter) * width, height: height - head };
}

/** fieldAt returns the field at a place; undefined beside them. */
export function fieldAt(g: Grid, x: number, y: number): Field | undefined {
  const [row, column] = [Math.floor(((y - g.top) / g.height) * g.rows), Math.floor(((x - g.left) / g.width) * g.columns)];
  return row >= 0 && row < g.rows && column >= 0 && column < g.columns ? { row, column } : undefined;
}

/** moved returns the field that a key leads to; undefined if the key means nothing here. */
export function moved(key: string, from: Field | undefined, g: Grid): Field | undefined {
  const last = { row: g.rows - 1, column: g.columns - 1 };
  if (key === "Home") return { row: 0, column: 0 };
  if (key === "End") return last;
  const [down, right] = { ArrowDown: [1, 0], ArrowUp: [-1, 0], ArrowRight: [0, 1], ArrowLeft: [0, -1] }[key] ?? [];
  if (down === undefined || right === undefined) return undefined;
  if (!from) return down + right > 0 ? { row: 0, column: 0 } : last;
  // In one column, all arrows lead along it.
  const along = g.columns === 1 ? down + right : down;
  return { row: Math.min(Math.max(from.row + along, 0), last.row), column: Math.min(Math.max(from.column + right, 0), last.column) };
}
