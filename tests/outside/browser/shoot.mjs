// Takes the pictures: node shoot.mjs BASE NODE_FOLDER FOLDER [NAME]
import { prepare } from "./hosts.mjs";
import { server } from "./judge.mjs";
import { take, takeConsole } from "./screenshots.mjs";

const [base, nodeFolder, folder, only = ""] = process.argv.slice(2);
const kit = await prepare(nodeFolder);
await take(kit, server(base), folder, only);
if ("console".includes(only)) await takeConsole(kit, server(base), folder);
await kit.browser.close();
