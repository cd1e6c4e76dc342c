// A run of a strategy: what is in it, profit and drawdown over time, its trades, and what
// happened around one of them.

import { Reply } from "../common/bridge";
import { chart } from "../common/chart";
import { h } from "../common/dom";
import { amount, date, dateTime, dayAndMonth, number, short } from "../common/format";
import { say, Text } from "../common/i18n";
import { Page, View } from "../common/page";
import { pager, table } from "../common/table";

const own = {
  run: { en: "Backtest run", th: "การทดสอบกลยุทธ์" },
  from: { en: "{first} – {last}", th: "{first} – {last}" },
  events: { en: "Events", th: "เหตุการณ์" },
  trades: { en: "Trades", th: "การซื้อขาย" },
  rejections: { en: "Rejected orders", th: "คำสั่งที่ถูกปฏิเสธ" },
  risks: { en: "Risk events", th: "เหตุการณ์ความเสี่ยง" },
  errors: { en: "Events with errors", th: "เหตุการณ์ที่ผิดพลาด" },
  securities: { en: "Securities", th: "หลักทรัพย์" },
  profit: { en: "Profit and loss", th: "กำไรขาดทุน" },
  drawdown: { en: "Below the highest profit so far", th: "ลดลงจากกำไรสูงสุดที่ผ่านมา" },
  time: { en: "Time (UTC)", th: "เวลา (UTC)" },
  profitSaid: { en: "Ends at {end}; highest {high}, lowest {low}.", th: "สิ้นสุดที่ {end} สูงสุด {high} ต่ำสุด {low}" },
  drawdownSaid: { en: "The deepest fall is {deep}.", th: "ลดลงมากที่สุด {deep}" },
  sampled: { en: "Drawn from {shown} of {total} points, with all extremes.", th: "วาดจาก {shown} จาก {total} จุด รวมค่าสูงสุดและต่ำสุด" },
  inCurrency: { en: "{what} in {currency}", th: "{what} ({currency})" },
  winRate: { en: "Win rate", th: "อัตราชนะ" },
  profitFactor: { en: "Profit factor", th: "อัตรากำไรต่อขาดทุน" },
  sharpe: { en: "Sharpe ratio", th: "อัตราส่วนชาร์ป" },
  deepest: { en: "Deepest drawdown", th: "การลดลงสูงสุด" },
  exposure: { en: "Time in the market", th: "เวลาที่ถือสถานะ" },
  outcome: { en: "Outcome", th: "ผลลัพธ์" },
  every: { en: "All", th: "ทั้งหมด" },
  wins: { en: "Wins", th: "กำไร" },
  losses: { en: "Losses", th: "ขาดทุน" },
  long: { en: "Long", th: "ซื้อก่อน" },
  short: { en: "Short", th: "ขายก่อน" },
  sortBy: { en: "Sort by", th: "เรียงตาม" },
  opened: { en: "Opened", th: "เปิดเมื่อ" },
  held: { en: "Held", th: "ระยะถือ" },
  entry: { en: "Entry", th: "ราคาเข้า" },
  exit: { en: "Exit", th: "ราคาออก" },
  adverse: { en: "Worst", th: "ขาดทุนสูงสุด" },
  worstFirst: { en: "Worst first", th: "ขาดทุนมากสุดก่อน" },
  bestFirst: { en: "Best first", th: "กำไรมากสุดก่อน" },
  longestFirst: { en: "Longest first", th: "ถือนานสุดก่อน" },
  noTrades: { en: "No trade matches.", th: "ไม่มีการซื้อขายที่ตรงเงื่อนไข" },
  noProfit: { en: "The log has no profit and loss to draw.", th: "บันทึกนี้ไม่มีข้อมูลกำไรขาดทุน" },
  security: { en: "Security", th: "หลักทรัพย์" },
  side: { en: "Side", th: "ด้าน" },
  quantity: { en: "Quantity", th: "จำนวน" },
  buy: { en: "Buy", th: "ซื้อ" },
  sell: { en: "Sell", th: "ขาย" },
  pageOf: { en: "{from}–{to} of {total}", th: "{from}–{to} จาก {total}" },
  around: { en: "What happened around it", th: "เหตุการณ์รอบข้าง" },
  what: { en: "Event", th: "เหตุการณ์" },
  details: { en: "Details", th: "รายละเอียด" },
  thisOne: { en: "this one", th: "เหตุการณ์นี้" },
  stateThen: { en: "State just then", th: "สถานะขณะนั้น" },
  total: { en: "Total", th: "รวม" },
  realized: { en: "Realized", th: "รับรู้แล้ว" },
  unrealized: { en: "Unrealized", th: "ยังไม่รับรู้" },
  open: { en: "Open orders", th: "คำสั่งที่ค้างอยู่" },
  positions: { en: "Positions", th: "สถานะถือครอง" },
  caution: { en: "Results of a simulation on past data; they do not promise anything about the future.", th: "ผลจากการจำลองด้วยข้อมูลในอดีต มิได้รับประกันผลในอนาคต" },
} satisfies Record<string, Text>;

