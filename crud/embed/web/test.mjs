// Loads the script where no tag of it is, and gives its function for addresses those of referrers. An app is a source as a
// page is.
import { build } from "esbuild";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { runInNewContext } from "node:vm";

const file = fileURLToPath(new URL("src/embed.ts", import.meta.url));
const { outputFiles: [script] } = await build({
  stdin: { contents: `${readFileSync(file, "utf8")}\nexport { bare };`, loader: "ts", resolveDir: fileURLToPath(new URL("src", import.meta.url)) },
  bundle: true, format: "iife", globalName: "embed", write: false,
});
const page = { URL, URLSearchParams, HTMLElement: class {}, navigator: {}, document: { currentScript: null, querySelector: () => null } };
runInNewContext(script.text, page);

for (const [referrer, want] of [
  ["android-app://org.example.reader/", "android-app://org.example.reader/"],
  ["android-app://org.example.reader", "android-app://org.example.reader"],
  ["android-app://org.example.reader/https/example.org/a?secret=1#x", "android-app://org.example.reader/https/example.org/a"],
  ["https://news.example/a?secret=1&utm_source=n#x", "https://news.example/a?utm_source=n"],
  ["file:///C:/secret.html", ""],
  ["", ""],
]) {
  test(`referrer ${referrer || "of none"}`, () => assert.equal(page.embed.bare(referrer), want));
}
