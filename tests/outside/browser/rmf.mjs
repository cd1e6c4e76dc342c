// What the five pages of the rmf pack must show, told from the reply alone.
import { check, dateOf, includes, same, written } from "./judge.mjs";

const percent = (value) => `${written(value, 2, true)}%`;

export const pages = [
  { page: "rmf-fund-list", tool: "get_rmf_funds", input: { pageSize: 10 }, expect: list, then: turnAndOpen },
  { page: "rmf-fund-list", tool: "search_rmf_funds", input: { amc: "Krungsri", maxRiskLevel: 5, limit: 5 }, expect: list },
  { page: "rmf-fund-list", tool: "get_rmf_fund_performance", input: { period: "1y", limit: 5 }, expect: ranking, then: otherPeriod },
  { page: "rmf-fund-card", tool: "get_rmf_fund_detail", input: { fundCode: "ABAPAC-RMF" }, expect: card, then: chartOfCard },
  { page: "rmf-fund-card", tool: "get_rmf_fund_detail", input: { fundCode: "B-USPASSIVERMF" }, expect: card },
  { page: "rmf-fund-comparison", tool: "compare_rmf_funds", input: { fundCodes: ["ABAPAC-RMF", "B-ASIARMF", "ES-GOLDRMF-UH"] }, expect: comparison, then: relative },
  { page: "rmf-performance-chart", tool: "get_rmf_fund_nav_history", input: { fundCode: "ABAPAC-RMF", days: 30 }, expect: chart, then: walk },
  { page: "rmf-performance-chart", tool: "get_rmf_fund_nav_series", input: { fundCode: "ABAPAC-RMF", years: 10 }, expect: chart },
  { page: "rmf-saving-plan", tool: "simulate_rmf_plan", input: { fundCode: "B-ASIARMF", monthly: 5000, years: 10, taxRate: 20 }, expect: plan, then: walkPlan },
  { page: "rmf-saving-plan", tool: "simulate_rmf_plan", input: { fundCode: "ABAPAC-RMF", lumpSum: 100000, age: 40, switchTo: "B-ASIARMF" }, expect: plan },
].map((kind) => ({ ...kind, expect: withBanner(kind.expect) }));

/** Figures that are old, or of another year, have a banner above them; its sentences are told from the reply alone. */
function withBanner(expect) {
  return async (shown) => {
    await expect(shown);
    const { frame, reply, lang, what } = shown;
    const age = reply.structuredContent.dataAge;
    const notes = await frame.locator("p.note[role=note]").allInnerTexts();
    const banner = notes.find((text) => /days old|YTD is of|มีอายุ|คือปี/.test(text)) ?? "";
    same(banner !== "", age.stale, `${what}: the banner of old figures`);
    if (!age.stale) return;
    const year = Number(age.returns[1].slice(0, 4));
    if (age.navAgeDays > 45) includes(banner, lang === "th" ? `NAV ล่าสุดมีอายุ ${age.navAgeDays} วัน` : `The newest NAV is ${age.navAgeDays} days old.`, `${what}: age of the NAV`);
    if (age.returnsAgeDays > 92) includes(banner, lang === "th" ? `ผลตอบแทนมีอายุ ${age.returnsAgeDays} วัน` : `Returns are ${age.returnsAgeDays} days old.`, `${what}: age of the returns`);
    if (year !== new Date().getFullYear()) includes(banner, lang === "th" ? `คือปี ${year + 543}` : `YTD is of ${year}.`, `${what}: year of YTD`);
  };
}

async function plan({ frame, reply, lang, what }) {
  const data = reply.structuredContent;
  const all = await frame.locator("main").innerText();
  for (const value of [data.paid, data.low, data.median, data.high, data.medianReal]) includes(all, written(value, 0), what);
  includes(all, `${written(data.lossPercent, 1)}%`, `${what}: chance of a loss`);
  includes(all, `${written(data.drawdownPercent, 1)}%`, `${what}: fall`);
  const tax = lang === "th" ? "ภาษีที่ประหยัด" : "Tax saved";
  same(all.includes(tax), data.taxReinvested > 0, `${what}: tax saved is shown when there is some`);
  if (data.taxReinvested > 0) includes(all, written(data.taxReinvested, 0), `${what}: tax saved`);
  for (const phase of data.assumptions) {
    includes(all, phase.fundCode, `${what}: assumption`);
    includes(all, percent(phase.annualReturn), `${what}: assumed return of ${phase.fundCode}`);
  }
  for (const line of [0, 1, 2, 3]) {
    const points = await frame.locator(`figure path.line.line-${line}`).getAttribute("d");
    same(points.split(/[ML]/).length - 1, data.byYear.length, `${what}: a point of line ${line} for each year`);
  }
  const label = await frame.locator("figure svg").getAttribute("aria-label");
  for (const value of [data.low, data.median, data.high]) includes(label, written(value, 0), `${what}: description`);
  includes(all, lang === "th" ? "ไม่ใช่คำสัญญา" : "no promise", `${what}: caution`);
}