const TRADES = 8;
/** Points of a curve; the reply keeps its extremes. */
const MOST_POINTS = 400;

export const run: View = {
  draw: (reply, page) => (reply.data?.runId ? drawn(reply, page) : null),
  caution: own.caution,
};

export const context: View = {
  draw: (reply, page) => (reply.data?.before || reply.data?.after ? around(reply, page) : null),
  caution: own.caution,
};

function drawn(reply: Reply, page: Page): (Node | null)[] {
  const { data } = reply;
  const count = (type: string) => number(data.types?.[type] ?? 0, page.reader, 0);
  const tiles: [Text, string][] = [
    [own.events, number(data.events, page.reader, 0)],
    [own.trades, count("TradeExecution")],
    [own.rejections, count("OrderRejection")],
    [own.risks, count("RiskEvent")],
    [own.errors, number(data.metadata?.validationErrors ?? 0, page.reader, 0)],
  ];
  const profit = h("section", { style: "margin-block-start:16px" });
  const trades = h("section");
  void drawProfit(data, profit, page);
  if (data.types?.TradeExecution) void drawTrades({ runId: data.runId, index: 0, outcome: "", direction: "", sort: "opened" }, trades, page);
  return [
    h(
      "header",
      null,
      h("h1", { tabindex: -1 }, data.strategyName ?? page.t(own.run)),
      h("p", { class: "quiet" }, say(page.t(own.from), { first: date(data.first, page.reader), last: date(data.last, page.reader) }), ` · ${(data.symbols ?? []).join(", ")}`),
    ),
    h("dl", { class: "tiles" }, tiles.map(([name, value]) => h("div", null, h("dt", null, page.t(name)), h("dd", null, value)))),
    profit,
    trades,
  ];
}

/** Calls a tool that a host may not list. */
const ask = (page: Page, tool: string, input: Record<string, unknown>) => page.ask(tool, input).catch(() => page.ask("call-tool", { name: tool, arguments: input }));

/** Equity and drawdown of each currency: amounts of different currencies are never added. */
async function drawProfit(data: any, place: HTMLElement, page: Page): Promise<void> {
  const state = await page.ask("get_state_snapshot", { runId: data.runId, timestamp: data.last, includeIndicators: false }).catch(() => null);
  const pnl = state?.data?.state?.pnl;
  const currencies: (string | null)[] = pnl?.byCurrency?.map((own: any) => own.currency) ?? [pnl?.currency ?? null];
  const parts: Node[] = [];
  for (const currency of currencies) {
    const asked = { runId: data.runId, equityPoints: MOST_POINTS, drawdowns: 1, ...(currency ? { currency } : {}) };
    const reply = await ask(page, "get_performance", asked).catch(() => null);
    if ((reply?.data?.equity?.length ?? 0) >= 2) parts.push(...curve(reply?.data, currencies.length > 1 ? currency : null, page));
  }
  place.replaceChildren(...(parts.length ? parts : [h("p", { class: "quiet" }, page.t(own.noProfit))]));
}

