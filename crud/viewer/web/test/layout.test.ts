import assert from "node:assert/strict";
import { test } from "node:test";
import { CSS_UNITS, density, heightOf, mostSeen, placeAt, safeLink, scaleOf, step, Turns, within } from "../src/layout.ts";
import { uuidv7 } from "../src/uuid.ts";

const tall = [{ top: 0, height: 1000 }, { top: 1016, height: 1000 }, { top: 2032, height: 1000 }];
const small = Array.from({ length: 5 }, (_, i) => ({ top: i * 210, height: 200 }));

test("the page mostly seen", () => {
  assert.equal(mostSeen(tall, 0, 800, 0), 1);
  assert.equal(mostSeen(tall, 500, 1300, 0.2), 1);
  assert.equal(mostSeen(tall, 700, 1500, 0.3), 2);
  assert.equal(mostSeen(tall, 1016, 1816, 0.5), 2);
  assert.equal(mostSeen(tall, 5000, 5800, 1), null);
  assert.equal(mostSeen([], 0, 800, 0), null);
});

test("of several complete pages it is the first at the beginning, and the last at the end", () => {
  assert.equal(mostSeen(small, 0, 640, 0), 1);
  assert.equal(mostSeen(small, 200, 840, 0.5), 3);
  assert.equal(mostSeen(small, 400, 1040, 1), 5);
  assert.equal(mostSeen(small, 0, 2000, 0), 1, "all of the document fits, so the others are turned to");
});

/**
 * A document in a window: the pages that are read while it is scrolled through, in steps of so many
 * pixels.
 */
function readThrough(heights: readonly number[], window: number, step: number, { before = 16, gap = 16, after = 300 } = {}): number[] {
  let y = before;
  const pages = heights.map((height) => {
    const page = { top: y, height };
    y += height + gap;
    return page;
  });
  const way = Math.max(0, y + after - window);
  const read: number[] = [];
  for (let top = 0; ; top = Math.min(way, top + step)) {
    const page = mostSeen(pages, top, top + window, way > 0 ? top / way : 0)!;
    if (page !== read.at(-1)) read.push(page);
    if (top === way) return read;
  }
}

const inOrder = (n: number) => Array.from({ length: n }, (_, i) => i + 1);

test("who scrolls through a document reads every page, in order, on every screen", () => {
  // Heights of a page at the width of the window: a slide, a letter, a strip of text, a square; and
  // windows without the bar.
  for (const [width, window] of [[360, 592], [390, 796], [768, 976], [1080, 1872], [1280, 752]] as const) {
    for (const [name, height] of [["16:9", (width * 9) / 16], ["letter", (width * 11) / 8.5], ["612x100", (width * 100) / 612], ["square", width]] as const) {
      for (const n of [2, 4, 13, 60]) {
        if (n * (height + 16) < window) continue; // all of it fits
        assert.deepEqual(readThrough(Array<number>(n).fill(height), window, 4), inOrder(n), `${n} of ${name} at ${width}x${window}`);
      }
    }
  }
});

test("who scrolls by a fifth of the window reads every slide", () => {
  for (const [width, window] of [[390, 796], [768, 976], [1080, 1872]] as const) {
    assert.deepEqual(readThrough(Array<number>(13).fill((width * 9) / 16), window, window / 5), inOrder(13), `${width}x${window}`);
  }
});

test("pages that are wholly in the window have their turns, however long a step of scrolling is", () => {
  let time = 0;
  let asked = 0;
  const turns = new Turns(() => time, (ms) => (asked = time + ms));
  const next = (current: number, seen: number, top = 0, bottom = 640) => turns.next(current, seen, small, top, bottom);
  assert.equal(next(1, 1), 1);
  assert.equal(next(1, 3), 2, "page 2 was not seen yet");
  time += 300;
  assert.equal(next(2, 3), 2, "scrolling goes on");
  time = asked;
  assert.equal(next(2, 3), 3);
  time += 100;
  assert.equal(next(3, 4, 400, 1040), 3, "it is still there");
  time = asked;
  assert.equal(next(3, 5, 400, 1040), 4);
  assert.equal(next(4, 5, 640, 1280), 5, "page 4 is no longer wholly there");
  time += 10_000;
  assert.equal(next(5, 3, 400, 1040), 4, "upwards");
  time += 10_000;
  assert.equal(next(1, 4, 610, 1040), 4, "pages 2 and 3 were never wholly there");
});

