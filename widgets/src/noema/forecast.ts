// How many cards are due on each of the next days.

import { Reply } from "../common/bridge";
import { chart } from "../common/chart";
import { h } from "../common/dom";
import { date, dayAndMonth, number, short } from "../common/format";
import { say, Text } from "../common/i18n";
import { Page, View } from "../common/page";

const own = {
  title: { en: "Reviews to come", th: "การทบทวนที่จะถึง" },
  due: { en: "Cards due", th: "บัตรที่ต้องทบทวน" },
  day: { en: "Day", th: "วัน" },
  today: { en: "Today", th: "วันนี้" },
  total: { en: "{days} days in all", th: "รวม {days} วัน" },
  fullest: { en: "Fullest day", th: "วันที่มากที่สุด" },
  limit: { en: "Limit of a day", th: "จำกัดต่อวัน" },
  over: { en: "Days over the limit", th: "วันที่เกินจำกัด" },
  span: { en: "How far ahead", th: "ช่วงเวลา" },
  days: { en: "{days} days", th: "{days} วัน" },
  described: { en: "{total} cards are due in {days} days; most on {day}, {most}.", th: "มี {total} บัตรใน {days} วัน มากที่สุดวันที่ {day} จำนวน {most}" },
  none: { en: "Nothing is scheduled yet.", th: "ยังไม่มีกำหนดทบทวน" },
  note: { en: "From the schedule as it stands: reviews that new cards will cause are not in it.", th: "นับจากกำหนดปัจจุบัน ไม่รวมการทบทวนที่จะเกิดจากบัตรใหม่" },
  asOf: { en: "Counted {at}.", th: "นับเมื่อ {at}" },
} satisfies Record<string, Text>;

const SPANS = [7, 30, 90, 365];

export const forecast: View = {
  draw: (reply, page) => (reply.data?.data?.days?.length ? drawn(reply, page) : null),
  empty: own.none,
  asOf: (reply, page) => (reply.data?.metadata?.timestamp ? say(page.t(own.asOf), { at: date(reply.data.metadata.timestamp, page.reader) }) : null),
  caution: own.note,
};

function drawn(reply: Reply, page: Page): Node[] {
  const { days, total, limit } = reply.data.data as { days: { begins: string; due: number }[]; total: number; limit: number };
  const most = days.reduce((one, other) => (other.due > one.due ? other : one));
  const whole = (value: number) => number(value, page.reader, 0);
  const over = days.filter((day) => day.due > limit).length;
  const tiles: [string, string, string?][] = [
    [page.t(own.today), whole(days[0]?.due ?? 0)],
    [say(page.t(own.total), { days: days.length }), whole(total)],
    [page.t(own.fullest), whole(most.due), date(most.begins, page.reader)],
    [page.t(own.limit), whole(limit)],
    [page.t(own.over), whole(over)],
  ];
  return [
    h("header", null, h("h1", { tabindex: -1 }, page.t(own.title))),
    h(
      "div",
      { class: "chips", role: "group", "aria-label": page.t(own.span) },
      SPANS.map((span) => h("button", { type: "button", "data-focus": `days-${span}`, "aria-pressed": String(span === days.length), onclick: () => void page.replace("forecast-reviews", { ...reply.input, days: span }) }, say(page.t(own.days), { days: span }))),
    ),
    chart(page, [{ name: page.t(own.due), points: days.map((day) => ({ at: dayAndMonth(day.begins, page.reader), label: date(day.begins, page.reader), value: day.due })) }], {
      title: page.t(own.due),
      description: say(page.t(own.described), { total: whole(total), days: days.length, day: date(most.begins, page.reader), most: whole(most.due) }),
      kind: "bars",
      along: page.t(own.day),
      write: whole,
      axis: (value) => (Number.isInteger(value) ? short(value, page.reader) : ""),
    }),
    h("dl", { class: "tiles" }, tiles.map(([name, value, under]) => h("div", null, h("dt", null, name), h("dd", null, value, under ? h("small", null, under) : null)))),
  ];
}