function curve(data: any, currency: string | null, page: Page): Node[] {
  const title = (what: Text) => (currency ? say(page.t(own.inCurrency), { what: page.t(what), currency }) : page.t(what));
  const points = data.equity.map((point: any) => ({ at: dayAndMonth(point.time, page.reader), label: dateTime(point.time, page.reader), when: Date.parse(point.time), value: point.value, fall: point.drawdown }));
  const values: number[] = points.map((point: any) => point.value);
  const write = (value: number) => number(value, page.reader, 2, true);
  const shared = { along: page.t(own.time), write, axis: (value: number) => short(value, page.reader) };
  const percent = (value: number | null | undefined) => (value == null ? "–" : `${number(value * 100, page.reader, 1)} %`);
  const plain = (value: number | null | undefined) => (value == null ? "–" : number(value, page.reader, 2));
  const deepest = Math.min(...points.map((point: any) => point.fall));
  const tiles: [Text, string][] = [
    [own.winRate, percent(data.trades?.winRate)],
    [own.profitFactor, plain(data.trades?.profitFactor)],
    [own.sharpe, plain(data.returns?.sharpe)],
    [own.deepest, write(deepest)],
    [own.exposure, percent(data.exposure)],
  ];
  const total: number = data.metadata?.points ?? points.length;
  return [
    chart(page, [{ name: title(own.profit), points }], {
      ...shared,
      title: title(own.profit),
      description: say(page.t(own.profitSaid), { end: write(values.at(-1) as number), high: write(Math.max(...values)), low: write(Math.min(...values)) }),
    }),
    chart(page, [{ name: title(own.drawdown), points: points.map((point: any) => ({ ...point, value: point.fall })) }], {
      ...shared,
      title: title(own.drawdown),
      description: say(page.t(own.drawdownSaid), { deep: write(deepest) }),
      kind: "below",
      height: 130,
    }),
    h("dl", { class: "tiles" }, tiles.map(([name, value]) => h("div", null, h("dt", null, page.t(name)), h("dd", null, value)))),
    ...(points.length < total ? [h("p", { class: "quiet" }, say(page.t(own.sampled), { shown: number(points.length, page.reader, 0), total: number(total, page.reader, 0) }))] : []),
  ];
}

/** Which trades are shown. */
interface Shown {
  runId: string;
  index: number;
  outcome: string;
  direction: string;
  sort: string;
}

const SORTS: Record<string, Record<string, unknown>> = { opened: {}, worst: { sortBy: "profit" }, best: { sortBy: "profit", descending: true }, longest: { sortBy: "holding", descending: true } };

/** A row of trades opens what surrounded its entry. */
async function drawTrades(shown: Shown, place: HTMLElement, page: Page): Promise<void> {
  const { runId, index, outcome, direction, sort } = shown;
  const asked = { runId, pageSize: TRADES, pageIndex: index, ...(outcome ? { outcome } : {}), ...(direction ? { direction } : {}), ...SORTS[sort] };
  const reply = await ask(page, "list_trades", asked).catch(() => null);
  if (!reply?.data?.trades) return;
  const trades: any[] = reply.data.trades;
  const total: number = reply.data.metadata?.totalCount ?? trades.length;
  const columns = [
    { name: page.t(own.opened), heads: true, cell: (trade: any) => h("button", { type: "button", class: "plain", "data-focus": `trade-${trade.number}`, onclick: () => void page.open("get_context", { runId, eventId: trade.fills[0], before: 6, after: 6 }) }, dateTime(trade.opened, page.reader)) },
    { name: page.t(own.security), cell: (trade: any) => String(trade.securitySymbol ?? "") },
    { name: page.t(own.side), cell: (trade: any) => side(trade.direction === "long" ? "Buy" : "Sell", page) },
    { name: page.t(own.quantity), figure: true, wide: true, cell: (trade: any) => amount(trade.size, page.reader) },
    { name: page.t(own.entry), figure: true, wide: true, cell: (trade: any) => amount(trade.entryPrice, page.reader) },
    { name: page.t(own.exit), figure: true, wide: true, cell: (trade: any) => (trade.exitPrice == null ? "–" : amount(trade.exitPrice, page.reader)) },
    { name: page.t(own.held), figure: true, cell: (trade: any) => (trade.holdingSeconds == null ? "–" : hours(trade.holdingSeconds, page)) },
    { name: page.t(own.profit), figure: true, cell: (trade: any) => `${amount(trade.profit, page.reader, true)}${trade.currency ? ` ${trade.currency}` : ""}` },
    { name: page.t(own.adverse), figure: true, wide: true, cell: (trade: any) => (trade.mae == null ? "–" : amount(trade.mae, page.reader, true)) },
  ];
  const go = (change: Partial<Shown>) => () => void drawTrades({ ...shown, ...change }, place, page);
  const first = index * TRADES;
  place.replaceChildren(
    h("h2", null, page.t(own.trades)),
    h(
      "div",
      { class: "row" },
      choice(page.t(own.outcome), outcome, { "": own.every, win: own.wins, loss: own.losses }, (value) => go({ outcome: value, index: 0 })(), page),
      choice(page.t(own.side), direction, { "": own.every, long: own.long, short: own.short }, (value) => go({ direction: value, index: 0 })(), page),
      choice(page.t(own.sortBy), sort, { opened: own.opened, worst: own.worstFirst, best: own.bestFirst, longest: own.longestFirst }, (value) => go({ sort: value, index: 0 })(), page),
    ),
    trades.length ? table(page.t(own.trades), columns, trades, { unseenCaption: true }) : h("p", { class: "quiet" }, page.t(own.noTrades)),
    pager(page, say(page.t(own.pageOf), { from: Math.min(first + 1, total), to: first + trades.length, total: number(total, page.reader, 0) }), index > 0 ? go({ index: index - 1 }) : null, first + trades.length < total ? go({ index: index + 1 }) : null),
  );
}

