// Pictures for the README and docs, of real replies in the official host.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { inMcpApps } from "./hosts.mjs";
import { makeCards } from "./others.mjs";

/** name, page, tool, input, theme, language, width, what to do before the picture. */
export const PICTURES = [
  ["rmf-fund-list", "rmf-fund-list", "get_rmf_funds", { pageSize: 8 }, "light", "en", 720],
  ["rmf-fund-list-dark-th", "rmf-fund-list", "get_rmf_funds", { pageSize: 6 }, "dark", "th", 720],
  ["rmf-fund-list-360", "rmf-fund-list", "get_rmf_fund_performance", { period: "1y", limit: 5 }, "light", "th", 360],
  ["rmf-fund-card", "rmf-fund-card", "get_rmf_fund_detail", { fundCode: "ABAPAC-RMF" }, "light", "th", 640],
  ["rmf-fund-comparison", "rmf-fund-comparison", "compare_rmf_funds", { fundCodes: ["ABAPAC-RMF", "B-ASIARMF", "ES-GOLDRMF-UH"] }, "light", "en", 760, (frame) => frame.getByRole("button", { name: /Compare NAV/ }).click().then(() => frame.locator("figure svg").waitFor())],
  ["rmf-fund-comparison-360", "rmf-fund-comparison", "compare_rmf_funds", { fundCodes: ["ABAPAC-RMF", "B-ASIARMF", "ES-GOLDRMF-UH"] }, "dark", "th", 360],
  ["rmf-performance-chart", "rmf-performance-chart", "get_rmf_fund_nav_history", { fundCode: "ABAPAC-RMF", days: 30 }, "dark", "en", 720],
  ["rmf-saving-plan", "rmf-saving-plan", "simulate_rmf_plan", { fundCode: "B-ASIARMF", monthly: 5000, years: 15, taxRate: 20 }, "light", "th", 720],
  ["cgt-report", "cgt-report", "calculate_report", { cgt_content: "2015-04-01 BUY LOBSTER 1000 @ 4 FEES 150\n2018-09-01 BUY LOBSTER 500 @ 4.10 FEES 80\n2021-05-01 SELL LOBSTER 700 @ 4.80 FEES 100\n2021-05-10 BUY LOBSTER 100 @ 4.60\n2022-06-01 SELL LOBSTER 200 @ 3.10 FEES 10" }, "light", "en", 720],
  ["noema-review", "noema-review", "get-next-card", {}, "light", "th", 600, (frame) => frame.locator("[data-focus=main]").click().then(() => frame.locator(".ratings").waitFor()), makeCards],
  ["noema-forecast", "noema-forecast", "forecast-reviews", { days: 30 }, "dark", "en", 640, null, study],
  ["backtest-run", "backtest-run", "describe_run", { runId: "d91a7ddb-8986-54b3-8bd4-42d1dab9869e" }, "light", "en", 760, (frame) => frame.locator("tbody tr").first().waitFor()],
  ["backtest-context-dark", "backtest-run", "get_context", { runId: "d91a7ddb-8986-54b3-8bd4-42d1dab9869e", eventId: "57453022-ff75-5624-af3c-230a3df4f960", before: 4, after: 4 }, "dark", "th", 760],
  ["ttm-graph", "ttm-graph", "query_kg", { start: { type: "herb", id: "H:turmeric" }, pattern: "herb->constituent->indication", filters: { limit: 12 } }, "light", "th", 760],
];

export async function take(kit, server, folder, only) {
  mkdirSync(folder, { recursive: true });
  for (const [name, pageName, tool, input, theme, lang, width, act, prepare] of PICTURES.filter(([name]) => name.includes(only))) {
    // A pack that is not served has no picture.
    const read = await server.rpc("resources/read", { uri: `ui://panoply/${pageName}-v1.html` }).catch(() => null);
    if (!read) continue;
    const [content] = read.contents;
    await prepare?.(server);
    const result = await server.call(tool, input);
    const shown = await inMcpApps(kit, { html: content.text, tool: { name: tool, inputSchema: { type: "object" } }, input, result, theme, locale: lang === "th" ? "th-TH" : "en-GB", answer: (name, args) => server.call(name, args) }, { width, height: 600 });
    await shown.frame.locator("h1").waitFor();
    if (act) await act(shown.frame);
    await shown.page.waitForTimeout(500);
    const height = await shown.page.evaluate(() => window.sizes.at(-1));
    await shown.page.setViewportSize({ width, height: Math.min(height, 1600) });
    await shown.page.waitForTimeout(100);
    await shown.page.screenshot({ path: join(folder, `${name}.png`) });
    await shown.page.close();
    console.log(`took ${name}, ${width} × ${height}`);
  }
}

/** A learner who has studied for a while: cards of every rating, spread by the scheduler itself. */
async function study(server) {
  const { deck } = (await server.call("create-deck", { name: "Biology", options: { newPerDay: 200, learningStepsMinutes: [] } })).structuredContent.data;
  const notes = Array.from({ length: 90 }, (_, place) => ({ front: `Question ${place + 1}`, back: `Answer ${place + 1}` }));
  await server.call("create-cards", { deckId: deck.deckId, draft: false, notes });
  for (let place = 0; place < 90; place += 1) {
    const { card } = (await server.call("get-next-card", { deckId: deck.deckId })).structuredContent.data;
    if (!card) break;
    const { token } = (await server.call("reveal-answer", { token: card.token })).structuredContent.data;
    await server.call("submit-review", { token, rating: ["again", "hard", "good", "good", "easy"][place % 5] });
  }
}

/** The console, wide and narrow. */
export async function takeConsole(kit, server, folder) {
  const call = `#compare_rmf_funds=${encodeURIComponent(JSON.stringify({ fundCodes: ["ABAPAC-RMF", "B-ASIARMF"] }))}`;
  for (const [name, address, theme, locale, width, height] of [
    ["console", call, "light", "en-GB", 1180, 900],
    ["console-dark-th", "#", "dark", "th-TH", 1180, 640],
    ["console-360", `#get_rmf_fund_nav_history=${encodeURIComponent('{"fundCode":"ABAPAC-RMF"}')}`, "light", "th-TH", 360, 1500],
  ]) {
    const context = await kit.browser.newContext({ viewport: { width, height }, colorScheme: theme, locale });
    const page = await context.newPage();
    await page.goto(`${server.base}/console${address}`);
    await page.locator("h1").waitFor();
    if (address !== "#") await page.frameLocator("iframe.picture").locator("h1").waitFor();
    await page.waitForTimeout(400);
    if (name === "console") await page.locator("#outcome").evaluate((element) => window.scrollTo(0, element.getBoundingClientRect().top - 460));
    await page.screenshot({ path: join(folder, `${name}.png`) });
    await context.close();
    console.log(`took ${name}`);
  }
}
