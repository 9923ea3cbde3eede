// Runs the script on a page that is a stub. An app is a source as a page is.
import { build } from "esbuild";
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { runInNewContext } from "node:vm";

const { outputFiles: [script] } = await build({
  absWorkingDir: fileURLToPath(new URL(".", import.meta.url)), entryPoints: ["src/beacon.ts"], bundle: true, format: "iife", write: false,
});

/** Returns the view that a page sends to which a referrer leads. */
function viewFrom(referrer) {
  const sent = [];
  const tag = { src: "https://collector.example/v1/beacon.js", dataset: { token: "T" } };
  runInNewContext(script.text, {
    URL, URLSearchParams, Uint8Array, crypto, setTimeout, navigator: {}, history: {}, window: {}, addEventListener() {},
    location: new URL("https://www.example.com/guide?utm_source=mail&secret=1#x"),
    document: { currentScript: tag, querySelector: () => tag, referrer, visibilityState: "visible" },
    fetch: (_, { body }) => {
      sent.push(JSON.parse(body));
      return Promise.resolve({ status: 202 });
    },
  });
  assert.equal(sent.length, 1);
  return sent[0];
}

for (const [referrer, want] of [
  ["android-app://org.example.reader/", "android-app://org.example.reader/"],
  ["android-app://org.example.reader", "android-app://org.example.reader"],
  ["android-app://org.example.reader/https/example.org/a?secret=1#x", "android-app://org.example.reader/https/example.org/a"],
  ["https://news.example/a?secret=1&utm_source=n#x", "https://news.example/a?utm_source=n"],
  ["file:///C:/secret.html", ""],
  ["", ""],
]) {
  test(`referrer ${referrer || "of none"}`, () => assert.equal(viewFrom(referrer).referrer, want));
}
