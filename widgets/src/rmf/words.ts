// What the pages of the rmf pack say, and the parts they share.

import { Reply } from "../common/bridge";
import { h } from "../common/dom";
import { asNumber, date, MISSING, percent } from "../common/format";
import { say, Text, words as common } from "../common/i18n";
import { Page } from "../common/page";
import { COMPANIES } from "./companies";

export const words = {
  funds: { en: "RMF funds", th: "กองทุน RMF" },
  fund: { en: "Fund", th: "กองทุน" },
  nav: { en: "NAV", th: "NAV" },
  navBaht: { en: "NAV (THB)", th: "NAV (บาท)" },
  change: { en: "Day", th: "วันก่อน" },
  risk: { en: "Risk", th: "ความเสี่ยง" },
  return: { en: "Return", th: "ผลตอบแทน" },
  benchmark: { en: "Benchmark", th: "ดัชนีชี้วัด" },
  difference: { en: "Difference", th: "ส่วนต่าง" },
  showing: { en: "{shown} of {total} funds", th: "{shown} จาก {total} กองทุน" },
  pageOf: { en: "Page {page} of {pages}", th: "หน้า {page} จาก {pages}" },
  more: { en: "Show more", th: "แสดงเพิ่ม" },
  asOf: { en: "NAV as of {nav}; returns as of {returns} (factsheets).", th: "NAV ณ {nav} · ผลตอบแทน ณ {returns} (หนังสือชี้ชวนส่วนสรุป)" },
  oldNav: { en: "The newest NAV is {days} days old.", th: "NAV ล่าสุดมีอายุ {days} วัน" },
  oldReturns: { en: "Returns are {days} days old.", th: "ผลตอบแทนมีอายุ {days} วัน" },
  otherYear: { en: "YTD is of {year}.", th: "\"ตั้งแต่ต้นปี\" คือปี {year}" },
  doubtful: { en: "Some figures are kept from an earlier sync.", th: "ตัวเลขบางส่วนเป็นของการปรับปรุงครั้งก่อน" },
  navAsOf: { en: "NAV as of {nav}.", th: "NAV ณ {nav}" },
  noFunds: { en: "No fund fits. Try fewer filters.", th: "ไม่พบกองทุนที่ตรงเงื่อนไข ลองลดตัวกรอง" },
  caution: {
    en: "Past performance does not guarantee future results. Read the fund's prospectus before investing.",
    th: "ผลการดำเนินงานในอดีตมิได้เป็นสิ่งยืนยันถึงผลการดำเนินงานในอนาคต โปรดศึกษาหนังสือชี้ชวนก่อนลงทุน",
  },
  search: { en: "Search", th: "ค้นหา" },
} satisfies Record<string, Text>;

const PERIODS: Record<string, Text> = {
  ytd: { en: "YTD", th: "ตั้งแต่ต้นปี" },
  "3m": { en: "3 months", th: "3 เดือน" },
  "6m": { en: "6 months", th: "6 เดือน" },
  "1y": { en: "1 year", th: "1 ปี" },
  "3y": { en: "3 years p.a.", th: "3 ปี ต่อปี" },
  "5y": { en: "5 years p.a.", th: "5 ปี ต่อปี" },
  "10y": { en: "10 years p.a.", th: "10 ปี ต่อปี" },
  since_inception: { en: "Since start p.a.", th: "ตั้งแต่จัดตั้ง ต่อปี" },
};

const RISKS: [number, Text][] = [
  [1, { en: "low", th: "ต่ำ" }],
  [4, { en: "medium to low", th: "ปานกลางค่อนข้างต่ำ" }],
  [5, { en: "medium to high", th: "ปานกลางค่อนข้างสูง" }],
  [7, { en: "high", th: "สูง" }],
  [8, { en: "very high", th: "สูงมาก" }],
];

