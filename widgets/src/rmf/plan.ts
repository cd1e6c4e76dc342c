// A saving plan: the range of outcomes by year, what was paid in, falls and the tax saved.

import { Reply } from "../common/bridge";
import { chart, Series } from "../common/chart";
import { h } from "../common/dom";
import { asNumber, date, number, percent, short } from "../common/format";
import { say, Text } from "../common/i18n";
import { Page, View } from "../common/page";
import { gain, missing, period } from "./words";

const own = {
  title: { en: "Saving plan", th: "แผนการออม" },
  years: { en: "{years} years", th: "{years} ปี" },
  values: { en: "Value by year, in THB", th: "มูลค่ารายปี (บาท)" },
  year: { en: "Year", th: "ปีที่" },
  yearOf: { en: "Year {year}", th: "ปีที่ {year}" },
  paid: { en: "Paid in", th: "เงินที่จ่าย" },
  low: { en: "One in ten below", th: "หนึ่งในสิบต่ำกว่านี้" },
  median: { en: "Half below", th: "ค่ากลาง" },
  high: { en: "One in ten above", th: "หนึ่งในสิบสูงกว่านี้" },
  real: { en: "Half below, in today's money", th: "ค่ากลางเป็นเงินวันนี้" },
  loss: { en: "Chance of ending below what was paid", th: "โอกาสได้น้อยกว่าเงินที่จ่าย" },
  fall: { en: "Typical largest fall", th: "ขาดทุนสูงสุดโดยทั่วไป" },
  tax: { en: "Tax saved and paid in again", th: "ภาษีที่ประหยัดและลงทุนเพิ่ม" },
  described: { en: "After {years} years {paid} paid in become {median} in the middle, from {low} to {high}.", th: "ครบ {years} ปี จ่าย {paid} ค่ากลาง {median} ช่วง {low} ถึง {high}" },
  assumed: { en: "What is assumed", th: "สมมติฐาน" },
  assumption: { en: "{fund}: {return} a year ({period}), deviation {deviation}%, {months} months", th: "{fund}: ผลตอบแทน {return} ต่อปี ({period}) ความผันผวน {deviation}% เป็นเวลา {months} เดือน" },
  given: { en: "given", th: "ระบุเอง" },
  inflation: { en: "Inflation {inflation}% a year ({source})", th: "เงินเฟ้อ {inflation}% ต่อปี ({source})" },
  worldBank: { en: "World Bank, mean of {from} to {to}; later years are not in the data", th: "ธนาคารโลก ค่าเฉลี่ยปี ค.ศ. {from} ถึง {to} ไม่มีข้อมูลปีหลังจากนั้น" },
  tested: { en: "The same payments over known NAVs, {from} to {to}: {paid} became {value}; largest fall {fall}%.", th: "ถ้าจ่ายแบบเดียวกันตาม NAV จริง {from} ถึง {to}: {paid} เป็น {value} ลดลงมากที่สุด {fall}%" },
  untested: { en: "Too few NAVs are known for a back-test.", th: "NAV ที่มีน้อยเกินไปสำหรับการทดสอบย้อนหลัง" },
  nothing: { en: "There is nothing to simulate.", th: "ไม่มีข้อมูลสำหรับจำลอง" },
  caution: {
    en: "An estimate from past return and volatility, no promise. Past performance does not guarantee future results.",
    th: "เป็นการประมาณจากผลตอบแทนและความผันผวนในอดีต ไม่ใช่คำสัญญา ผลการดำเนินงานในอดีตมิได้เป็นสิ่งยืนยันถึงผลการดำเนินงานในอนาคต",
  },
} satisfies Record<string, Text>;

export const savingPlan: View = {
  draw: (reply, page) => (reply.data?.byYear?.length ? drawn(reply, page) : null),
  empty: own.nothing,
  caution: own.caution,
};

function drawn(reply: Reply, page: Page): (Node | null)[] {
  const { data } = reply;
  const baht = (value: unknown) => number(value, page.reader, 0);
  const tiles: [Text, Node | string][] = [
    [own.median, baht(data.median)],
    [own.low, baht(data.low)],
    [own.high, baht(data.high)],
    [own.real, baht(data.medianReal)],
    [own.paid, baht(data.paid)],
    ...(asNumber(data.taxReinvested) ? [[own.tax, baht(data.taxReinvested)] as [Text, string]] : []),
    [own.loss, plain(page, data.lossPercent)],
    [own.fall, plain(page, data.drawdownPercent)],
  ];
  return [
    h("header", null, h("h1", { tabindex: -1 }, page.t(own.title)), h("p", { class: "quiet" }, h("b", null, data.fundCode), ` · ${say(page.t(own.years), { years: data.years })}`)),
    outcomes(data, page),
    h("dl", { class: "tiles" }, tiles.map(([name, value]) => h("div", null, h("dt", null, page.t(name)), h("dd", null, value)))),
    assumptions(data, page),
    tested(data.backTest, page),
  ];
}

/** Four lines from the first payment on: range, middle and what was paid in. */
function outcomes(data: any, page: Page): Node {
  const baht = (value: number) => number(value, page.reader, 0);
  const line = (name: Text, field: string): Series => ({
    name: page.t(name),
    points: data.byYear.map((row: any) => ({ at: String(row.year), label: say(page.t(own.yearOf), { year: row.year }), value: row[field] })),
  });
  return chart(page, [line(own.median, "median"), line(own.low, "low"), line(own.high, "high"), line(own.paid, "paid")], {
    title: page.t(own.values),
    description: say(page.t(own.described), { years: data.years, paid: baht(data.paid), median: baht(data.median), low: baht(data.low), high: baht(data.high) }),
    along: page.t(own.year),
    write: baht,
    axis: (value) => short(value, page.reader),
    kind: "below",
  });
}

function assumptions(data: any, page: Page): Node {
  const phases: string[] = data.assumptions.map((phase: any) =>
    say(page.t(own.assumption), {
      fund: phase.fundCode,
      return: percent(phase.annualReturn, page.reader),
      period: phase.returnPeriod === "given" ? page.t(own.given) : period(page, phase.returnPeriod),
      deviation: number(phase.deviation, page.reader, 2),
      months: phase.months,
    }),
  );
  const [, from, to] = /mean of (\d+) to (\d+)/.exec(data.inflationSource) ?? [];
  const source = data.inflationSource === "given" ? page.t(own.given) : from && to ? say(page.t(own.worldBank), { from, to }) : data.inflationSource;
  phases.push(say(page.t(own.inflation), { inflation: number(data.inflation, page.reader, 2), source }));
  return h("section", null, h("h2", null, page.t(own.assumed)), h("ul", null, phases.map((text) => h("li", null, text))));
}

function tested(test: any, page: Page): Node {
  if (!test) return h("p", { class: "quiet" }, page.t(own.untested));
  const baht = (value: unknown) => number(value, page.reader, 0);
  const change = asNumber(test.paid) ? ((test.value - test.paid) / test.paid) * 100 : null;
  const text = say(page.t(own.tested), {
    from: date(test.from, page.reader),
    to: date(test.to, page.reader),
    paid: baht(test.paid),
    value: baht(test.value),
    fall: number(Math.abs(test.drawdown), page.reader, 2),
  });
  return h("p", { class: "quiet" }, text, " ", gain(page, change));
}

/** A share without a sign. */
function plain(page: Page, value: unknown): Node | string {
  return asNumber(value) === null ? missing(page) : `${number(value, page.reader, 1)}%`;
}

