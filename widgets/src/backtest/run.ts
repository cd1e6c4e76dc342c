// A run of a strategy: what is in it, profit and drawdown over time, its trades, and what
// happened around one of them.

import { Reply } from "../common/bridge";
import { chart } from "../common/chart";
import { h } from "../common/dom";
import { amount, asNumber, date, dateTime, dayAndMonth, number, short } from "../common/format";
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
  sampled: { en: "Drawn from {shown} of {total} changes of state.", th: "วาดจาก {shown} จาก {total} การเปลี่ยนสถานะ" },
  noProfit: { en: "The log has no profit and loss to draw.", th: "บันทึกนี้ไม่มีข้อมูลกำไรขาดทุน" },
  security: { en: "Security", th: "หลักทรัพย์" },
  side: { en: "Side", th: "ด้าน" },
  quantity: { en: "Quantity", th: "จำนวน" },
  price: { en: "Price", th: "ราคา" },
  commission: { en: "Commission", th: "ค่านายหน้า" },
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
/** How far ahead a later change at the same time is looked for. */
const SAME_TIME = 64;
/** As many changes of state as fit into one reply; of more, this many are taken, evenly spread. */
const MOST_POINTS = 800;

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
  if (data.types?.TradeExecution) void drawTrades(data.runId, 0, trades, page);
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

/** Profit as the log tells it with each change of state, and how far below its peak it is. */
async function drawProfit(data: any, place: HTMLElement, page: Page): Promise<void> {
  const rows = data.types?.StateChange ? await profits(data, page).catch(() => []) : [];
  // Of several changes at one time the last counts, as in `get_performance`.
  const known = rows.filter(([at, realized], place) => asNumber(realized) !== null && !rows.slice(place + 1, place + 1 + SAME_TIME).some(([later, figure]) => later === at && asNumber(figure) !== null));
  if (known.length < 2) {
    place.replaceChildren(h("p", { class: "quiet" }, page.t(own.noProfit)));
    return;
  }
  let peak = -Infinity;
  const points = known.map(([at, realized, unrealized]) => {
    const value = (asNumber(realized) ?? 0) + (asNumber(unrealized) ?? 0);
    peak = Math.max(peak, value, 0);
    return { at: dayAndMonth(at, page.reader), label: dateTime(at, page.reader), when: Date.parse(at), value, fall: value - peak };
  });
  const values = points.map((point) => point.value);
  const write = (value: number) => number(value, page.reader, 2, true);
  const shared = { along: page.t(own.time), write, axis: (value: number) => short(value, page.reader) };
  place.replaceChildren(
    chart(page, [{ name: page.t(own.profit), points }], {
      ...shared,
      title: page.t(own.profit),
      description: say(page.t(own.profitSaid), { end: write(values.at(-1) as number), high: write(Math.max(...values)), low: write(Math.min(...values)) }),
    }),
    chart(page, [{ name: page.t(own.drawdown), points: points.map((point) => ({ ...point, value: point.fall })) }], {
      ...shared,
      title: page.t(own.drawdown),
      description: say(page.t(own.drawdownSaid), { deep: write(Math.min(...points.map((point) => point.fall))) }),
      kind: "below",
      height: 130,
    }),
    rows.length >= data.types.StateChange ? "" : h("p", { class: "quiet" }, say(page.t(own.sampled), { shown: number(rows.length, page.reader, 0), total: number(data.types.StateChange, page.reader, 0) })),
  );
}

/** Time, realized and unrealized at each change of state. */
async function profits(data: any, page: Page): Promise<[string, unknown, unknown][]> {
  const whole = data.types.StateChange <= MOST_POINTS;
  const asked = { runId: data.runId, eventType: "StateChange", format: "table", fields: ["timestamp", "StateAfter.RealizedPnL", "StateAfter.UnrealizedPnL"], ...(whole ? { pageSize: MOST_POINTS } : { sample: MOST_POINTS }) };
  const reply = await page.ask("get_events_by_type", asked);
  const rows: [string, unknown, unknown][] = reply.data?.table?.rows ?? [];
  if (whole && rows.length === data.types.StateChange) return rows;
  // A sample may miss the end, which is what people ask first.
  const end = (await page.ask("get_state_snapshot", { runId: data.runId, timestamp: data.last })).data?.state?.pnl;
  return end ? [...rows, [data.last, end.realized, end.unrealized]] : rows;
}

async function drawTrades(runId: string, index: number, place: HTMLElement, page: Page): Promise<void> {
  const reply = await page.ask("get_events_by_type", { runId, eventType: "TradeExecution", pageSize: TRADES, pageIndex: index }).catch(() => null);
  const events: any[] = reply?.data?.events ?? [];
  if (!events.length) return;
  const total: number = reply?.data?.metadata?.totalCount ?? events.length;
  const columns = [
    { name: page.t(own.time), heads: true, cell: (event: any) => h("button", { type: "button", class: "plain", "data-focus": `event-${event.eventId}`, onclick: () => void page.open("get_context", { runId, eventId: event.eventId, before: 6, after: 6 }) }, dateTime(event.timestamp, page.reader)) },
    { name: page.t(own.security), cell: (event: any) => String(event.properties.SecuritySymbol ?? "") },
    { name: page.t(own.side), cell: (event: any) => side(event.properties.Direction, page) },
    { name: page.t(own.quantity), figure: true, cell: (event: any) => amount(event.properties.Quantity, page.reader) },
    { name: page.t(own.price), figure: true, cell: (event: any) => amount(event.properties.Price, page.reader) },
    { name: page.t(own.commission), figure: true, wide: true, cell: (event: any) => amount(event.properties.Commission, page.reader) },
  ];
  const go = (to: number) => () => void drawTrades(runId, to, place, page);
  const first = index * TRADES;
  place.replaceChildren(
    h("h2", null, page.t(own.trades)),
    table(page.t(own.trades), columns, events, { unseenCaption: true }),
    pager(page, say(page.t(own.pageOf), { from: first + 1, to: first + events.length, total: number(total, page.reader, 0) }), index > 0 ? go(index - 1) : null, first + events.length < total ? go(index + 1) : null),
  );
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
  const tiles: [Text, string][] = [
    [own.total, amount(state.pnl?.total, page.reader, true)],
    [own.realized, amount(state.pnl?.realized, page.reader, true)],
    [own.unrealized, amount(state.pnl?.unrealized, page.reader, true)],
    [own.positions, number(state.positions?.length ?? 0, page.reader, 0)],
    [own.open, number(state.activeOrders?.length ?? 0, page.reader, 0)],
  ];
  return h("section", null, h("h2", null, page.t(own.stateThen)), h("dl", { class: "tiles" }, tiles.map(([name, value]) => h("div", null, h("dt", null, page.t(name)), h("dd", null, value)))));
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
