import assert from "node:assert/strict";
import { test } from "node:test";
import { paleLines } from "../src/bleed.ts";

test("half-covered lines at the edge of a dark page are found, and nothing else", () => {
  const edge = (...lines: number[]) => paleLines(100, (depth) => lines[depth]!);
  assert.equal(edge(140, 20, 20, 20, 20), 1);
  assert.equal(edge(255, 140, 20, 20, 20), 2);
  assert.equal(edge(20, 20, 20, 20, 20), 0);
  assert.equal(edge(255, 255, 255, 255, 255), 0, "a white page");
  assert.equal(edge(0, 0, 0, 0, 20), 0, "darker");
  // A white margin with a dark figure that reaches the edge in some rows.
  assert.equal(paleLines(100, (depth, i) => (i < 40 && depth > 0 ? 20 : 255)), 0);
});