function choice(name: string, chosen: string, options: Record<string, Text>, pick: (value: string) => void, page: Page): Node {
  const select = h("select", { "data-focus": `choice-${name}`, onchange: () => pick(select.value) }, Object.entries(options).map(([value, text]) => h("option", { value }, page.t(text)))) as HTMLSelectElement;
  select.value = chosen;
  return h("label", null, `${name} `, select);
}

function hours(seconds: number, page: Page): string {
  return seconds >= 172_800 ? `${number(seconds / 86_400, page.reader, 1)} d` : `${number(seconds / 3600, page.reader, 1)} h`;
}

function side(direction: unknown, page: Page): Node | string {
  if (direction === "Buy") return h("span", { class: "up" }, `▲ ${page.t(own.buy)}`);
  if (direction === "Sell") return h("span", { class: "down" }, `▼ ${page.t(own.sell)}`);
  return String(direction ?? "");
}

function around(reply: Reply, page: Page): (Node | null)[] {
  const { before, event, after, state } = reply.data;
  const rows = [...(before ?? []), ...(event ? [event] : []), ...(after ?? [])];
  const columns = [
    { name: page.t(own.time), cell: (one: any) => h("span", { class: "level" }, dateTime(one.timestamp, page.reader)) },
    { name: page.t(own.what), heads: true, cell: (one: any) => h("span", null, String(one.eventType ?? ""), one === event ? h("span", { class: "badge", style: "margin-inline-start:6px" }, page.t(own.thisOne)) : null) },
    { name: page.t(own.details), cell: (one: any) => h("span", { class: "quiet" }, brief(one.properties, page)) },
  ];
  const title = event ? `${event.eventType} · ${dateTime(event.timestamp, page.reader)}` : page.t(own.around);
  return [
    h("header", null, h("h1", { tabindex: -1 }, title), event && h("p", { class: "quiet" }, brief(event.properties, page))),
    state ? stateThen(state, page) : null,
    h("h2", null, page.t(own.around)),
    table(page.t(own.around), columns, rows, { unseenCaption: true }),
  ];
}

function stateThen(state: any, page: Page): Node {
  const tiles: [string, string][] = [];
  // Amounts of several currencies have no total.
  for (const pnl of state.pnl?.byCurrency ?? [state.pnl]) {
    const named = (what: Text) => (pnl?.currency ? say(page.t(own.inCurrency), { what: page.t(what), currency: pnl.currency }) : page.t(what));
    tiles.push([named(own.total), amount(pnl?.total, page.reader, true)], [named(own.realized), amount(pnl?.realized, page.reader, true)], [named(own.unrealized), amount(pnl?.unrealized, page.reader, true)]);
  }
  tiles.push([page.t(own.positions), number(state.positions?.length ?? 0, page.reader, 0)], [page.t(own.open), number(state.activeOrders?.length ?? 0, page.reader, 0)]);
  return h("section", null, h("h2", null, page.t(own.stateThen)), h("dl", { class: "tiles" }, tiles.map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value)))));
}

/** The plain properties of an event, without ids, which say nothing to a reader. */
function brief(properties: any, page: Page): string {
  const parts: string[] = [];
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === null || /Id$/.test(name)) continue;
    if (typeof value === "object") parts.push(...Object.entries(value as object).filter(([, inner]) => inner !== null && typeof inner !== "object").map(([inner, what]) => `${inner} ${typeof what === "number" ? amount(what, page.reader) : what}`));
    else parts.push(typeof value === "number" ? `${name} ${amount(value, page.reader)}` : name === "SecuritySymbol" ? String(value) : `${name} ${value}`);
  }
  return parts.join(" · ");
}
