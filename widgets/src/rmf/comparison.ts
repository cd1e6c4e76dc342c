// Funds side by side. Best and weakest are said in words, not by colour alone.

import { Reply } from "../common/bridge";
import { chart } from "../common/chart";
import { h } from "../common/dom";
import { asNumber, date, dayAndMonth, number, percent } from "../common/format";
import { Text } from "../common/i18n";
import { Page, View } from "../common/page";
import { asOf, companyOf, gain, missing, nameOf, period, risk, words } from "./words";

const own = {
  title: { en: "Comparison of RMF funds", th: "เปรียบเทียบกองทุน RMF" },
  figure: { en: "Figure", th: "รายการ" },
  best: { en: "best", th: "สูงสุด" },
  weakest: { en: "weakest", th: "ต่ำสุด" },
  bestYtd: { en: "Best since January", th: "สูงสุดตั้งแต่ต้นปี" },
  worstYtd: { en: "Weakest since January", th: "ต่ำสุดตั้งแต่ต้นปี" },
  lowestRisk: { en: "Lowest risk", th: "ความเสี่ยงต่ำสุด" },
  highestRisk: { en: "Highest risk", th: "ความเสี่ยงสูงสุด" },
  lowestFees: { en: "Lowest fees", th: "ค่าธรรมเนียมต่ำสุด" },
  benchmarkOf: { en: "Benchmark {period}", th: "ดัชนีชี้วัด {period}" },
  volatility: { en: "Volatility 1 year", th: "ความผันผวน 1 ปี" },
  tracking: { en: "Tracking error", th: "Tracking error" },
  totalFee: { en: "Total expense", th: "ค่าใช้จ่ายรวม" },
  company: { en: "Company", th: "บริษัทจัดการ" },
  show: { en: "Compare NAV in a chart", th: "เปรียบเทียบ NAV ด้วยกราฟ" },
  relative: { en: "NAV, first common day = 100", th: "NAV โดยวันแรกที่มีร่วมกัน = 100" },
  described: { en: "On the last day", th: "ในวันสุดท้าย" },
  day: { en: "Day", th: "วันที่" },
  noCommon: { en: "The funds have no days in common.", th: "กองทุนเหล่านี้ไม่มีวันที่ตรงกัน" },
} satisfies Record<string, Text>;

/** One line of the table: a figure of every fund. */
interface Line {
  name: string;
  value(fund: any): unknown;
  show(fund: any): Node | string;
  /** Whether more is better, where that can be said. */
  ranked?: boolean;
}

export const fundComparison: View = {
  draw: (reply, page) => (reply.data?.funds?.length ? comparison(reply, page) : null),
  empty: words.noFunds,
  asOf,
  caution: words.caution,
};

function comparison(reply: Reply, page: Page): (Node | null)[] {
  const funds: any[] = reply.data.funds;
  return [
    h("header", null, h("h1", { tabindex: -1 }, page.t(own.title))),
    highlights(reply, page),
    h(
      "div",
      { class: "scroll fixed", tabindex: 0, role: "region", "aria-label": page.t(own.title), style: "margin-block-start:14px" },
      h(
        "table",
        null,
        h("caption", { class: "unseen" }, page.t(own.title)),
        h("thead", null, h("tr", null, h("th", { scope: "col" }, page.t(own.figure)), funds.map((fund) => heading(fund, reply, page)))),
        h("tbody", null, lines(funds, page).map((line) => row(line, funds, page))),
      ),
    ),
    relative(funds, page),
  ];
}

function heading(fund: any, reply: Reply, page: Page): Node {
  const press = () => void page.open("get_rmf_fund_detail", { fundCode: fund.symbol });
  return h(
    "th",
    { scope: "col", class: "figure", style: "white-space:normal;min-inline-size:112px" },
    h("button", { type: "button", class: "plain", style: "text-align:end", "data-focus": `fund-${fund.symbol}`, onclick: press }, fund.symbol),
    h("small", null, nameOf(page, fund, reply)),
  );
}

