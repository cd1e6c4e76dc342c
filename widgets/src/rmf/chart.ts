// The NAV of one fund over time.

import { Reply } from "../common/bridge";
import { chart } from "../common/chart";
import { h } from "../common/dom";
import { asNumber, date, dayAndMonth, number, percent } from "../common/format";
import { say, Text } from "../common/i18n";
import { Page, View } from "../common/page";
import { gain, missing, words } from "./words";

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
  noNav: { en: "No NAV was published for this fund yet.", th: "ยังไม่มีการเผยแพร่ NAV ของกองทุนนี้" },
  described: { en: "From {first} on {start} to {last} on {end}; lowest {low}, highest {high}.", th: "จาก {first} เมื่อ {start} ถึง {last} เมื่อ {end} ต่ำสุด {low} สูงสุด {high}" },
} satisfies Record<string, Text>;

const SPANS = [7, 30, 90, 365];

export const performanceChart: View = {
  draw: (reply, page) => (reply.data?.navHistory?.length ? drawn(reply, page) : null),
  empty: own.noNav,
  asOf: (reply, page) => (reply.data?.currentDate ? say(page.t(words.navAsOf), { nav: date(reply.data.currentDate, page.reader) }) : null),
  caution: words.caution,
};

function drawn(reply: Reply, page: Page): Node[] {
  const { fundCode, fundName, navHistory } = reply.data;
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
  return [
    h("header", null, h("h1", { tabindex: -1 }, fundName), h("p", { class: "quiet" }, h("b", null, fundCode))),
    spans(reply, page),
    chart(page, [{ name: page.t(words.nav), points: navHistory.map((day: any) => ({ at: dayAndMonth(day.date, page.reader), label: date(day.date, page.reader), value: day.nav, when: Date.parse(day.date) })) }], {
      title: page.t(own.title),
      description: say(page.t(own.described), { first: write(first.nav), start: date(first.date, page.reader), last: write(last.nav), end: date(last.date, page.reader), low, high }),
      along: page.t(own.day),
      write,
      axis: (value) => number(value, page.reader, 2),
      falls: page.t(own.falls),
    }),
    h("dl", { class: "tiles" }, tiles.map(([name, value]) => h("div", null, h("dt", null, page.t(name)), h("dd", null, value)))),
  ];
}

/** As far back as there are figures: a reply shorter than asked for is all there is. */
function spans(reply: Reply, page: Page): Node {
  const asked = asNumber(reply.meta?.days) ?? reply.data.navHistory.length;
  const there: number = reply.data.navHistory.length;
  const longest = there < asked ? (SPANS.find((days) => days >= there) ?? 365) : 365;
  return h(
    "div",
    { class: "chips", role: "group", "aria-label": page.t(own.span) },
    SPANS.filter((days) => days <= longest).map((days) =>
      h(
        "button",
        { type: "button", "data-focus": `days-${days}`, "aria-pressed": String(days === asked || (days === longest && asked > longest)), onclick: () => void page.replace("get_rmf_fund_nav_history", { fundCode: reply.data.fundCode, days }) },
        say(page.t(own.days), { days }),
      ),
    ),
  );
}