async function walkPlan({ frame, reply, lang, what }) {
  const { byYear } = reply.structuredContent;
  const slider = frame.getByRole("slider");
  await slider.focus();
  await slider.press("Home");
  const said = await slider.getAttribute("aria-valuetext");
  includes(said, lang === "th" ? "ปีที่ 1" : "Year 1", `${what}: the slider starts with the first year`);
  for (const field of ["median", "low", "high", "paid"]) includes(said, written(byYear[0][field], 0), `${what}: ${field} of the first year`);
  await frame.locator("summary").click();
  await frame.locator("tbody tr").nth(byYear.length - 1).waitFor();
  const table = await rows(frame);
  byYear.forEach((year, place) => includes(table[place], written(year.median, 0), `${what}: table row ${place}`));
}

async function rows(frame) {
  return frame.locator("tbody tr").evaluateAll((all) => all.map((row) => row.innerText.replace(/\s+/g, " ")));
}

async function list({ frame, reply, lang, what }) {
  const { funds, totalCount } = reply.structuredContent;
  const shown = await rows(frame);
  same(shown.length, funds.length, `${what}: rows`);
  funds.forEach((fund, place) => {
    const at = `${what}: row ${place}`;
    includes(shown[place], fund.symbol, at);
    includes(shown[place], fund.fund_name.replace(/\s+/g, " "), at);
    includes(shown[place], `${fund.risk_level}/8`, at);
    if (fund.nav_value !== null) includes(shown[place], `${written(fund.nav_value, 4)} ${dateOf(fund.nav_date, lang)}`, at);
    for (const value of [fund.nav_change_percent, fund.perf_ytd, fund.perf_1y]) if (value !== null) includes(shown[place], percent(value), at);
  });
  const all = await frame.locator("main").innerText();
  includes(all, lang === "th" ? `${funds.length} จาก ${totalCount} กองทุน` : `${funds.length} of ${totalCount} funds`, what);
  footer(all, reply, lang, what);
}

function footer(all, reply, lang, what) {
  includes(all, dateOf(reply._meta.dataAsOf.returns, lang), `${what}: as of`);
  includes(all, lang === "th" ? "ผลการดำเนินงานในอดีต" : "Past performance", `${what}: caution`);
}

async function turnAndOpen({ frame, server, what, lang }) {
  const ask = (change) => server.call("get_rmf_funds", { pageSize: 10, ...change });
  await frame.getByRole("button", { name: lang === "th" ? /ถัดไป/ : /Next/ }).click();
  const second = await ask({ page: 2 });
  await frame.getByText(second.structuredContent.funds[0].symbol, { exact: true }).waitFor();
  await list({ frame, reply: second, lang, what: `${what}, page 2` });
  same(await frame.evaluate(() => document.activeElement?.dataset.focus), "next", `${what}: focus stays on the button`);
  await frame.getByRole("button", { name: lang === "th" ? /^ความเสี่ยง/ : /^Risk/ }).click();
  const sorted = await ask({ page: 1, sortBy: "risk", sortOrder: "desc" });
  await frame.locator("th[aria-sort=descending]", { hasText: lang === "th" ? "ความเสี่ยง" : "Risk" }).waitFor();
  await list({ frame, reply: sorted, lang, what: `${what}, sorted by risk` });
  const first = sorted.structuredContent.funds[0];
  await frame.getByRole("button", { name: first.symbol, exact: true }).click();
  const opened = await server.call("get_rmf_fund_detail", { fundCode: first.symbol });
  await frame.locator("h2").first().waitFor();
  await card({ frame, reply: opened, lang, what: `${what}, opened` });
  await frame.getByRole("button", { name: lang === "th" ? /กลับ/ : /Back/ }).click();
  await list({ frame, reply: sorted, lang, what: `${what}, back again` });
}

async function ranking({ frame, reply, what }) {
  const { funds, periodStats } = reply.structuredContent;
  const shown = await rows(frame);
  same(shown.length, funds.length, `${what}: rows`);
  funds.forEach((fund, place) => {
    for (const value of [fund.performance, fund.benchmark_performance, fund.outperformance]) if (value !== null) includes(shown[place], percent(value), `${what}: row ${place}`);
  });
  const all = await frame.locator("main").innerText();
  for (const name of ["average", "median", "min", "max"]) includes(all, percent(periodStats[name]), `${what}: ${name}`);
  includes(all, String(periodStats.fundsCounted), `${what}: counted`);
}

