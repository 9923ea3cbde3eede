import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { test } from "node:test";

// Bytes by brotli of each script, as `npm run build` printed them.
const sizes = { island: 5_000, live: 8_700, preview: 3_500 };

test("scripts stay small", () => {
  for (const [name, limit] of Object.entries(sizes)) {
    const { size } = statSync(`../dist/${name}.js.br`);
    assert.ok(size <= limit, `${name}.js has ${size} bytes, more than ${limit}`);
  }
});
