import assert from "node:assert/strict";
import { test } from "node:test";

import { place, shorten } from "../src/drawing.ts";

test("a name is shortened by letters, as the server does", () => {
  assert.equal(shorten("Northwind Research"), "Northwind Research");
  assert.equal(shorten("ä".repeat(26)), "ä".repeat(26));
  assert.equal(shorten("😀".repeat(27)), `${"😀".repeat(25)}…`);
});

test("a square logo stands before the name, a wide one in its place", () => {
  assert.deepEqual(place(undefined), { width: 0, nameAt: 24, worded: false });
  assert.deepEqual(place({ url: "", width: 64, height: 64 }), { width: 16, nameAt: 46, worded: false });
  assert.deepEqual(place({ url: "", width: 2000, height: 100 }), { width: 100, nameAt: 130, worded: true });
});
