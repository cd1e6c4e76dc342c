// Judges the page of a sweep: node sweep.mjs BASE NODE_FOLDER [PICTURES]
import { tab } from "./console.mjs";
import { axeFinds, prepare } from "./hosts.mjs";
import { check, failures, includes, same, server as reach, told } from "./judge.mjs";

const [base, nodeFolder, pictures] = process.argv.slice(2);
const kit = await prepare(nodeFolder);
const server = reach(base);
const asked = async (input) => (await server.call("query_runs", { query: "EMA sweep", limit: 50, ...input })).structuredContent;

/** The page in one language and theme. */
async function judge(lang, theme, viewport) {
  const th = lang === "th";
  const t = (en, thai) => (th ? thai : en);
  const what = `${lang}, ${theme}`;
  const { context, page, seen } = await tab(kit, server, { colorScheme: theme, locale: th ? "th-TH" : "en-GB", viewport });
  page.setDefaultTimeout(30_000);
  await page.goto(`${base}/runs#sweep`);
  await page.getByLabel(t("Strategy, source or tag", "กลยุทธ์ แหล่งที่มา หรือแท็ก")).fill("EMA sweep");
  await page.getByRole("button", { name: t("Search", "ค้นหา") }).click();
  const { runs, metadata, best } = await asked({});
  same(runs.length, 24, `${what}: runs of the sweep`);
  await page.waitForFunction((count) => document.querySelectorAll("path.run").length === count, runs.length);
  includes(await page.locator("main").getByRole("status").first().innerText(), String(metadata.totalCount), `${what}: number of runs`);
  // An axis for each parameter, then the figures.
  const titles = await page.locator(".parallel .title").allTextContents();
  same(titles.slice(0, 3).join(), "exit,fast,slow", `${what}: parameters`);
  includes(titles.join(), t("Sharpe ratio", "อัตราส่วนชาร์ป"), `${what}: figures`);
  includes(await page.locator("main").innerText(), best.runId.slice(0, 8), `${what}: the best run`);
  const table = page.locator("main table");
  same(await table.locator("tbody tr").count(), runs.length, `${what}: rows`);
  for (const found of await axeFinds(kit, page)) check(false, `${what}: axe: ${found}`);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  check(wide <= 0, `${what}: the page is ${wide} pixels wider than the window`);
  // Sorted by the program, both ways.
  for (const descending of [true, false]) {
    await table.getByRole("button", { name: t("Profit", "กำไร"), exact: true }).click();
    const expected = (await asked({ sortBy: "profit", descending })).runs.map((run) => run.runId.slice(0, 8));
    await page.waitForFunction((first) => document.querySelector("main table tbody th")?.textContent === first, expected[0]);
    const shown = await table.locator("tbody th").allInnerTexts();
    same(shown.join(), expected.join(), `${what}: order, descending ${descending}`);
  }
  if (pictures) await page.screenshot({ path: `${pictures}/sweep-${lang}-${theme}.png`, fullPage: true });
  // A line opens its run, and so does a row.
  const first = page.locator("path.run").last();
  const id = await first.locator("title").textContent();
  await first.dispatchEvent("click");
  await page.getByRole("region", { name: t("Performance", "ผลการดำเนินงาน") }).waitFor();
  const opened = await page.evaluate(() => JSON.parse(sessionStorage.getItem("panoply.runs.run")));
  same(opened.slice(0, 8), id, `${what}: the run of the line`);
  await page.goBack();
  await page.getByRole("button", { name: t(`Open run ${best.runId.slice(0, 8)}`, `เปิดรายการ ${best.runId.slice(0, 8)}`) }).click();
  await page.getByRole("region", { name: t("Performance", "ผลการดำเนินงาน") }).waitFor();
  same(await page.evaluate(() => JSON.parse(sessionStorage.getItem("panoply.runs.run"))), best.runId, `${what}: the run of the row`);
  same(seen.complaints.join("; "), "", `${what}: complaints of the browser`);
  same(seen.strangers.join(), "", `${what}: requests to others`);
  await context.close();
}

try {
  for (const [lang, theme, viewport] of [
    ["en", "light", { width: 1280, height: 900 }],
    ["th", "dark", { width: 390, height: 844 }],
    ...(pictures ? [["en", "dark", { width: 1280, height: 900 }], ["th", "light", { width: 1280, height: 900 }]] : []),
  ])
    await judge(lang, theme, viewport);
} catch (error) {
  check(false, String(error.message).slice(0, 600));
} finally {
  await kit.browser.close();
}
console.log(told());
process.exit(failures.length ? 1 : 0);
