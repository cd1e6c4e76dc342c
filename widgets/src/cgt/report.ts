// A capital gains report: each tax year with its sales, the purchases they were matched with,
// and what is left in the pools. Amounts arrive as decimal text and stay exact.

import { Reply } from "../common/bridge";
import { h } from "../common/dom";
import { amount, asNumber, date, MISSING, number } from "../common/format";
import { say, Text } from "../common/i18n";
import { Page, View } from "../common/page";
import { pager, table } from "../common/table";

const own = {
  title: { en: "Capital gains report", th: "รายงานกำไรจากการขายหลักทรัพย์" },
  year: { en: "Tax year {year}", th: "ปีภาษี {year}" },
  gains: { en: "Gains", th: "กำไร" },
  losses: { en: "Losses", th: "ขาดทุน" },
  net: { en: "Net gain", th: "กำไรสุทธิ" },
  exempt: { en: "Exempt amount", th: "ส่วนที่ได้รับยกเว้น" },
  taxable: { en: "Taxable gain", th: "กำไรที่ต้องเสียภาษี" },
  proceeds: { en: "Proceeds", th: "เงินที่ได้รับ" },
  cost: { en: "Allowable cost", th: "ต้นทุนที่หักได้" },
  gain: { en: "Gain or loss", th: "กำไรหรือขาดทุน" },
  dividends: { en: "Dividends", th: "เงินปันผล" },
  sales: { en: "Sales in {year} and what they were matched with", th: "การขายในปี {year} และรายการซื้อที่จับคู่" },
  sale: { en: "Sale", th: "การขาย" },
  shares: { en: "Shares", th: "จำนวนหุ้น" },
  noSales: { en: "No sales in this year.", th: "ไม่มีการขายในปีนี้" },
  pools: { en: "Left in the Section 104 pools", th: "คงเหลือในกอง Section 104" },
  share: { en: "Share", th: "หุ้น" },
  poolCost: { en: "Cost", th: "ต้นทุน" },
  sameDay: { en: "bought the same day", th: "ซื้อในวันเดียวกัน" },
  thirtyDays: { en: "bought within 30 days, {date}", th: "ซื้อภายใน 30 วัน ({date})" },
  pool: { en: "from the Section 104 pool", th: "จากกอง Section 104" },
  later: { en: "bought later, {date}", th: "ซื้อภายหลัง ({date})" },
  warnings: { en: "To keep in mind", th: "ข้อควรระวัง" },
  transfers: { en: "Transfers to a spouse: {count}, without gain or loss", th: "โอนให้คู่สมรส {count} รายการ โดยไม่มีกำไรหรือขาดทุน" },
  pageOf: { en: "Sales {from}–{to} of {total}", th: "การขาย {from}–{to} จาก {total}" },
  asOf: { en: "Rates and allowances as of {date}.", th: "อัตราและค่าลดหย่อน ณ {date}" },
  caution: {
    en: "An aid for your own tax return, not tax advice. The whole history of each holding must be in it.",
    th: "ใช้ประกอบการยื่นภาษีด้วยตนเอง ไม่ใช่คำแนะนำทางภาษี ต้องมีประวัติของหุ้นแต่ละตัวครบถ้วน",
  },
  none: { en: "No sales and no holdings were found.", th: "ไม่พบการขายหรือหลักทรัพย์คงเหลือ" },
} satisfies Record<string, Text>;

export const report: View = {
  draw: (reply, page) => (reply.data?.tax_years?.length || reply.data?.holdings?.length ? drawn(reply, page) : null),
  empty: own.none,
  asOf: (reply, page) => (reply.data?.parameters_as_of ? say(page.t(own.asOf), { date: date(reply.data.parameters_as_of, page.reader) }) : null),
  caution: own.caution,
};

function drawn(reply: Reply, page: Page): (Node | null)[] {
  const { tax_years, holdings, warnings, spouse_transfers } = reply.data;
  return [
    h("header", null, h("h1", { tabindex: -1 }, page.t(own.title))),
    ...(tax_years ?? []).map((year: any) => taxYear(year, page)),
    turns(reply, page),
    pools(holdings ?? [], page),
    spouse_transfers?.length ? h("p", null, say(page.t(own.transfers), { count: spouse_transfers.length })) : null,
    notes(warnings ?? [], page),
  ];
}