async function otherPeriod({ frame, server, lang, what }) {
  await frame.getByRole("button", { name: lang === "th" ? "3 เดือน" : "3 months" }).click();
  const reply = await server.call("get_rmf_fund_performance", { period: "3m", limit: 5 });
  // Its figure, not its code: the same fund leads other periods too.
  await frame.getByText(percent(reply.structuredContent.funds[0].performance)).first().waitFor();
  await ranking({ frame, reply, what: `${what}, three months` });
}

async function card({ frame, reply, lang, what }) {
  const { fund } = reply.structuredContent;
  const all = await frame.locator("main").innerText();
  same(await frame.locator("h1").innerText(), (lang === "th" && fund.fund_name_th) || fund.fund_name, `${what}: name`);
  includes(all, fund.symbol, what);
  company(all, fund, lang, what);
  if (fund.nav_value !== null) includes(all, written(fund.nav_value, 4), what);
  const returns = await rows(frame);
  for (const code of ["ytd", "3m", "6m", "1y", "3y", "5y", "10y"]) {
    const [ours, theirs] = [fund[`perf_${code}`], fund[`benchmark_${code}`]];
    if (ours !== null && ours !== undefined) check(returns.some((row) => row.includes(percent(ours))), `${what}: ${code} ${percent(ours)}`);
    if (theirs !== null && theirs !== undefined) check(returns.some((row) => row.includes(percent(theirs))), `${what}: benchmark ${code} ${percent(theirs)}`);
  }
  for (const part of fund.asset_allocation ?? []) includes(all, `${written(part.percentage, 2)}%`, `${what}: ${part.asset_class}`);
  includes(all, lang === "th" ? `ความเสี่ยง ${fund.risk_level} จาก 8` : `Risk ${fund.risk_level} of 8`, what);
}

/** Names as the companies write them on their Thai pages. */
const THAI_COMPANIES = { "ABAPAC-RMF": "บลจ. อเบอร์ดีน", "B-ASIARMF": "บลจ. บัวหลวง", "B-USPASSIVERMF": "บลจ. บัวหลวง", "ES-GOLDRMF-UH": "บลจ. อีสท์สปริง" };

function company(all, fund, lang, what) {
  if (lang === "en") return includes(all, fund.amc, `${what}: company`);
  includes(all, THAI_COMPANIES[fund.symbol] ?? "บลจ. ", `${what}: company in Thai`);
  check(!all.includes(fund.amc), `${what}: the company has no English name for Thai readers`);
}

async function chartOfCard({ page, frame, server, lang, what }) {
  await frame.getByRole("button", { name: lang === "th" ? "อันดับในกลุ่ม" : "Rank among peers" }).click();
  const peers = (await server.call("get_rmf_peer_rank", { fundCode: "ABAPAC-RMF", period: "1y" })).structuredContent;
  await frame.getByText(new RegExp(`${peers.rank} \\S+ ${peers.peers}`)).waitFor();
  await frame.getByRole("button", { name: /↗/ }).first().click();
  await page.waitForFunction(() => window.links.length === 1);
  check((await page.evaluate(() => window.links[0])).startsWith("https://"), `${what}: the factsheet opens through the host`);
  await frame.getByRole("button", { name: lang === "th" ? "กราฟ NAV" : "NAV chart" }).click();
  await frame.locator("figure svg").waitFor();
}

async function comparison({ frame, reply, lang, what }) {
  const { funds, comparisonHighlights } = reply.structuredContent;
  const heads = await frame.locator("thead th").allInnerTexts();
  funds.forEach((fund, place) => includes(heads[place + 1], fund.symbol, `${what}: column ${place}`));
  const all = await frame.locator("main").innerText();
  for (const fund of funds) company(all, fund, lang, what);
  if (lang === "th") for (const [symbol, name] of Object.entries(reply._meta.fundNamesTh)) includes(all.replace(/\s+/g, " "), name.replace(/\s+/g, " ").trim(), `${what}: Thai name of ${symbol}`);
  for (const [name, symbol] of Object.entries(comparisonHighlights)) if (symbol) includes(all, symbol, `${what}: ${name}`);
  const cells = await frame.locator("tbody tr").evaluateAll((lines) => lines.map((line) => [...line.children].map((cell) => cell.innerText.replace(/\s+/g, " "))));
  ["ytd", "1y", "3y", "5y"].forEach((code, line) => {
    const values = funds.map((fund) => fund[`perf_${code}`]);
    if (values.filter((value) => value !== null).length < 2) return;
    const best = Math.max(...values.filter((value) => value !== null));
    values.forEach((value, place) => {
      const cell = cells[line][place + 1];
      if (value === null) return includes(cell, "–", `${what}: ${code} of ${funds[place].symbol}`);
      includes(cell, percent(value), `${what}: ${code} of ${funds[place].symbol}`);
      same(cell.includes(lang === "th" ? "สูงสุด" : "best"), value === best, `${what}: ${code} of ${funds[place].symbol} is the best`);
    });
  });
  check(!all.includes(lang === "th" ? "ความผันผวน" : "Volatility"), `${what}: a figure that no fund has is left out`);
}

