#!/usr/bin/env node
// Starts the program of the platform package, with the same arguments, standard streams and exit status.
"use strict";

const { spawn } = require("node:child_process");
const os = require("node:os");

const name = `panoply-${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "panoply.exe" : "panoply";

let program;
try {
  program = require.resolve(`${name}/bin/${file}`);
} catch {
  console.error(
    `panoply: the package ${name} is not installed.\n` +
      "Install again without --omit=optional. If there is no such package, this platform has no built " +
      "program yet: build it with `cargo install`, see the README.",
  );
  process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit", windowsHide: true });
// A host ends its server by a signal to this process; the server must get it, or it stays behind.
const passed = ["SIGINT", "SIGTERM", "SIGHUP"];
for (const signal of passed) {
  process.on(signal, () => child.kill(signal));
}
child.on("error", (error) => {
  console.error(`panoply: cannot start ${program}: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => {
  process.exit(signal ? 128 + os.constants.signals[signal] : code);
});
