// What the pages of the other packs must show, told from the reply alone.
import { check, dateOf, includes, same, written } from "./judge.mjs";

// HMRC's HS284 example 2, with a purchase within thirty days added.
const HISTORY = "2015-04-01 BUY LOBSTER 1000 @ 4 FEES 150\n2018-09-01 BUY LOBSTER 500 @ 4.10 FEES 80\n2021-05-01 SELL LOBSTER 700 @ 4.80 FEES 100\n2021-05-10 BUY LOBSTER 100 @ 4.60\n2022-06-01 SELL LOBSTER 200 @ 3.10 FEES 10\n2022-07-01 SELL LOBSTER 100 @ 5.20";
const RUN = "d91a7ddb-8986-54b3-8bd4-42d1dab9869e";
const FILL = "57453022-ff75-5624-af3c-230a3df4f960";

export const pages = [
  { page: "cgt-report", tool: "calculate_report", input: { cgt_content: HISTORY }, expect: report },
  { page: "cgt-report", tool: "calculate_report", input: { cgt_content: HISTORY, limit: 2 }, expect: report, then: nextSales },
  { page: "noema-review", tool: "get-next-card", input: {}, prepare: makeCards, expect: question, then: review },
  { page: "noema-forecast", tool: "forecast-reviews", input: { days: 7 }, expect: forecast, then: month, wordless: true },
  { page: "backtest-run", tool: "describe_run", input: { runId: RUN }, expect: run, then: trades },
  { page: "backtest-run", tool: "get_context", input: { runId: RUN, eventId: FILL, before: 4, after: 4 }, expect: context },
  { page: "ttm-graph", tool: "query_kg", input: { start: { type: "herb", id: "H:turmeric" }, pattern: "herb->constituent->indication", filters: { limit: 8 } }, expect: graph, then: onwards },
  { page: "ttm-graph", tool: "query_kg", input: { start: { type: "herb", id: "กระ" } }, expect: candidates, then: chooseOne },
];

const table = (frame) => frame.locator("tbody tr").evaluateAll((all) => all.map((row) => row.innerText.replace(/\s+/g, " ").trim()));

/** `−£12.00`: amounts are decimal text, written as they came. */
function pounds(text, sign = false) {
  const value = Number(text);
  const digits = (text.split(".")[1] ?? "").length;
  const plain = written(Math.abs(value), digits);
  return `${value < 0 ? "−" : sign && value > 0 ? "+" : ""}£${plain}`;
}

async function report({ frame, reply, lang, what }) {
  const { tax_years: years, holdings } = reply.structuredContent;
  const all = await frame.locator("main").innerText();
  for (const year of years) {
    includes(all, year.period, what);
    for (const name of ["total_gain", "total_loss", "exempt_amount", "taxable_gain", "gross_proceeds", "total_allowable_cost"]) includes(all, pounds(year[name]), `${what}: ${year.period} ${name}`);
    includes(all, pounds(year.net_gain, true), `${what}: net gain of ${year.period}`);
  }
  const rows = await table(frame);
  const lines = years.flatMap((year) => year.disposals ?? []).flatMap((sale) => [
    [sale.ticker, dateOf(sale.date, lang), written(Number(sale.quantity), 0), pounds(sale.proceeds), pounds(sale.gain_or_loss, true)],
    ...sale.matches.map((match) => [written(Number(match.quantity), 0), pounds(match.allowable_cost), pounds(match.gain_or_loss, true), ...(match.acquisition_date && match.rule !== "SameDay" ? [dateOf(match.acquisition_date, lang)] : [])]),
  ]);
  same(rows.length, lines.length + holdings.length, `${what}: rows`);
  lines.forEach((parts, place) => parts.forEach((part) => includes(rows[place] ?? "", part, `${what}: row ${place}`)));
  holdings.forEach((pool, place) => [pool.ticker, written(Number(pool.quantity), 0), pounds(pool.total_cost)].forEach((part) => includes(rows[lines.length + place] ?? "", part, `${what}: pool ${place}`)));
  includes(all, dateOf(reply.structuredContent.parameters_as_of, lang), `${what}: as of`);
}

async function nextSales({ frame, server, lang, what }) {
  await frame.getByRole("button", { name: lang === "th" ? /ถัดไป/ : /Next/ }).click();
  const reply = await server.call("calculate_report", { cgt_content: HISTORY, limit: 2, offset: 2 });
  await frame.getByText(dateOf("2022-07-01", lang)).waitFor();
  await report({ frame, reply, lang, what: `${what}, the rest` });
}

