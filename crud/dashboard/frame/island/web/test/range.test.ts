import assert from "node:assert/strict";
import { test } from "node:test";

import { closer, days, including, within } from "../src/range.ts";

test("a range lies in the chart and is no point", () => {
  assert.deepEqual(within(3.4, 6.6, 30), { first: 3, last: 7 });
  assert.deepEqual(within(8, 2, 30), { first: 2, last: 8 });
  assert.deepEqual(within(-4, 99, 30), { first: 0, last: 29 });
  assert.deepEqual(within(5, 5, 30), { first: 5, last: 6 });
  assert.deepEqual(within(29, 29, 30), { first: 28, last: 29 });
});

test("closer keeps the place that is looked at, and farther ends at the whole", () => {
  const all = { first: 0, last: 29 };
  const half = closer(all, 29, 0.5, 30);
  assert.deepEqual(half, { first: 14, last: 29 });
  assert.deepEqual(closer({ first: 10, last: 20 }, 15, 0.5, 30), { first: 12, last: 17 });
  let r = all;
  for (let i = 0; i < 10; i++) r = closer(r, 12, 0.5, 30);
  assert.equal(r.last - r.first, 1);
  for (let i = 0; i < 10; i++) r = closer(r, 12, 2, 30);
  assert.deepEqual(r, all);
});

test("a step beyond the edge moves the range", () => {
  assert.deepEqual(including({ first: 10, last: 15 }, 16, 30), { first: 11, last: 16 });
  assert.deepEqual(including({ first: 10, last: 15 }, 9, 30), { first: 9, last: 14 });
  assert.deepEqual(including({ first: 10, last: 15 }, 12, 30), { first: 10, last: 15 });
});

test("days of a range, also across a change of clocks", () => {
  assert.deepEqual(days({ first: 0, last: 2 }, "day", "2026-10-24"), { from: "2026-10-24", to: "2026-10-26" });
  assert.deepEqual(days({ first: 1, last: 2 }, "week", "2026-10-05"), { from: "2026-10-12", to: "2026-10-25" });
  assert.equal(days({ first: 0, last: 2 }, "hour", "2026-10-05"), undefined);
  assert.equal(days({ first: 0, last: 2 }, "day", ""), undefined);
});
