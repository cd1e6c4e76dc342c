// The NAV of one fund over time.

import { Reply } from "../common/bridge";
import { chart } from "../common/chart";
import { h } from "../common/dom";
import { asNumber, date, dayAndMonth, monthAndYear, number, percent } from "../common/format";
import { say, Text } from "../common/i18n";
import { Page, View } from "../common/page";
import { table } from "../common/table";
import { gain, missing, period, words } from "./words";

const own = {
  title: { en: "NAV in THB", th: "NAV (บาท)" },
  day: { en: "Day", th: "วันที่" },
  days: { en: "{days} days", th: "{days} วัน" },
  span: { en: "How far back", th: "ช่วงเวลา" },
  gained: { en: "Return", th: "ผลตอบแทน" },
  deviation: { en: "Daily deviation", th: "ความผันผวนรายวัน" },
  lowest: { en: "Lowest", th: "ต่ำสุด" },
  highest: { en: "Highest", th: "สูงสุด" },
  average: { en: "Average", th: "เฉลี่ย" },
  last: { en: "Last", th: "ล่าสุด" },
  falls: { en: "Below the highest so far", th: "ต่ำกว่าจุดสูงสุดที่ผ่านมา" },
  years: { en: "{years} years", th: "{years} ปี" },
  yearly: { en: "Return a year", th: "ผลตอบแทนต่อปี" },
  largestFall: { en: "Largest fall", th: "ลดลงมากที่สุด" },
  against: { en: "{name}: published returns as of {date}. There is no daily benchmark.", th: "{name}: ผลตอบแทนที่เผยแพร่ ณ {date} ไม่มีข้อมูลดัชนีรายวัน" },
  beside: { en: "Fund and benchmark", th: "กองทุนและดัชนีชี้วัด" },
  period: { en: "Period", th: "ช่วงเวลา" },
  noNav: { en: "No NAV was published for this fund yet.", th: "ยังไม่มีการเผยแพร่ NAV ของกองทุนนี้" },
  described: { en: "From {first} on {start} to {last} on {end}; lowest {low}, highest {high}.", th: "จาก {first} เมื่อ {start} ถึง {last} เมื่อ {end} ต่ำสุด {low} สูงสุด {high}" },
} satisfies Record<string, Text>;

const SPANS = [7, 30, 90, 365];
const YEARS = [3, 5, 10];

export const performanceChart: View = {
  draw: (reply, page) => (reply.data?.navHistory?.length ? drawn(reply, page) : null),
  empty: own.noNav,
  asOf: (reply, page) => (reply.data?.currentDate ? say(page.t(words.navAsOf), { nav: date(reply.data.currentDate, page.reader) }) : null),
  caution: words.caution,
};

function drawn(reply: Reply, page: Page): (Node | null)[] {
  const { fundCode, navHistory } = reply.data;
  const name = (page.reader.lang === "th" && (reply.data.fundNameTh ?? reply.meta?.fundNameTh)) || reply.data.fundName;
  // Over more than a year the day matters less than the year.
  const long = Date.parse(navHistory.at(-1).date) - Date.parse(navHistory[0].date) > 400 * 86_400_000;
  const along = (day: string) => (long ? monthAndYear(day, page.reader) : dayAndMonth(day, page.reader));
  const write = (value: number) => number(value, page.reader, 4);
  const first = navHistory[0];
  const last = navHistory.at(-1);
  const low = write(reply.data.minNav);
  const high = write(reply.data.maxNav);
  const tiles: [Text, Node | string][] = [
    [own.gained, gain(page, reply.data.periodReturn)],
    [own.last, write(reply.data.currentNav)],
    [own.lowest, low],
    [own.highest, high],
    [own.average, write(reply.data.avgNav)],
    [own.deviation, asNumber(reply.data.volatility) === null ? missing(page) : percent(reply.data.volatility, page.reader).replace("+", "")],
  ];
  if (asNumber(reply.data.annualReturn) !== null) tiles.splice(1, 0, [own.yearly, gain(page, reply.data.annualReturn)]);
  if (reply.data.maxDrawdown) tiles.push([own.largestFall, gain(page, reply.data.maxDrawdown.percent)]);
  return [
    h("header", null, h("h1", { tabindex: -1 }, name), h("p", { class: "quiet" }, h("b", null, fundCode))),
    spans(reply, page),
    chart(page, [{ name: page.t(words.nav), points: navHistory.map((day: any) => ({ at: along(day.date), label: date(day.date, page.reader), value: day.nav, when: Date.parse(day.date) })) }], {
      title: page.t(own.title),
      description: say(page.t(own.described), { first: write(first.nav), start: date(first.date, page.reader), last: write(last.nav), end: date(last.date, page.reader), low, high }),
      along: page.t(own.day),
      write,
      axis: (value) => number(value, page.reader, 2),
      falls: page.t(own.falls),
    }),
    h("dl", { class: "tiles" }, tiles.map(([name, value]) => h("div", null, h("dt", null, page.t(name)), h("dd", null, value)))),
    besideBenchmark(reply, page),
  ];
}

/** The benchmark's published returns beside the fund's: its daily values are not published. */
function besideBenchmark(reply: Reply, page: Page): Node | null {
  const benchmark = reply.data.benchmark ?? reply.meta?.benchmark;
  if (!benchmark?.returns?.length) return null;
  const columns = [
    { name: page.t(own.period), heads: true, cell: (row: any) => period(page, row.period) },
    { name: reply.data.fundCode, figure: true, cell: (row: any) => gain(page, row.fund) },
    { name: page.t(words.benchmark), figure: true, cell: (row: any) => gain(page, row.benchmark) },
  ];
  return h(
    "section",
    null,
    h("h2", null, page.t(own.beside)),
    h("p", { class: "quiet" }, say(page.t(own.against), { name: benchmark.name, date: date(benchmark.asOf, page.reader) })),
    table(page.t(own.beside), columns, benchmark.returns, { unseenCaption: true }),
  );
}

/** As far back as there are figures: a reply shorter than asked for is all there is. */
function spans(reply: Reply, page: Page): Node {
  const asked = asNumber(reply.meta?.days) ?? reply.data.navHistory.length;
  const there: number = reply.data.navHistory.length;
  const ofDays = asNumber(reply.meta?.days) !== null;
  const longest = ofDays && there < asked ? (SPANS.find((days) => days >= there) ?? 365) : 365;
  return h(
    "div",
    { class: "chips", role: "group", "aria-label": page.t(own.span) },
    SPANS.filter((days) => days <= longest).map((days) =>
      h(
        "button",
        { type: "button", "data-focus": `days-${days}`, "aria-pressed": String(ofDays && (days === asked || (days === longest && asked > longest))), onclick: () => void page.replace("get_rmf_fund_nav_history", { fundCode: reply.data.fundCode, days }) },
        say(page.t(own.days), { days }),
      ),
    ),
    YEARS.map((years) =>
      h(
        "button",
        { type: "button", "data-focus": `years-${years}`, "aria-pressed": String(asNumber(reply.meta?.years) === years), onclick: () => void page.replace("get_rmf_fund_nav_series", { fundCode: reply.data.fundCode, years }) },
        say(page.t(own.years), { years }),
      ),
    ),
  );
}
