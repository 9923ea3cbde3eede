import assert from "node:assert/strict";
import { test } from "node:test";
import { paperOf, paperRules, printWidth } from "../src/paper.ts";

test("each page is printed on paper of its own size", () => {
  const upright = { width: 595, height: 842 };
  const across = { width: 842, height: 595 };
  assert.deepEqual(paperRules([upright, across, upright]), [
    "@page { size: 595pt 842pt; margin: 0; }",
    "@page p595x842 { size: 595pt 842pt; margin: 0; }",
    "@page p842x595 { size: 842pt 595pt; margin: 0; }",
  ]);
  assert.equal(paperOf(across), "p842x595");
  assert.notEqual(paperOf(upright), paperOf(across));
});

test("print has 150 dots an inch, unless the page is a poster", () => {
  assert.equal(printWidth({ width: 612, height: 792 }), 1275);
  assert.equal(printWidth({ width: 1440, height: 810 }), 3000);
  const poster = { width: 18_000, height: 12_000 };
  const wide = printWidth(poster);
  assert.ok(wide > 3000 && wide * wide * (12 / 18) <= 8.1e6, `${wide}`);
});
