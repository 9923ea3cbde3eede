import assert from "node:assert/strict";
import { test } from "node:test";

import { Keys } from "../src/press.ts";

test("a letter after g leads to a place, once and soon", () => {
  const keys = new Keys();
  assert.equal(keys.press("r", 0), undefined);
  assert.equal(keys.press("g", 0), undefined);
  assert.deepEqual(keys.press("r", 1000), { place: 2 });
  assert.equal(keys.press("r", 1001), undefined);
  keys.press("g", 2000);
  assert.equal(keys.press("o", 4000), undefined);
});

test("m after g leads to the lead magnets", () => {
  const keys = new Keys();
  keys.press("g", 0);
  assert.equal(keys.press("m", 1), "magnets");
  assert.equal(keys.press("m", 2), undefined);
});

test("any other key after g means what it always means", () => {
  const keys = new Keys();
  keys.press("g", 0);
  assert.equal(keys.press("j", 1), "next");
  assert.equal(keys.press("o", 2), undefined);
  assert.equal(keys.press("/", 3), "search");
  assert.equal(keys.press("?", 4), "help");
  assert.equal(keys.press("k", 5), "before");
});
