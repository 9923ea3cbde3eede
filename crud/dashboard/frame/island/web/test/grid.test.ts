import assert from "node:assert/strict";
import { test } from "node:test";

import { fieldAt, gridOf, moved } from "../src/grid.ts";

const bars = gridOf(false, 400, 120, 3, 2);
const week = gridOf(true, 1000, 18 + 7 * 22, 7, 24);

test("a field is found under the pointer, and none beside the grid", () => {
  assert.deepEqual(fieldAt(bars, 399, 41), { row: 1, column: 0 });
  assert.equal(fieldAt(bars, 10, 121), undefined);
  assert.equal(fieldAt(week, 139, 30), undefined, "names of rows");
  assert.equal(fieldAt(week, 300, 17), undefined, "names of columns");
  assert.deepEqual(fieldAt(week, 141, 19), { row: 0, column: 0 });
  assert.deepEqual(fieldAt(week, 999, 171), { row: 6, column: 23 });
});

test("arrows lead through the fields and stay in the grid", () => {
  assert.deepEqual(moved("ArrowDown", undefined, bars), { row: 0, column: 0 });
  assert.deepEqual(moved("ArrowUp", undefined, bars), { row: 2, column: 0 });
  assert.deepEqual(moved("ArrowRight", { row: 0, column: 0 }, bars), { row: 1, column: 0 });
  assert.deepEqual(moved("ArrowDown", { row: 2, column: 0 }, bars), { row: 2, column: 0 });
  assert.deepEqual(moved("ArrowRight", { row: 2, column: 5 }, week), { row: 2, column: 6 });
  assert.deepEqual(moved("ArrowUp", { row: 2, column: 5 }, week), { row: 1, column: 5 });
  assert.deepEqual(moved("End", undefined, week), { row: 6, column: 23 });
  assert.equal(moved("x", undefined, week), undefined);
});
