// Builds the scripts of the dashboard into ../dist, compressed. manifest.json has the hash of what is in them, which the server puts into
// their URLs; names of files stay, so that a build in between harms no compiler.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const dist = join(here, "../dist");
const result = await build({
  absWorkingDir: here,
  // Each by itself, with what it needs: a screen loads island.js, and the islands that it has.
  entryPoints: {
    island: "src/main.ts", live: "src/live.tsx", preview: "src/preview.ts", page: "src/page.ts", upload: "src/upload.ts", explore: "src/explore.ts",
    passkey: "src/passkey.ts", readout: "src/readout.ts",
  },
  bundle: true,
  format: "esm",
  minify: true,
  write: false,
  legalComments: "eof",
  target: ["chrome111", "firefox115", "safari16.4"],
  entryNames: "[name]",
  outdir: dist,
  logLevel: "warning",
});

const aside = join(here, "node_modules/.new"); // beside dist, so that no half of a file is ever in it
async function put(name, body) {
  await writeFile(aside, body);
  await rename(aside, join(dist, name));
}
const hash = createHash("sha256");
for (const file of result.outputFiles) {
  hash.update(file.contents);
  await put(`${basename(file.path)}.gz`, gzipSync(file.contents, { level: 9 }));
  const packed = brotliCompressSync(file.contents);
  await put(`${basename(file.path)}.br`, packed);
  console.log(`  ${basename(file.path)}: ${packed.length} bytes by brotli, ${file.contents.length} in full`);
}
// Last, since make uses it as the mark of a complete build.
await put("manifest.json", JSON.stringify({ hash: hash.digest("hex").slice(0, 12) }) + "\n");
