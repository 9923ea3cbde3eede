// Writes package-lock.json again: without addresses of a registry, which are the reader's own
// setting, and without the native canvas that pdf.js has for use without a browser (30 MB).
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

execFileSync("npm", ["install", "--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund", "--omit-lockfile-registry-resolved"], { stdio: "inherit" });
const lock = JSON.parse(readFileSync("package-lock.json", "utf8"));
for (const name of Object.keys(lock.packages)) {
  if (name.startsWith("node_modules/@napi-rs/")) delete lock.packages[name];
}
delete lock.packages["node_modules/pdfjs-dist"].optionalDependencies;
writeFileSync("package-lock.json", JSON.stringify(lock, null, 2) + "\n");
