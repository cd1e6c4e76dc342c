// Judges the apps: node apps.mjs ENGLISH_BASE THAI_BASE NODE_FOLDER [--only NAME]
// English readers have a wide light window, Thai readers a dark phone, so that both widths and
// themes meet every journey. A server with keys may be given as KEYED_BASE and KEY.
import { budgets, home, signIn, unreachable } from "./apps_home.mjs";
import * as funds from "./apps_funds.mjs";
import * as herbs from "./apps_herbs.mjs";
import { offlineStudy } from "./apps_offline.mjs";
import * as runs from "./apps_runs.mjs";
import * as study from "./apps_study.mjs";
import * as tax from "./apps_tax.mjs";
import { tab } from "./console.mjs";
import { axeFinds, prepare } from "./hosts.mjs";
import { check, failures, same, server as reach, told } from "./judge.mjs";

const [english, thai, nodeFolder] = process.argv.slice(2);
const only = process.argv.includes("--only") ? process.argv[process.argv.indexOf("--only") + 1] : "";
const kit = await prepare(nodeFolder);
// The learner who begins with nothing comes before the one who finds a deck.
const { studyFromNothing, ...laterStudy } = study;
const journeys = { home, unreachable, studyFromNothing, ...laterStudy, offlineStudy, ...herbs, ...tax, ...funds, ...runs };
let made = 0;

/** One journey in a browser without history; at its end the page is searched by axe. */
async function travel(name, journey, base, lang) {
  const server = reach(base);
  const th = lang === "th";
  const what = `${name}, ${lang}`;
  const options = { colorScheme: th ? "dark" : "light", locale: th ? "th-TH" : "en-GB", viewport: th ? { width: 390, height: 844 } : { width: 1280, height: 900 } };
  const { context, page, seen } = await tab(kit, server, options);
  page.setDefaultTimeout(30_000);
  const see = async (place) => {
    for (const found of await axeFinds(kit, page)) check(false, `${what}, ${place}: axe: ${found}`);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    check(wide <= 0, `${what}, ${place}: the page is ${wide} pixels wider than the window`);
  };
  try {
    await journey({ page, context, server, lang, th, what, see, seen, t: (en, thai) => (th ? thai : en) });
    await see("end");
    same(await page.evaluate(() => document.documentElement.lang), lang, `${what}: language`);
    same(page.url().includes("?"), false, `${what}: no data in the address`);
    same(seen.strangers.join(), "", `${what}: requests to others`);
    same(seen.complaints.join("; "), "", `${what}: complaints of the browser`);
    made += 1;
  } catch (error) {
    check(false, `${what}: ${String(error.message).slice(0, 600)}`);
  }
  await context.close();
}

try {
  for (const [base, lang] of [[english, "en"], [thai, "th"]])
    for (const [name, journey] of Object.entries(journeys)) if (name.includes(only)) await travel(name, journey, base, lang);
  if ("budgets".includes(only)) await budgets(kit, english);
  if ("signIn".includes(only) && process.env.KEYED_BASE) await signIn(kit, process.env.KEYED_BASE, process.env.KEY);
} finally {
  await kit.browser.close();
}
console.log(`${made} journeys; ${told()}`);
process.exit(failures.length ? 1 : 0);