test("a document of mixed sizes is read page by page", () => {
  let seed = 7;
  const random = () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
  for (let run = 0; run < 300; run++) {
    const window = 400 + Math.round(random() * 1500);
    const heights = Array.from({ length: 2 + Math.round(random() * 20) }, () => Math.round(40 + random() * (window - 60)));
    if (heights.reduce((sum, h) => sum + h + 16, 0) < 1.5 * window) continue;
    const read = readThrough(heights, window, 1);
    assert.deepEqual([...new Set(read)].sort((a, b) => a - b), inOrder(heights.length), `${window}: ${heights}`);
    assert.equal(read[0], 1);
    assert.equal(read.at(-1), heights.length);
  }
});

test("a place is found again when pages above it, or itself, get another size", () => {
  const before = [{ top: 64, height: 500 }, { top: 580, height: 500 }, { top: 1096, height: 500 }];
  const after = [{ top: 64, height: 200 }, { top: 280, height: 900 }, { top: 1196, height: 100 }];
  assert.deepEqual(placeAt(before, 48), { page: 1, share: 0, beyond: -16 });
  assert.deepEqual(placeAt(before, 830), { page: 2, share: 0.5, beyond: 0 });
  assert.deepEqual(placeAt(before, 1090), { page: 3, share: 0, beyond: -6 });
  assert.deepEqual(placeAt(before, 1700), { page: 3, share: 1, beyond: 104 });
  for (const y of [0, 48, 70, 570, 830, 1090, 1596, 1700]) assert.equal(heightOf(before, placeAt(before, y)), y);
  assert.equal(heightOf(after, placeAt(before, 830)), 730);
  assert.equal(heightOf(after, placeAt(before, 1088)), 1188, "8 px above the third page");
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

test("every page fits every window", () => {
  for (const [width, height] of [[1440, 810], [1920, 1080], [8400, 8400], [18000, 12000], [14400, 14400], [3, 3]] as const) {
    for (const area of [{ width: 360, height: 570 }, { width: 390, height: 770 }, { width: 768, height: 950 }, { width: 1240, height: 728 }]) {
      for (const zoom of ["auto", "width", "page"] as const) {
        for (const first of [true, false]) {
          const scale = scaleOf(zoom, { width, height }, area, first);
          assert.ok(scale > 0 && scale * width <= area.width + 1e-6, `${width}x${height} ${zoom}: ${scale * width} px in ${area.width}`);
          if (zoom === "page") assert.ok(scale * height <= area.height + 1e-6);
        }
      }
    }
  }
});

test("a document that is a strip opens at its width", () => {
  const area = { width: 1240, height: 728 };
  assert.equal(Math.round(scaleOf("auto", { width: 600, height: 3000 }, area, true) * 600), 860);
  assert.equal(Math.round(scaleOf("auto", { width: 800, height: 2400 }, { width: 390, height: 770 }, true) * 800), 390);
  assert.equal(Math.round(scaleOf("auto", { width: 595, height: 842 }, area, true) * 842), 728);
  assert.equal(Math.round(scaleOf("page", { width: 600, height: 3000 }, area, true) * 3000), 728, "asked for as a whole");
});

test("steps of zoom", () => {
  assert.equal(step(1, 1), 1.1);
  assert.equal(step(1, -1), 0.9);
  assert.equal(step(1.46, 1), 1.5);
  assert.equal(step(5, 1), 5);
  assert.equal(step(0.25, -1), 0.25);
  assert.equal(step(0.07, -1), 0.07, "a page that fits at 7 % gets no larger by a step down");
  assert.equal(step(0.07, 1), 0.25);
  assert.equal(within(0.1, 0.25), 0.25);
  assert.equal(within(0.08, 0.07), 0.08);
  assert.equal(within(0.06, 0.07), 0.07);
  assert.equal(within(9, 1), 5);
});

test("a canvas stays within its pixels", () => {
  assert.equal(density(400, 600, 2, 16e6), 2);
  const d = density(4000, 6000, 2, 16e6);
  assert.ok(Math.abs(4000 * d * 6000 * d - 16e6) < 1);
  assert.ok(390 * density(390, 90_000, 3, 6e6) >= 1);
  for (const [width, height] of [[390, 90_000], [200_000, 20]] as const) {
    const thin = density(width, height, 3, 16e6);
    assert.ok(Math.max(width, height) * thin <= 16_384 && width * height * thin * thin <= 16e6);
  }
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
