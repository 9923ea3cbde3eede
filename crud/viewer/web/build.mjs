// Builds the reading page's scripts into ../dist, compressed. manifest.json has the hashes of what is in
// it, which the server puts into URLs; names of files stay, so that a build in between harms no compiler.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdir, readFile, readdir, rename, writeFile } from "node:fs/promises";
import { basename, dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import zlib from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const dist = join(here, "../dist");
const pdfjs = join(here, "node_modules/pdfjs-dist");
const gzip = promisify(zlib.gzip);
const brotli = promisify(zlib.brotliCompress);

// What shrinks; the character maps of pdf.js are packed already.
const compressible = new Set([".js", ".mjs", ".css", ".wasm", ".ttf", ".pfb", ".icc", ""]);

const files = new Map(); // by name below dist; written at the end, so that dist is almost always complete

/** Adds a file for the server to embed: as it is, or in both compressed forms only. */
async function emit(name, body) {
  if (!compressible.has(extname(name))) {
    files.set(name, body);
    return;
  }
  const [gz, br] = await Promise.all([
    gzip(body, { level: 9 }),
    brotli(body, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 11, [zlib.constants.BROTLI_PARAM_SIZE_HINT]: body.length } }),
  ]);
  files.set(`${name}.gz`, gz);
  files.set(`${name}.br`, br);
}

const result = await build({
  absWorkingDir: here,
  entryPoints: { viewer: "src/viewer.ts" },
  bundle: true,
  splitting: true,
  format: "esm",
  minify: true,
  write: false,
  legalComments: "eof",
  target: ["chrome111", "firefox115", "safari16.4"],
  entryNames: "[name]",
  chunkNames: "[name]",
  // The build of pdf.js for browsers that are a few years old.
  alias: { "pdfjs-dist": join(pdfjs, "legacy/build/pdf.min.mjs") },
  outdir: dist,
  logLevel: "warning",
});
const jobs = result.outputFiles.map((file) => emit(basename(file.path), Buffer.from(file.contents)));
const hash = createHash("sha256");
for (const file of result.outputFiles) hash.update(file.contents);

const { version } = JSON.parse(await readFile(join(pdfjs, "package.json"), "utf8"));
const manifest = { page: hash.digest("hex").slice(0, 12), pdfjs: version };
const before = JSON.parse(await readFile(join(dist, "manifest.json"), "utf8").catch(() => "{}"));
if (before.pdfjs !== version) {
  jobs.push(emit("pdfjs/worker.mjs", await readFile(join(pdfjs, "legacy/build/pdf.worker.min.mjs"))));
  // What pdf.js fetches when a document needs it: fonts that are not embedded, character maps of Asian
  // scripts, colour profiles, and decoders of images. Nothing that runs a document's scripts (quickjs).
  for (const folder of ["cmaps", "standard_fonts", "iccs", "wasm"]) {
    for (const name of await readdir(join(pdfjs, folder))) {
      if (/quickjs/i.test(name)) continue;
      jobs.push(emit(`pdfjs/${folder}/${name}`, await readFile(join(pdfjs, folder, name))));
    }
  }
}
files.set("LICENSE-pdfjs.txt", await readFile(join(pdfjs, "LICENSE")));
await Promise.all(jobs);

const aside = join(here, "node_modules/.new"); // beside dist, so that no half of a file is ever in it
for (const [name, body] of files) {
  await mkdir(dirname(join(dist, name)), { recursive: true });
  await writeFile(aside, body);
  await rename(aside, join(dist, name));
}
// Last, since make uses it as the mark of a complete build.
await writeFile(join(dist, "manifest.json"), JSON.stringify(manifest, null, 2) + "\n");