export async function makeCards(server) {
  const { deck } = (await server.call("create-deck", { name: "ภาษาไทย" })).structuredContent.data;
  const notes = Array.from({ length: 16 }, (_, place) => ({ front: `คำที่ ${place + 1} แปลว่าอะไร`, back: `word ${place + 1}` }));
  await server.call("create-cards", { deckId: deck.deckId, draft: false, notes });
}

async function question({ frame, reply, what, lang }) {
  const { card, new: fresh } = reply.structuredContent.data;
  const all = await frame.locator("main").innerText();
  for (const part of [card.front, card.deck, lang === "th" ? `ใหม่ ${fresh}` : `${fresh} new`]) includes(all, part, what);
  check(!all.includes("word"), `${what}: the answer is not shown`);
}

/** Turns the card, rates it and asks for the next, with keys alone. */
async function review({ page, frame, server, lang, what }) {
  const front = await frame.locator(".sheet").innerText();
  await frame.locator("[data-focus=main]").focus();
  await page.keyboard.press("Enter");
  await frame.locator(".ratings").waitFor();
  const place = /\d+/.exec(front)[0];
  includes(await frame.locator(".sheet").innerText(), `word ${place}`, `${what}: the answer`);
  same(await frame.locator(".ratings button").count(), 4, `${what}: four ratings`);
  same(await frame.evaluate(() => document.activeElement?.dataset.focus), "main", `${what}: focus is on "good"`);
  await page.keyboard.press("Enter");
  await frame.locator(".tiles").waitFor();
  includes(await frame.locator("h1").innerText(), lang === "th" ? "บันทึกแล้ว: ดี" : "Recorded: Good", what);
  const left = (await server.call("get-next-card", {})).structuredContent.data;
  await page.keyboard.press("Enter");
  await frame.locator(".sheet").waitFor();
  same(await frame.locator(".sheet").innerText(), left.card.front, `${what}: the next card`);
}

async function forecast({ frame, reply, what, lang }) {
  const { days, total, limit } = reply.structuredContent.data;
  const all = await frame.locator("main").innerText();
  for (const value of [total, limit, Math.max(...days.map((day) => day.due))]) includes(all, written(value, 0), what);
  same(await frame.locator("rect.bar").count(), days.length, `${what}: bars`);
  await frame.locator("summary").click();
  await frame.locator("tbody tr").nth(days.length - 1).waitFor();
  const rows = await table(frame);
  days.forEach((day, place) => same(rows[place], `${dateOf(day.begins, lang)} ${written(day.due, 0)}`, `${what}: day ${place}`));
}

async function month({ frame, server, lang, what }) {
  await frame.getByRole("button", { name: lang === "th" ? "30 วัน" : "30 days", exact: true }).click();
  await frame.locator("button[data-focus=days-30][aria-pressed=true]").waitFor();
  await forecast({ frame, reply: await server.call("forecast-reviews", { days: 30 }), lang, what: `${what}, a month` });
}

async function run({ frame, reply, what, lang, server }) {
  const data = reply.structuredContent;
  await frame.locator("figure svg").nth(1).waitFor();
  await frame.locator("tbody tr").first().waitFor();
  const all = await frame.locator("main").innerText();
  for (const value of [data.events, data.types.TradeExecution, data.types.OrderRejection]) includes(all, written(value, 0), what);
  includes(all, data.strategyName, what);
  includes(all, dateOf(data.first, lang), what);
  // The end of the curve is what the state at the end says.
  const end = (await server.call("get_state_snapshot", { runId: RUN, timestamp: data.last })).structuredContent.state.pnl.total;
  includes(await frame.locator("figure svg").first().getAttribute("aria-label"), written(end, 2, true), `${what}: profit at the end`);
  const { trades } = (await server.call("list_trades", { runId: RUN, pageSize: 8 })).structuredContent;
  const rows = await table(frame);
  same(rows.length, trades.length, `${what}: trades`);
  const decimals = (value) => (String(value).split(".")[1] ?? "").length;
  trades.forEach(({ securitySymbol, profit }, place) => [securitySymbol, written(profit, decimals(profit), true)].forEach((part) => includes(rows[place] ?? "", part, `${what}: trade ${place}`)));
}

