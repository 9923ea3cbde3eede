import assert from "node:assert/strict";
import { test } from "node:test";

import { nearest, step } from "../src/nearest.ts";

test("the nearest of the points is found, also beside the chart", () => {
  assert.deepEqual([-5, 0, 49, 51, 100, 150, 200, 999].map((x) => nearest(x, 200, 3)), [0, 0, 0, 1, 1, 2, 2, 2]);
  assert.equal(nearest(50, 200, 1), 0);
  assert.equal(nearest(50, 0, 3), 0);
});

test("keys lead from point to point and stay in the chart", () => {
  assert.equal(step("ArrowRight", -1, 3), 0);
  assert.equal(step("ArrowLeft", -1, 3), 2);
  assert.equal(step("ArrowRight", 2, 3), 2);
  assert.equal(step("ArrowLeft", 0, 3), 0);
  assert.equal(step("Home", 2, 3), 0);
  assert.equal(step("End", 0, 3), 2);
  assert.equal(step("a", 0, 3), undefined);
  assert.equal(step("End", 0, 0), undefined);
});
