// The quant: list, profit and falls, events with their context, comparison.
import { check, includes, same, written } from "./judge.mjs";

const digits = (value) => (String(value).split(".")[1] ?? "").length;

export async function runsExplore({ page, server, what, t, see }) {
  await page.goto(`${server.base}/runs`);
  const { runs } = (await server.call("list_backtest_runs", {})).structuredContent;
  await page.locator(".list .row").first().waitFor();
  same(await page.locator(".list .row").count(), runs.length, `${what}: every run`);
  includes(await page.locator(".list").innerText(), written(runs[0].events, 0), `${what}: events`);
  await page.getByRole("button", { name: t(`Open ${runs[0].strategyName}`, `เปิด ${runs[0].strategyName}`) }).click();
  const performance = (await server.call("get_performance", { runId: runs[0].runId })).structuredContent;
  const region = page.getByRole("region", { name: t("Performance", "ผลการดำเนินงาน") });
  await region.waitFor();
  const text = await region.innerText();
  includes(text, written(performance.profit, digits(performance.profit), true), `${what}: profit`);
  for (const fall of performance.drawdowns) includes(text, written(fall.depth, digits(fall.depth)), `${what}: drawdown`);
  // The curve ends where the report ends, and falls as deep.
  await page.locator("figure.chart svg").nth(1).waitFor();
  includes(await page.locator("figure.chart svg").nth(0).getAttribute("aria-label"), written(performance.end, 2, true), `${what}: end of the curve`);
  includes(await page.locator("figure.chart svg").nth(1).getAttribute("aria-label"), written(-performance.drawdowns[0].depth, 2), `${what}: the deepest fall of the curve`);
  await see("run");
  // A losing trade opens what surrounded it.
  await region.getByRole("button").first().click();
  const worst = performance.drawdowns[0].worstTrades[0];
  const context = (await server.call("get_context", { runId: runs[0].runId, eventId: worst.entry, before: 8, after: 8 })).structuredContent;
  await page.locator("main table tbody tr").first().waitFor();
  same(await page.locator("main table tbody tr").count(), context.before.length + context.after.length + 1, `${what}: events around it`);
}

export async function runsEvents({ page, server, what, t, see }) {
  const [run] = (await server.call("list_backtest_runs", {})).structuredContent.runs;
  await page.goto(`${server.base}/runs#events`);
  await page.getByText(t("No run is chosen.", "ยังไม่ได้เลือกผลทดสอบ")).waitFor();
  await page.getByRole("link", { name: t("Choose one", "เลือกจากรายการ") }).click();
  await page.getByRole("button", { name: t(`Open ${run.strategyName}`, `เปิด ${run.strategyName}`) }).click();
  await page.getByRole("link", { name: t("Events", "เหตุการณ์"), exact: true }).click();
  await page.getByLabel(t("Kind of event", "ชนิดเหตุการณ์")).selectOption("RiskEvent");
  const reply = (await server.call("get_events_by_type", { runId: run.runId, eventType: "RiskEvent", pageSize: 25, pageIndex: 1 })).structuredContent;
  await page.getByText(t(`${reply.metadata.totalCount} events`, `${reply.metadata.totalCount} เหตุการณ์`)).waitFor();
  await page.getByRole("button", { name: t("Next", "ถัดไป") }).click();
  await page.locator(".pager span", { hasText: "2" }).waitFor();
  await page.locator(".list .row").nth(reply.events.length - 1).waitFor();
  await see("events");
  await page.locator(".list .row button").first().click();
  await page.locator("main table").waitFor();
  check((await page.locator("main h1").count()) > 0, `${what}: the event has a heading`);
}

export async function runsCompareNeedsTwo({ page, server, what, t }) {
  await page.goto(`${server.base}/runs#compare`);
  await page.getByText(t("Two runs are needed to compare.", "ต้องมีสองรายการจึงเปรียบเทียบได้")).waitFor();
  includes(await page.locator(".empty").innerText(), "panoply backtest import", `${what}: what to do`);
}