function lines(funds: any[], page: Page): Line[] {
  const returns = (name: string, field: string, ranked: boolean): Line => ({ name, value: (fund) => fund[field], show: (fund) => gain(page, fund[field]), ranked });
  const plain = (name: string, field: string): Line => ({
    name,
    value: (fund) => fund[field],
    show: (fund) => (asNumber(fund[field]) === null ? missing(page) : percent(fund[field], page.reader).replace("+", "")),
  });
  const benchmark = (code: string) => page.t(own.benchmarkOf).replace("{period}", period(page, code));
  const fee = (fund: any) => fund.fees?.find((one: any) => /รวมทั้งหมด|total/i.test(one.fee_desc))?.fee_value;
  const all: Line[] = [
    ...["ytd", "1y", "3y", "5y"].map((code) => returns(period(page, code), `perf_${code}`, true)),
    returns(benchmark("ytd"), "benchmark_ytd", false),
    returns(benchmark("1y"), "benchmark_1y", false),
    { name: page.t(words.risk), value: (fund) => fund.risk_level, show: (fund) => risk(page, fund.risk_level) },
    plain(page.t(own.volatility), "volatility_1y"),
    plain(page.t(own.tracking), "tracking_error"),
    { name: page.t(own.totalFee), value: fee, show: (fund) => (asNumber(fee(fund)) === null ? missing(page) : percent(fee(fund), page.reader, 4).replace("+", "")) },
  ];
  const nav: Line = {
    name: page.t(words.navBaht),
    value: (fund) => fund.nav_value,
    show: (fund) => (asNumber(fund.nav_value) === null ? missing(page) : h("span", null, number(fund.nav_value, page.reader, 4), h("small", null, date(fund.nav_date, page.reader)))),
  };
  const company: Line = { name: page.t(own.company), value: () => 1, show: (fund) => companyOf(page, fund) };
  // A figure that only one fund has compares nothing.
  const known = (line: Line) => funds.filter((fund) => asNumber(line.value(fund)) !== null).length;
  return [...all.filter((line) => known(line) >= 2), nav, company];
}

function row(line: Line, funds: any[], page: Page): Node {
  const values = funds.map((fund) => asNumber(line.value(fund)));
  const known = values.filter((value) => value !== null);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  const marked = line.ranked && known.length >= 2 && low !== high;
  const cell = (fund: any, place: number) => {
    const mark = !marked || values[place] === null ? null : values[place] === high ? own.best : values[place] === low ? own.weakest : null;
    return h("td", { class: `figure${mark === own.best ? " best" : ""}`, style: "white-space:normal" }, line.show(fund), mark && h("small", null, page.t(mark)));
  };
  return h("tr", null, h("th", { scope: "row" }, line.name), funds.map(cell));
}

function highlights(reply: Reply, page: Page): Node | null {
  const told = reply.data.comparisonHighlights ?? {};
  const names = ["bestYtd", "worstYtd", "lowestRisk", "highestRisk", "lowestFees"] as const;
  // Ties go to the first fund: one that is both the least and the most says that all are alike.
  const alike = (one: string, other: string) => told[one] === told[other];
  const ties = [alike("bestYtd", "worstYtd") && ["bestYtd", "worstYtd"], alike("lowestRisk", "highestRisk") && ["lowestRisk", "highestRisk"]].flat();
  const shown = names.filter((name) => told[name] && !ties.includes(name));
  if (!shown.length) return null;
  return h("dl", { class: "tiles" }, shown.map((name) => h("div", null, h("dt", null, page.t(own[name])), h("dd", null, told[name]))));
}

/** The NAVs on one scale, fetched when asked for: each fund is a call of its own. */
function relative(funds: any[], page: Page): HTMLElement {
  const place = h("section", { style: "margin-block-start:14px" });
  const show = async () => {
    const replies = await Promise.all(funds.map((fund) => page.ask("get_rmf_fund_nav_history", { fundCode: fund.symbol, days: 30 }).catch(() => null)));
    const series = replies.map((reply, index) => ({ fund: funds[index], days: new Map<string, number>((reply?.data?.navHistory ?? []).map((day: any) => [day.date, day.nav])) })).filter((one) => one.days.size > 0);
    const common = [...(series[0]?.days.keys() ?? [])].filter((day) => series.every((one) => one.days.has(day))).sort();
    if (series.length < 2 || common.length < 2) {
      place.replaceChildren(h("p", { role: "status" }, page.t(own.noCommon)));
      return;
    }
    const start = common[0] as string;
    const lines = series.map((one) => ({
      name: one.fund.symbol,
      points: common.map((day) => ({ at: dayAndMonth(day, page.reader), label: date(day, page.reader), value: ((one.days.get(day) as number) / (one.days.get(start) as number)) * 100 })),
    }));
    const write = (value: number) => number(value, page.reader, 2);
    place.replaceChildren(
      chart(page, lines, {
        title: page.t(own.relative),
        description: `${page.t(own.described)}: ${lines.map((line) => `${line.name} ${write(line.points.at(-1)?.value ?? 0)}`).join(", ")}.`,
        along: page.t(own.day),
        write,
        axis: (value) => number(value, page.reader, 1),
      }),
    );
  };
  place.append(h("button", { type: "button", "data-focus": "relative", onclick: () => void show() }, page.t(own.show)));
  return place;
}
