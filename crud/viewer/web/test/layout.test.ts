import assert from "node:assert/strict";
import { test } from "node:test";
import { CSS_UNITS, density, mostSeen, safeLink, scaleOf, step } from "../src/layout.ts";
import { uuidv7 } from "../src/uuid.ts";

const tall = [{ top: 0, height: 1000 }, { top: 1016, height: 1000 }, { top: 2032, height: 1000 }];
const small = Array.from({ length: 5 }, (_, i) => ({ top: i * 210, height: 200 }));

test("the page mostly seen", () => {
  assert.equal(mostSeen(tall, 0, 800), 1);
  assert.equal(mostSeen(tall, 500, 1300), 1);
  assert.equal(mostSeen(tall, 700, 1500), 2);
  assert.equal(mostSeen(tall, 1016, 1816), 2);
  assert.equal(mostSeen(tall, 5000, 5800), null);
  assert.equal(mostSeen([], 0, 800), null);
});

test("of several complete pages it is the one in the middle, and at the end the last", () => {
  assert.equal(mostSeen(small, 0, 640), 2);
  assert.equal(mostSeen(small, 400, 1040), 4);
  assert.equal(mostSeen(small, 400, 1040, true), 5);
});

test("zoom fits the width, but no wider than lines are read", () => {
  const a4 = { width: 595, height: 842 };
  const slide = { width: 960, height: 540 };
  assert.equal(scaleOf("width", a4, { width: 360, height: 600 }) * 595, 360);
  assert.equal(Math.round(scaleOf("width", a4, { width: 2000, height: 900 }) * 595), 860);
  assert.equal(scaleOf("width", slide, { width: 1200, height: 900 }) * 960, 1200);
  assert.equal(Math.round(scaleOf("page", a4, { width: 2000, height: 842 }) * 842), 842);
  assert.equal(scaleOf(1.5, a4, { width: 1, height: 1 }), 1.5 * CSS_UNITS);
});

test("a document opens with its first page as a whole, and goes on at a width that reads well", () => {
  const a5 = { width: 420, height: 595 };
  const desktop = { width: 1240, height: 828 };
  assert.equal(Math.round(scaleOf("auto", a5, desktop, true) * 595), 828);
  assert.equal(scaleOf("auto", a5, desktop), 1.25 * CSS_UNITS);
  assert.equal(scaleOf("width", a5, desktop), 1.25 * CSS_UNITS);
  assert.equal(scaleOf("auto", a5, { width: 360, height: 570 }) * 420, 360);
  assert.equal(scaleOf("auto", { width: 960, height: 540 }, desktop) * 960, 1240);
});

test("steps of zoom", () => {
  assert.equal(step(1, 1), 1.1);
  assert.equal(step(1, -1), 0.9);
  assert.equal(step(1.46, 1), 1.5);
  assert.equal(step(5, 1), 5);
  assert.equal(step(0.25, -1), 0.25);
});

test("a canvas stays within its pixels", () => {
  assert.equal(density(400, 600, 2, 16e6), 2);
  const d = density(4000, 6000, 2, 16e6);
  assert.ok(Math.abs(4000 * d * 6000 * d - 16e6) < 1);
});

test("documents lead to web pages and mail only", () => {
  assert.equal(safeLink("https://example.com/a b"), "https://example.com/a%20b");
  assert.equal(safeLink("mailto:ada@example.com"), "mailto:ada@example.com");
  for (const bad of ["javascript:alert(1)", " JAVASCRIPT:alert(1)", "data:text/html,x", "file:///etc/passwd", "vbscript:x", "blob:https://x/1", "//x", "x", "", null, undefined]) {
    assert.equal(safeLink(bad), null, String(bad));
  }
});

test("ids carry the time, and are not the same twice", () => {
  const a = uuidv7(0x018f_2233_4455);
  assert.match(a, /^018f2233-4455-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.notEqual(a, uuidv7(0x018f_2233_4455));
});
