// The list of funds: of a page, of a search, of the best of a period.

import { Reply } from "../common/bridge";
import { h } from "../common/dom";
import { date, number, percent } from "../common/format";
import { say, Text } from "../common/i18n";
import { Page, View } from "../common/page";
import { Column, pager, table } from "../common/table";
import { asOf, gain, nameOf, period, risk, words } from "./words";

const own = {
  best: { en: "Best RMF funds: {period}", th: "กองทุน RMF ที่ผลตอบแทนสูงสุด: {period}" },
  worst: { en: "Weakest RMF funds: {period}", th: "กองทุน RMF ที่ผลตอบแทนต่ำสุด: {period}" },
  average: { en: "Average", th: "เฉลี่ย" },
  median: { en: "Median", th: "มัธยฐาน" },
  lowest: { en: "Lowest", th: "ต่ำสุด" },
  highest: { en: "Highest", th: "สูงสุด" },
  counted: { en: "Funds counted", th: "จำนวนกองทุน" },
  shared: { en: "figures of the first share class", th: "ตัวเลขของหน่วยลงทุนชนิดแรก" },
} satisfies Record<string, Text>;

/** What a list was narrowed by. */
const FILTERS: Record<string, Text> = {
  search: { en: "“{value}”", th: "“{value}”" },
  amc: { en: "company {value}", th: "บลจ. {value}" },
  category: { en: "category {value}", th: "ประเภท {value}" },
  minRiskLevel: { en: "risk from {value}", th: "ความเสี่ยงตั้งแต่ {value}" },
  maxRiskLevel: { en: "risk up to {value}", th: "ความเสี่ยงไม่เกิน {value}" },
  minYtdReturn: { en: "YTD from {value}%", th: "ตั้งแต่ต้นปีไม่ต่ำกว่า {value}%" },
};

/** The most a search gives. */
const LONGEST_SEARCH = 100;

export const fundList: View = {
  draw: (reply, page) => (reply.data?.funds?.length ? (reply.data.periodStats ? ranking(reply, page) : listing(reply, page)) : null),
  empty: words.noFunds,
  asOf,
  caution: words.caution,
};

function listing(reply: Reply, page: Page): (Node | null)[] {
  const { funds, totalCount, appliedFilters } = reply.data;
  const filters = reply.meta?.filters ?? {};
  const pages: number | undefined = reply.data.totalPages;
  const paged = pages !== undefined;
  const tool = paged ? "get_rmf_funds" : "search_rmf_funds";
  const now: Record<string, unknown> = paged
    ? { ...pick(filters, ["sortBy", "sortOrder", "search"]), page: reply.data.page, pageSize: reply.data.pageSize }
    : { ...appliedFilters, ...pick(filters, ["sortBy", "sortOrder", "limit"]) };
  const go = (change: Record<string, unknown>) => () => void page.replace(tool, { ...now, ...change });
  const sort = (key: string, first: "asc" | "desc" = "desc") => ({
    now: filters.sortBy === key ? filters.sortOrder : null,
    press: go({ sortBy: key, sortOrder: filters.sortBy === key && filters.sortOrder === first ? flipped(first) : first, ...(paged ? { page: 1 } : {}) }),
  });
  const columns: Column<any>[] = [
    { ...fundColumn(reply, page), sort: sort("name", "asc") },
    { name: page.t(words.navBaht), figure: true, sort: sort("nav"), cell: (fund) => navCell(page, fund) },
    { name: page.t(words.change), figure: true, wide: true, cell: (fund) => gain(page, fund.nav_change_percent) },
    { name: period(page, "ytd"), figure: true, sort: sort("ytd"), cell: (fund) => gain(page, fund.perf_ytd) },
    { name: period(page, "1y"), figure: true, sort: sort("1y"), cell: (fund) => gain(page, fund.perf_1y) },
    { name: page.t(words.risk), sort: sort("risk"), cell: (fund) => risk(page, fund.risk_level) },
  ];
  const counted = say(page.t(words.showing), { shown: funds.length, total: totalCount });
  const named = Object.entries({ ...appliedFilters, ...pick(filters, ["search"]) }).map(([name, value]) => say(page.t(FILTERS[name] ?? { en: `${name}: {value}`, th: `${name}: {value}` }), { value: String(value) }));
  return [
    h("header", null, h("h1", { tabindex: -1 }, page.t(words.funds)), h("p", { class: "quiet" }, [counted, ...named].join(" · "))),
    table(page.t(words.funds), columns, funds, { unseenCaption: true }),
    paged && pages > 1
      ? pager(page, say(page.t(words.pageOf), { page: reply.data.page, pages }), reply.data.page > 1 ? go({ page: reply.data.page - 1 }) : null, reply.data.page < pages ? go({ page: reply.data.page + 1 }) : null)
      : null,
    !paged && funds.length < totalCount && funds.length < LONGEST_SEARCH
      ? h("p", { class: "actions" }, h("button", { type: "button", "data-focus": "more", onclick: go({ limit: Math.min(LONGEST_SEARCH, Math.max(funds.length * 2, 20)) }) }, page.t(words.more)))
      : null,
  ];
}

