// Builds the script into ../dist. It stays under one name, since other people's pages have it in them.
import { build } from "esbuild";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";

// What the script says before it has the texts of a language.
const texts = new URL("../../web/text/", import.meta.url);
const open = Object.fromEntries(readdirSync(texts).sort().map((name) => [name.slice(0, 2), JSON.parse(readFileSync(new URL(name, texts), "utf8"))["embed.open"]]));

await build({
  absWorkingDir: fileURLToPath(new URL(".", import.meta.url)),
  entryPoints: ["src/embed.ts"],
  outfile: "../dist/embed.js",
  minify: true,
  define: { OPEN: JSON.stringify(open) },
  format: "iife",
  target: ["chrome84", "firefox90", "safari15"],
  logLevel: "warning",
});
// Without the line break that esbuild adds.
const file = new URL("../dist/embed.js", import.meta.url);
const script = readFileSync(file, "utf8").trim();
writeFileSync(file, script);
writeFileSync(new URL("../dist/embed.js.gz", import.meta.url), gzipSync(script, { level: 9 }));
writeFileSync(new URL("../dist/embed.js.br", import.meta.url), brotliCompressSync(script));
// Last, since make uses it as the mark of a complete build.
writeFileSync(new URL("../dist/manifest.json", import.meta.url), '{"script": "embed.js"}\n');
