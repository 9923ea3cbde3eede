// Builds the reading page's scripts into ../dist, compressed. manifest.json has the hashes of what is in
// it, which the server puts into URLs; names of files stay, so that a build in between harms no compiler.
import { build, transform } from "esbuild";
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

// Browsers that the page runs in: some years old, too. src/older.ts adds what pdf.js expects of
// newer ones.
const target = ["chrome111", "firefox115", "safari16.4"];

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
  target,
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

/**
 * Returns pdf.js's worker for the browsers of the page, and such that a damaged entry of a
 * document's tree of pages costs one page. pdf.js ends the list of pages there, though it goes on
 * after entries that it cannot find.
 */
async function worker() {
  let text = await readFile(join(pdfjs, "legacy/build/pdf.worker.min.mjs"), "utf8");
  const walk = /const (\w+)=(\w+)\.at\(-1\),\{currentNode:\w+,posInKids:\w+\}=\1;/.exec(text);
  if (!walk) throw new Error("the worker of pdf.js does not walk through pages as it did");
  const [, item, queue] = walk;
  for (const [fault, next] of [
    ["Pages tree contains circular reference.", `${item}.posInKids++;continue`],
    ["Page dictionary kid reference points to wrong type of object.", `${item}.posInKids++;continue`],
    ["Page dictionary kids object is not an array.", `${queue}.pop();continue`],
  ]) {
    const ends = `addPageError(new FormatError("${fault}"));break`;
    if (text.split(ends).length !== 2) throw new Error(`the worker of pdf.js does not say once: ${ends}`);
    text = text.replace(ends, `addPageError(new FormatError("${fault}"));${next}`);
  }
  const older = await readFile(join(here, "src/older.ts"), "utf8");
  const options = { target, minify: true, format: "esm", legalComments: "inline" };
  const parts = [await transform(older, { ...options, loader: "ts" }), await transform(text, options)];
  return parts.map((part) => part.code).join("\n");
}

const script = await worker();
const release = JSON.parse(await readFile(join(pdfjs, "package.json"), "utf8")).version;
// Browsers keep what stands below the version for good, so it is one of our changes as well.
const version = `${release}-${createHash("sha256").update(script).digest("hex").slice(0, 8)}`;
const manifest = { page: hash.digest("hex").slice(0, 12), pdfjs: version };
const before = JSON.parse(await readFile(join(dist, "manifest.json"), "utf8").catch(() => "{}"));
if (before.pdfjs !== version) {
  jobs.push(emit("pdfjs/worker.mjs", script));
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