async function relative({ frame, server, lang, what }) {
  await frame.getByRole("button", { name: lang === "th" ? /เปรียบเทียบ NAV/ : /Compare NAV/ }).click();
  await frame.locator("figure svg path.line-2").waitFor();
  const series = [];
  for (const fundCode of ["ABAPAC-RMF", "B-ASIARMF", "ES-GOLDRMF-UH"]) series.push((await server.call("get_rmf_fund_nav_history", { fundCode, days: 30 })).structuredContent.navHistory);
  const common = series[0].map((day) => day.date).filter((date) => series.every((days) => days.some((day) => day.date === date)));
  const at = (days, date) => days.find((day) => day.date === date).nav;
  const ends = series.map((days) => written((at(days, common.at(-1)) / at(days, common[0])) * 100, 2));
  const label = await frame.locator("figure svg").getAttribute("aria-label");
  for (const end of ends) includes(label, end, `${what}: last day of the chart`);
}

async function chart({ frame, reply, lang, what }) {
  const { navHistory, periodReturn, minNav, maxNav, avgNav, currentNav, volatility } = reply.structuredContent;
  const all = await frame.locator("main").innerText();
  for (const value of [minNav, maxNav, avgNav, currentNav]) includes(all, written(value, 4), what);
  includes(all, percent(periodReturn), what);
  includes(all, `${written(volatility, 2)}%`, what);
  const thai = reply.structuredContent.fundNameTh ?? reply._meta.fundNameTh;
  same(await frame.locator("h1").innerText(), ((lang === "th" && thai) || reply.structuredContent.fundName).replace(/\s+/g, " ").trim(), `${what}: name in the language`);
  const benchmark = reply.structuredContent.benchmark ?? reply._meta.benchmark;
  includes(all, benchmark.name, `${what}: benchmark`);
  const beside = await rows(frame);
  benchmark.returns.forEach((row, place) => {
    includes(beside[place], percent(row.benchmark), `${what}: benchmark ${row.period}`);
    if (row.fund !== null) includes(beside[place], percent(row.fund), `${what}: fund ${row.period}`);
  });
  const label = await frame.locator("figure svg").getAttribute("aria-label");
  includes(label, dateOf(navHistory[0].date, lang), `${what}: description`);
  const points = await frame.locator("path.line").getAttribute("d");
  same(points.split(/[ML]/).length - 1, navHistory.length, `${what}: points of the line`);
}

async function walk({ frame, reply, lang, what }) {
  const { navHistory } = reply.structuredContent;
  const slider = frame.getByRole("slider");
  const says = (place) => `${dateOf(navHistory.at(place).date, lang)}: ${written(navHistory.at(place).nav, 4)}`;
  await slider.focus();
  same(await slider.getAttribute("aria-valuetext"), says(-1), `${what}: the slider starts at the last day`);
  await slider.press("ArrowLeft");
  same(await slider.getAttribute("aria-valuetext"), says(-2), `${what}: a key goes back one day`);
  await slider.press("Home");
  same(await slider.getAttribute("aria-valuetext"), says(0), `${what}: home is the first day`);
  await frame.locator("summary").click();
  await frame.locator("figure tbody tr").nth(navHistory.length - 1).waitFor();
  const table = await rows(frame.locator("figure"));
  same(table.length, navHistory.length, `${what}: rows of the table`);
  navHistory.forEach((day, place) => includes(table[place], `${dateOf(day.date, lang)} ${written(day.nav, 4)}`, `${what}: table row ${place}`));
  await frame.getByRole("button", { name: lang === "th" ? "7 วัน" : "7 days" }).click();
  await frame.locator("button[data-focus=days-7][aria-pressed=true]").waitFor();
  const points = await frame.locator("path.line").getAttribute("d");
  same(points.split(/[ML]/).length - 1, 7, `${what}: a week has seven points`);
}