function taxYear(year: any, page: Page): Node {
  const tiles: [Text, Node | string][] = [
    [own.gains, pounds(year.total_gain, page)],
    [own.losses, pounds(year.total_loss, page)],
    [own.net, signed(year.net_gain, page)],
    [own.exempt, pounds(year.exempt_amount, page)],
    [own.taxable, pounds(year.taxable_gain, page)],
    [own.proceeds, pounds(year.gross_proceeds, page)],
    [own.cost, pounds(year.total_allowable_cost, page)],
  ];
  if (asNumber(year.dividend_income)) tiles.push([own.dividends, pounds(year.dividend_income, page)]);
  return h(
    "section",
    null,
    h("h2", null, say(page.t(own.year), { year: year.period })),
    h("dl", { class: "tiles" }, tiles.map(([name, value]) => h("div", null, h("dt", null, page.t(name)), h("dd", null, value)))),
    year.disposals?.length ? sales(year, page) : year.disposals && h("p", { class: "quiet" }, page.t(own.noSales)),
  );
}

function sales(year: any, page: Page): Node {
  const title = say(page.t(own.sales), { year: year.period });
  const head = [own.sale, own.shares, own.proceeds, own.cost, own.gain];
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": title, style: "margin-block-start:12px" },
    h(
      "table",
      { class: "groups" },
      h("caption", { class: "unseen" }, title),
      h("thead", null, h("tr", null, head.map((name, place) => h("th", { scope: "col", class: place ? "figure" : null }, page.t(name))))),
      year.disposals.map((sale: any) => disposal(sale, page)),
    ),
  );
}

/** A sale, and under it each purchase that it took shares from. */
function disposal(sale: any, page: Page): Node {
  const match = (one: any) =>
    h(
      "tr",
      { class: "part" },
      h("th", { scope: "row" }, ruleOf(one, page)),
      h("td", { class: "figure" }, amount(one.quantity, page.reader)),
      h("td", null),
      h("td", { class: "figure" }, pounds(one.allowable_cost, page)),
      h("td", { class: "figure" }, signed(one.gain_or_loss, page)),
    );
  return h(
    "tbody",
    null,
    h(
      "tr",
      null,
      h("th", { scope: "rowgroup" }, sale.ticker, h("small", null, date(sale.date, page.reader))),
      h("td", { class: "figure" }, amount(sale.quantity, page.reader)),
      h("td", { class: "figure" }, pounds(sale.proceeds, page)),
      h("td", null),
      h("td", { class: "figure" }, h("b", null, signed(sale.gain_or_loss, page))),
    ),
    (sale.matches ?? []).map(match),
  );
}

function ruleOf(match: any, page: Page): string {
  const bought = date(match.acquisition_date, page.reader);
  switch (match.rule) {
    case "SameDay": return page.t(own.sameDay);
    case "BedAndBreakfast": return say(page.t(own.thirtyDays), { date: bought });
    case "Section104": return page.t(own.pool);
    default: return match.acquisition_date ? say(page.t(own.later), { date: bought }) : String(match.rule);
  }
}

function pools(holdings: any[], page: Page): Node | null {
  if (!holdings.length) return null;
  const columns = [
    { name: page.t(own.share), heads: true, cell: (one: any) => String(one.ticker) },
    { name: page.t(own.shares), figure: true, cell: (one: any) => amount(one.quantity, page.reader) },
    { name: page.t(own.poolCost), figure: true, cell: (one: any) => pounds(one.total_cost, page) },
  ];
  return h("section", null, h("h2", null, page.t(own.pools)), table(page.t(own.pools), columns, holdings, { unseenCaption: true }));
}

function turns(reply: Reply, page: Page): Node | null {
  const { page: shown } = reply.data;
  const given = reply.input?.["cgt_content"] ?? reply.input?.["transactions"];
  if (!shown || shown.total <= shown.shown || !given) return null;
  const go = (offset: number) => () => void page.replace("calculate_report", { ...reply.input, limit: shown.shown || undefined, offset });
  const label = say(page.t(own.pageOf), { from: number(shown.offset + 1, page.reader, 0), to: number(shown.offset + shown.shown, page.reader, 0), total: number(shown.total, page.reader, 0) });
  const step = Number(reply.input["limit"] ?? shown.shown);
  return pager(page, label, shown.offset > 0 ? go(Math.max(0, shown.offset - step)) : null, shown.next_offset === null ? null : go(shown.next_offset));
}

function notes(warnings: any[], page: Page): Node | null {
  if (!warnings.length) return null;
  const text = (warning: any) => (typeof warning === "string" ? warning : (warning.message ?? JSON.stringify(warning)));
  return h("section", { class: "note" }, h("h2", { style: "margin-block-start:0" }, page.t(own.warnings)), h("ul", null, warnings.map((warning) => h("li", null, text(warning)))));
}

function pounds(value: unknown, page: Page): string {
  const text = amount(value, page.reader);
  return text === MISSING ? text : text.startsWith("−") ? `−£${text.slice(1)}` : `£${text}`;
}

function signed(value: unknown, page: Page): Node {
  const known = asNumber(value) ?? 0;
  const text = pounds(value, page);
  return h("span", { class: known > 0 ? "up" : known < 0 ? "down" : null }, known > 0 ? `+${text}` : text);
}
