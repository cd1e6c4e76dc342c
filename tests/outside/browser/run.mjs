// Judges every page in a real browser: node run.mjs BASE NODE_FOLDER [--only NAME]
// A second server, with keys, may be given as KEYED_BASE and KEY in the environment.
import { judgeConsole, judgeKeys } from "./console.mjs";
import { judgeGraphiql } from "./graphiql.mjs";
import { failures, server as reach, told } from "./judge.mjs";
import { prepare } from "./hosts.mjs";
import { judgePages } from "./pages.mjs";

const [base, nodeFolder] = process.argv.slice(2);
const only = process.argv.includes("--only") ? process.argv[process.argv.indexOf("--only") + 1] : "";
const { KEYED_BASE: keyed, KEY: key } = process.env;
const kit = await prepare(nodeFolder);
try {
  const server = reach(base);
  await judgePages(kit, server, only);
  if ("console".includes(only)) await judgeConsole(kit, server);
  if ("graphiql".includes(only)) await judgeGraphiql(kit, server);
  if ("console".includes(only) && keyed) await judgeKeys(kit, keyed, key);
} finally {
  await kit.browser.close();
}
console.log(told());
process.exit(failures.length ? 1 : 0);
