import assert from "node:assert/strict";
import { test } from "node:test";
import { shareAbove, type Shown } from "../src/destination.ts";

/** A page as pdf.js shows it at a scale of 1: by its crop, its rotation and its unit. */
function page([x1, y1, x2, y2]: [number, number, number, number], rotation = 0, unit = 1): Shown {
  const [width, height] = [(x2 - x1) * unit, (y2 - y1) * unit];
  return {
    height: rotation % 180 === 0 ? height : width,
    viewBox: [x1, y1, x2, y2],
    convertToViewportPoint(x, y) {
      const [right, up] = [(x - x1) * unit, (y - y1) * unit];
      switch (rotation) {
        case 90: return [up, right];
        case 180: return [width - right, up];
        case 270: return [height - up, width - right];
        default: return [right, height - up];
      }
    },
  };
}

const to = (kind: string, ...rest: (number | null)[]) => [{ num: 1, gen: 0 }, { name: kind }, ...rest];

test("destinations lie where the page shows them", () => {
  const plain = page([0, 0, 600, 800]);
  const cropped = page([82.5, 90, 512.5, 750]);
  for (const [name, dest, shown, share] of [
    ["a point", to("XYZ", 72, 600, null), plain, 0.25],
    ["a point of a cropped page", to("XYZ", 100, 585, null), cropped, 0.25],
    ["the top of a cropped page", to("FitH", 750), cropped, 0],
    ["above the crop", to("XYZ", 0, 792, 0), cropped, 0],
    ["below the crop", to("XYZ", 0, 10, 0), cropped, 1],
    ["a point without a height", to("XYZ", 72, null, null), plain, 0],
    ["a crop that begins below zero", to("XYZ", 0, 792 - 15.84 - 200, 0), page([-15.84, -15.84, 612, 776.16]), 200 / 792],
    ["a page turned by 90", to("XYZ", 150, 800, null), page([0, 0, 600, 800], 90), 0.25],
    ["a page turned by 180", to("XYZ", 0, 200, null), page([0, 0, 600, 800], 180), 0.25],
    ["a page turned by 270", to("XYZ", 450, 0, null), page([0, 0, 600, 800], 270), 0.25],
    ["a column of a page turned by 90", to("FitV", 300), page([0, 0, 600, 800], 90), 0.5],
    ["a unit of the page", to("FitBH", 600), page([0, 0, 600, 800], 0, 2.5), 0.25],
    ["a part of the page", to("FitR", 10, 100, 200, 400), plain, 0.5],
    ["a part of a page turned by 180", to("FitR", 10, 200, 200, 400), page([0, 0, 600, 800], 180), 0.25],
    ["the page", to("Fit"), plain, 0],
    ["what is no kind", to("Nothing", 1, 2), plain, 0],
    ["nothing", [{ num: 1, gen: 0 }], plain, 0],
  ] as const) {
    assert.ok(Math.abs(shareAbove(dest, shown) - share) < 1e-9, `${name}: ${shareAbove(dest, shown)}`);
  }
});
