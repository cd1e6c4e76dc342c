// One fund: NAV, risk, returns beside the benchmark, what it holds, costs, papers, doubts.

import { Reply } from "../common/bridge";
import { sparkline } from "../common/chart";
import { h } from "../common/dom";
import { amount, asNumber, date, number, short } from "../common/format";
import { say, Text } from "../common/i18n";
import { Page, View } from "../common/page";
import { table } from "../common/table";
import { asOf, companyOf, flag, gain, missing, nameOf, period, riskWord, words } from "./words";

const own = {
  baht: { en: "THB", th: "บาท" },
  sinceYesterday: { en: "since the last NAV", th: "จาก NAV ก่อนหน้า" },
  riskOf: { en: "Risk {level} of 8: {word}", th: "ความเสี่ยง {level} จาก 8: {word}" },
  returns: { en: "Returns", th: "ผลตอบแทน" },
  period: { en: "Period", th: "ช่วงเวลา" },
  against: { en: "Benchmark: {name}", th: "ดัชนีชี้วัด: {name}" },
  allocation: { en: "What it holds", th: "สัดส่วนการลงทุน" },
  fees: { en: "Fees", th: "ค่าธรรมเนียม" },
  fee: { en: "Fee", th: "ค่าธรรมเนียม" },
  rate: { en: "Rate", th: "อัตรา" },
  noFees: { en: "The figures here have no rates: see the factsheet.", th: "ข้อมูลนี้ไม่มีอัตราค่าธรรมเนียม โปรดดูหนังสือชี้ชวนส่วนสรุป" },
  factsheet: { en: "Factsheet", th: "หนังสือชี้ชวนส่วนสรุป" },
  annual: { en: "Annual report", th: "รายงานประจำปี" },
  halfYear: { en: "Half-year report", th: "รายงานรอบครึ่งปี" },
  company: { en: "Company", th: "บริษัทจัดการ" },
  class: { en: "Classification", th: "ประเภทกองทุน" },
  size: { en: "Net assets", th: "มูลค่าทรัพย์สินสุทธิ" },
  minFirst: { en: "First purchase from", th: "ซื้อครั้งแรกขั้นต่ำ" },
  minNext: { en: "Next purchases from", th: "ซื้อครั้งต่อไปขั้นต่ำ" },
  dividends: { en: "Dividends", th: "เงินปันผล" },
  none: { en: "none", th: "ไม่จ่าย" },
  suits: { en: "Suitability", th: "ความเหมาะสม" },
  facts: { en: "About the fund", th: "ข้อมูลกองทุน" },
  doubts: { en: "About these figures", th: "หมายเหตุเกี่ยวกับข้อมูล" },
  chart: { en: "NAV chart", th: "กราฟ NAV" },
  peers: { en: "Rank among peers", th: "อันดับในกลุ่ม" },
  rank: { en: "1 year: {rank} of {peers} in {group}", th: "1 ปี: อันดับ {rank} จาก {peers} ในกลุ่ม {group}" },
  week: { en: "NAV of the last {days} days with a price, from {first} to {last}", th: "NAV {days} วันทำการล่าสุด จาก {first} ถึง {last}" },
} satisfies Record<string, Text>;

const PERIODS = ["ytd", "3m", "6m", "1y", "3y", "5y", "10y", "since_inception"];

export const fundCard: View = {
  draw: (reply, page) => (reply.data?.fund ? card(reply, page) : null),
  asOf(reply, page) {
    const fund = reply.data?.fund;
    if (!fund?.nav_date) return asOf(reply, page);
    return say(page.t(words.asOf), { nav: date(fund.nav_date, page.reader), returns: date(fund.perf_as_of, page.reader) });
  },
  caution: words.caution,
};

function card(reply: Reply, page: Page): (Node | null)[] {
  const { fund } = reply.data;
  return [head(fund, page), hero(reply, page), actions(fund, page), returns(fund, page), allocation(fund, page), fees(fund, page), facts(reply, page), doubts(fund, page)];
}

function head(fund: any, page: Page): Node {
  return h("header", null, h("h1", { tabindex: -1 }, nameOf(page, fund)), h("p", { class: "quiet" }, h("b", null, fund.symbol), ` · ${companyOf(page, fund)}`));
}

function hero(reply: Reply, page: Page): Node {
  const { fund } = reply.data;
  const history: { date: string; nav: number }[] = reply.meta?.navHistory7d ?? [];
  const nav = asNumber(fund.nav_value);
  const change = asNumber(fund.nav_change);
  const level = asNumber(fund.risk_level);
  const navOf = (place: number) => number(history.at(place)?.nav, page.reader, 4);
  return h(
    "div",
    { class: "hero" },
    h(
      "div",
      null,
      h("p", { class: "quiet" }, page.t(words.nav)),
      nav === null ? missing(page) : h("p", null, h("b", null, number(nav, page.reader, 4)), ` ${page.t(own.baht)}`),
      change !== null && h("p", null, gain(page, fund.nav_change_percent), ` (${number(change, page.reader, 4, true)}) `, h("span", { class: "quiet" }, page.t(own.sinceYesterday))),
    ),
    history.length > 1 && sparkline(history.map((day) => day.nav), say(page.t(own.week), { days: history.length, first: navOf(0), last: navOf(-1) })),
    level !== null &&
      h(
        "div",
        { style: "flex: 1 1 100%" },
        h("p", null, say(page.t(own.riskOf), { level, word: riskWord(page, level) })),
        h("div", { class: "risk", "aria-hidden": "true" }, Array.from({ length: 8 }, (_, place) => h("i", { class: place < level ? "on" : null }))),
      ),
  );
}