function ranking(reply: Reply, page: Page): (Node | null)[] {
  const { funds, periodStats, period: code } = reply.data;
  const filters = reply.meta?.filters ?? {};
  const order: "asc" | "desc" = filters.sortBy ?? "desc";
  const go = (change: Record<string, unknown>) => () => void page.replace("get_rmf_fund_performance", { period: code, ...filters, ...change });
  const columns: Column<any>[] = [
    fundColumn(reply, page),
    { name: page.t(words.return), figure: true, sort: { now: order, press: go({ sortBy: flipped(order) }) }, cell: (fund) => gain(page, fund.performance) },
    { name: page.t(words.benchmark), figure: true, wide: true, cell: (fund) => gain(page, fund.benchmark_performance) },
    { name: page.t(words.difference), figure: true, cell: (fund) => gain(page, fund.outperformance) },
    { name: page.t(words.risk), cell: (fund) => risk(page, fund.risk_level) },
  ];
  const stats: [Text, string][] = [
    [own.average, percent(periodStats.average, page.reader)],
    [own.median, percent(periodStats.median, page.reader)],
    [own.lowest, percent(periodStats.min, page.reader)],
    [own.highest, percent(periodStats.max, page.reader)],
    [own.counted, number(periodStats.fundsCounted, page.reader, 0)],
  ];
  const title = say(page.t(order === "desc" ? own.best : own.worst), { period: period(page, code) });
  return [
    h("header", null, h("h1", { tabindex: -1 }, title)),
    h(
      "div",
      { class: "chips", role: "group", "aria-label": page.t(words.return) },
      ["ytd", "3m", "6m", "1y", "3y", "5y"].map((other) =>
        h("button", { type: "button", "data-focus": `period-${other}`, "aria-pressed": String(other === code), onclick: go({ period: other }) }, period(page, other)),
      ),
    ),
    table(title, columns, funds, { unseenCaption: true }),
    h("dl", { class: "tiles", style: "margin-block-start:14px" }, stats.map(([name, value]) => h("div", null, h("dt", null, page.t(name)), h("dd", null, value)))),
  ];
}

function fundColumn(reply: Reply, page: Page): Column<any> {
  const flags: Record<string, string[]> = reply.meta?.dataFlags ?? {};
  return {
    name: page.t(words.fund),
    heads: true,
    cell: (fund) =>
      h(
        "span",
        null,
        h("button", { type: "button", class: "plain", "data-focus": `fund-${fund.symbol}`, onclick: () => void page.open("get_rmf_fund_detail", { fundCode: fund.symbol }) }, fund.symbol),
        h("small", null, nameOf(page, fund)),
        flags["share_class_figures_shared"]?.includes(fund.symbol) ? h("small", null, `* ${page.t(own.shared)}`) : null,
      ),
  };
}

function navCell(page: Page, fund: any): Node {
  return h("span", null, number(fund.nav_value, page.reader, 4), h("small", null, date(fund.nav_date, page.reader)));
}

function flipped(order: "asc" | "desc"): "asc" | "desc" {
  return order === "asc" ? "desc" : "asc";
}

function pick(from: Record<string, unknown>, names: string[]): Record<string, unknown> {
  return Object.fromEntries(names.filter((name) => from[name] !== undefined).map((name) => [name, from[name]]));
}
