// Builds the script into ../dist. It stays under one name, since other people's pages have it in them.
import { build } from "esbuild";
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";

await build({
  absWorkingDir: fileURLToPath(new URL(".", import.meta.url)),
  entryPoints: ["src/beacon.ts"],
  outfile: "../dist/beacon.js",
  minify: true,
  format: "iife",
  target: ["chrome87", "firefox78", "safari14"],
  logLevel: "warning",
});
// Without the line break that esbuild adds.
const file = new URL("../dist/beacon.js", import.meta.url);
const script = readFileSync(file, "utf8").trim();
writeFileSync(file, script);
writeFileSync(new URL("../dist/beacon.js.gz", import.meta.url), gzipSync(script, { level: 9 }));
writeFileSync(new URL("../dist/beacon.js.br", import.meta.url), brotliCompressSync(script));
// Last, since make uses it as the mark of a complete build.
writeFileSync(new URL("../dist/manifest.json", import.meta.url), '{"script": "beacon.js"}\n');