function actions(fund: any, page: Page): Node {
  const peers = h("span", { class: "quiet", role: "status" });
  const rank = async () => {
    const reply = await page.ask("get_rmf_peer_rank", { fundCode: fund.symbol, period: "1y" }).catch(() => null);
    const { rank, peers: count, group } = reply?.data ?? {};
    peers.textContent = rank ? say(page.t(own.rank), { rank, peers: count, group }) : "–";
  };
  return h(
    "p",
    { class: "actions" },
    h("button", { type: "button", "data-focus": "chart", onclick: () => void page.open("get_rmf_fund_nav_history", { fundCode: fund.symbol, days: 30 }) }, page.t(own.chart)),
    h("button", { type: "button", "data-focus": "peers", onclick: () => void rank() }, page.t(own.peers)),
    peers,
  );
}

function returns(fund: any, page: Page): Node | null {
  const rows = PERIODS.filter((code) => asNumber(fund[`perf_${code}`]) !== null || asNumber(fund[`benchmark_${code}`]) !== null);
  if (!rows.length) return null;
  const figure = (of: string) => (code: string) => gain(page, fund[`${of}_${code}`]);
  const difference = (code: string) => {
    const [ours, theirs] = [asNumber(fund[`perf_${code}`]), asNumber(fund[`benchmark_${code}`])];
    return ours === null || theirs === null ? missing(page) : gain(page, Number((ours - theirs).toFixed(4)));
  };
  const columns = [
    { name: page.t(own.period), heads: true, cell: (code: string) => period(page, code) },
    { name: page.t(words.fund), figure: true, cell: figure("perf") },
    { name: page.t(words.benchmark), figure: true, cell: figure("benchmark") },
    { name: page.t(words.difference), figure: true, cell: difference },
  ];
  return h(
    "section",
    null,
    h("h2", null, page.t(own.returns)),
    table(page.t(own.returns), columns, rows, { unseenCaption: true }),
    fund.benchmark_name && h("p", { class: "quiet", style: "margin-block-start:6px" }, say(page.t(own.against), { name: fund.benchmark_name })),
  );
}

function allocation(fund: any, page: Page): Node | null {
  const parts: { asset_class: string; percentage: number }[] = fund.asset_allocation ?? [];
  if (!parts.length) return null;
  const share = (value: number) => `${number(value, page.reader, 2)}%`;
  return h(
    "section",
    null,
    h("h2", null, page.t(own.allocation)),
    h(
      "ul",
      { class: "split" },
      // A short position is negative, and a leveraged one more than everything: bars stop at the edges.
      parts.map((part) =>
        h("li", null, h("span", null, part.asset_class), h("b", null, share(part.percentage)), h("span", { class: "track", "aria-hidden": "true" }, h("i", { style: `inline-size:${Math.min(100, Math.max(0, part.percentage))}%` }))),
      ),
    ),
  );
}

function fees(fund: any, page: Page): Node | null {
  const known = (fund.fees ?? []).filter((fee: any) => asNumber(fee.fee_value) !== null);
  const papers: [Text, string | null][] = [[own.factsheet, fund.factsheet_url], [own.annual, fund.annual_report_url], [own.halfYear, fund.halfyear_report_url]];
  const links = papers.filter(([, url]) => url && /^https:\/\//.test(url));
  const columns = [
    { name: page.t(own.fee), heads: true, cell: (fee: any) => String(fee.fee_desc) },
    { name: page.t(own.rate), figure: true, cell: (fee: any) => `${number(fee.fee_value, page.reader, 4)}%` },
  ];
  return h(
    "section",
    null,
    h("h2", null, page.t(own.fees)),
    known.length ? table(page.t(own.fees), columns, known, { unseenCaption: true }) : h("p", { class: "quiet" }, page.t(own.noFees)),
    links.length > 0 && h("p", { class: "actions" }, links.map(([name, url]) => h("button", { type: "button", onclick: () => page.link(url as string) }, `${page.t(name)} ↗`))),
  );
}

function facts(reply: Reply, page: Page): Node {
  const { fund } = reply.data;
  const baht = (value: unknown) => (asNumber(value) === null ? null : `${amount(value, page.reader)} ${page.t(own.baht)}`);
  const size = asNumber(fund.net_asset);
  const rows: [Text, string | null][] = [
    [own.company, companyOf(page, fund)],
    [own.class, reply.meta?.className?.[page.reader.lang] ?? fund.fund_classification],
    [own.size, size === null ? null : `${short(size, page.reader, true)} ${page.t(own.baht)}`],
    [own.minFirst, baht(fund.min_initial)],
    [own.minNext, baht(fund.min_additional)],
    [own.dividends, fund.dividend_policy === "No" ? page.t(own.none) : fund.dividend_policy],
    // The source lost a line break here and there and kept its letter: a Latin n between Thai ones.
    [own.suits, fund.suitability_risk_level_text?.replace(/(?<=[\u0e00-\u0e7f])n(?=[\u0e00-\u0e7f])/g, " – ")],
  ];
  const told = rows.filter(([, value]) => value);
  return h("section", null, h("h2", null, page.t(own.facts)), h("dl", { class: "facts" }, told.flatMap(([name, value]) => [h("dt", null, page.t(name)), h("dd", null, value)])));
}

function doubts(fund: any, page: Page): Node | null {
  const flags: string[] = fund.data_flags ?? [];
  if (!flags.length) return null;
  return h("section", { class: "note" }, h("h2", { style: "margin-block-start:0" }, page.t(own.doubts)), h("ul", null, flags.map((code) => h("li", null, flag(page, code)))));
}