async function trades({ frame, server, lang, what }) {
  await frame.getByRole("button", { name: lang === "th" ? /ถัดไป/ : /Next/ }).click();
  const { trades } = (await server.call("list_trades", { runId: RUN, pageSize: 8, pageIndex: 1 })).structuredContent;
  await frame.locator(`[data-focus="trade-${trades[0].number}"]`).click();
  await frame.locator(".badge").waitFor();
  const input = { runId: RUN, eventId: trades[0].fills[0], before: 6, after: 6 };
  await context({ frame, reply: await server.call("get_context", input), what: `${what}, around a trade` });
}

async function context({ frame, reply, what }) {
  const { before, event, after, state } = reply.structuredContent;
  const rows = await table(frame);
  const events = [...before, event, ...after];
  same(rows.length, events.length, `${what}: rows`);
  events.forEach((one, place) => {
    includes(rows[place], one.eventType, `${what}: row ${place}`);
    if (one.properties.Price) includes(rows[place], String(one.properties.Price), `${what}: row ${place}`);
  });
  const all = await frame.locator("main").innerText();
  if (state.pnl.total) includes(all, written(state.pnl.total, (String(state.pnl.total).split(".")[1] ?? "").length, true), `${what}: profit then`);
}

async function graph({ frame, reply, what, lang }) {
  const { paths: all, scores, start } = reply.structuredContent;
  // More lines than this are a tangle; the table has the rest.
  const paths = all.slice(0, 40);
  includes(await frame.locator("h1").innerText(), start.label, what);
  const boxes = await frame.locator(".graph ul").evaluateAll((columns) => columns.map((column) => [...column.querySelectorAll("[data-id]")].map((box) => box.dataset.id)));
  boxes.forEach((column, depth) => {
    const expected = [...new Set(paths.map((path) => path[depth]?.id).filter(Boolean))];
    same(column.join(" "), expected.join(" "), `${what}: column ${depth}`);
  });
  // Two things may be joined in several ways; the best, which comes first, is drawn.
  const steps = new Map();
  for (const path of paths) path.slice(1).forEach((node, place) => { const name = `${place} ${path[place].id} ${node.id}`; if (!steps.has(name)) steps.set(name, node.edge.inferred === true); });
  same(await frame.locator(".graph path.link").count(), steps.size, `${what}: lines`);
  same(await frame.locator(".graph path.link.inferred").count(), [...steps.values()].filter(Boolean).length, `${what}: inferred lines`);
  const rows = await table(frame);
  same(rows.length, all.length, `${what}: rows`);
  all.forEach((path, place) => {
    for (const node of path) includes(rows[place], node.label.replace(/\s+/g, " "), `${what}: path ${place}`);
    includes(rows[place], written(scores[place], 2), `${what}: score of path ${place}`);
    const isInferred = path.some((node) => node.edge?.inferred);
    same(rows[place].includes(lang === "th" ? "อนุมาน" : "inferred"), isInferred, `${what}: path ${place} says that it is inferred`);
  });
  includes(await frame.locator("footer").innerText(), lang === "th" ? "ไม่ใช่คำแนะนำทางการแพทย์" : "not medical advice", `${what}: caution`);
}

/** The next paths, then on from a constituent. */
async function onwards({ frame, server, lang, what }) {
  const first = { start: { type: "herb", id: "H:turmeric" }, pattern: "herb->constituent->indication", filters: { limit: 8 } };
  await frame.getByRole("button", { name: lang === "th" ? /ถัดไป/ : /Next/ }).click();
  const second = await server.call("query_kg", { ...first, filters: { limit: 8, offset: 8 } });
  await frame.getByText(lang === "th" ? "ตั้งแต่เส้นทางที่ 9" : "From path 9").waitFor();
  await graph({ frame, reply: second, lang, what: `${what}, the next paths` });
  const node = second.structuredContent.paths[0][1];
  await frame.locator(`.graph [data-id="${node.id}"]`).first().click();
  await frame.getByRole("heading", { level: 1, name: node.label }).waitFor();
  await graph({ frame, reply: await server.call("query_kg", { start: { type: node.type, id: node.id }, max_depth: 2, filters: { limit: 24 } }), lang, what: `${what}, from ${node.id}` });
}

async function candidates({ frame, reply, what }) {
  const all = await frame.locator("main").innerText();
  for (const one of reply.structuredContent.candidates) includes(all, one.label, what);
}

async function chooseOne({ frame, reply, lang, server, what }) {
  const [one] = reply.structuredContent.candidates;
  await frame.getByRole("button", { name: one.label }).click();
  await frame.locator(".graph").waitFor();
  await graph({ frame, reply: await server.call("query_kg", { start: { type: one.type, id: one.id } }), lang, what: `${what}, chosen` });
}