const FLAGS: Record<string, Text> = {
  share_class_figures_shared: {
    en: "The source gives all share classes of this fund the figures of the first class.",
    th: "แหล่งข้อมูลใช้ตัวเลขของชนิดหน่วยลงทุนแรกกับทุกชนิดของกองทุนนี้",
  },
  allocation_does_not_add_up: { en: "The published allocation does not add up to 100%.", th: "สัดส่วนการลงทุนที่เผยแพร่รวมกันไม่เท่ากับ 100%" },
  no_nav: { en: "No NAV was published yet.", th: "ยังไม่มีการเผยแพร่ NAV" },
  repaired_column_shift: { en: "The source had lost a column of this row; it was put back.", th: "แหล่งข้อมูลทำคอลัมน์หายไปหนึ่งคอลัมน์ และได้แก้ไขแล้ว" },
  repaired_name: { en: "The source had another name here; the fund's own was put back.", th: "แหล่งข้อมูลระบุชื่อผิด และได้แก้ไขแล้ว" },
};

export function period(page: Page, code: string): string {
  const text = PERIODS[code];
  return text ? page.t(text) : code;
}

export function flag(page: Page, code: string): string {
  const text = FLAGS[code];
  return text ? page.t(text) : code;
}

export function riskWord(page: Page, level: unknown): string {
  const text = RISKS.find(([most]) => (asNumber(level) ?? 9) <= most)?.[1];
  return text ? page.t(text) : page.t(common.missing);
}

/** `6/8 high`. */
export function risk(page: Page, level: unknown): Node {
  return asNumber(level) === null ? missing(page) : h("span", { class: "level" }, `${level}/8`, h("small", null, riskWord(page, level)));
}

/** A return with its sign, an arrow for those who see no colour, and a grey dash for none. */
export function gain(page: Page, value: unknown, digits = 2): HTMLElement {
  const known = asNumber(value);
  if (known === null) return missing(page);
  const arrow = known > 0 ? "▲ " : known < 0 ? "▼ " : "";
  return h("span", { class: known > 0 ? "up" : known < 0 ? "down" : null }, arrow && h("span", { class: "arrow", "aria-hidden": "true" }, arrow), percent(known, page.reader, digits));
}

export function missing(page: Page): HTMLElement {
  return h("span", { class: "missing" }, h("span", { "aria-hidden": "true" }, MISSING), h("span", { class: "unseen" }, page.t(common.missing)));
}

/** In Thai the fund's Thai name, where the reply has one. */
export function nameOf(page: Page, fund: any, reply?: Reply): string {
  const thai = fund.fund_name_th ?? reply?.meta?.fundNamesTh?.[fund.symbol];
  return (page.reader.lang === "th" && thai) || fund.fund_name || fund.symbol;
}

/** In Thai the name that people know, where it is listed. */
export function companyOf(page: Page, fund: any): string {
  const registered = String(fund.amc ?? "");
  const known = COMPANIES.find(([start]) => registered.toLowerCase().startsWith(start));
  return (page.reader.lang === "th" && known?.[1]) || registered;
}

export function asOf(reply: Reply, page: Page): string | null {
  const dates = reply.meta?.dataAsOf;
  if (!dates?.nav) return null;
  const nav = dates.navFrom && dates.navFrom !== dates.nav ? `${date(dates.navFrom, page.reader)} – ${date(dates.nav, page.reader)}` : date(dates.nav, page.reader);
  return say(page.t(words.asOf), { nav, returns: date(dates.returns, page.reader) });
}

/** A banner above figures that are old, of another year, or kept from an earlier sync. */
export function ageBanner(reply: Reply, page: Page): Node | null {
  const age = reply.data?.dataAge;
  if (!age?.stale) return null;
  const nav = asNumber(age.navAgeDays) ?? 0;
  const returns = asNumber(age.returnsAgeDays) ?? 0;
  const year = Number(String(age.returns?.[1] ?? "").slice(0, 4));
  const said = [
    nav > 45 && say(page.t(words.oldNav), { days: nav }),
    returns > 92 && say(page.t(words.oldReturns), { days: returns }),
    year && year !== new Date().getFullYear() && say(page.t(words.otherYear), { year: page.reader.buddhist ? year + 543 : year }),
  ].filter(Boolean);
  return h("p", { class: "note", role: "note" }, said.length ? said.join(" ") : page.t(words.doubtful));
}
