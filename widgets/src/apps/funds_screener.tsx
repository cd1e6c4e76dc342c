// The screener: filters on one side, the funds that pass on the other, sorted by the tool.

import { useState } from "preact/hooks";
import { amount, date, number, percent, short } from "../common/format";
import { Choice, Empty, Field, useTool, Wait } from "./parts";
import { reader, t, useTab } from "./state";

const blank = { search: "", amc: "", maxRiskLevel: "", maxFee: "", hedging: "", returnPeriod: "1y", minReturn: "", sortBy: "" };
type Filters = typeof blank;
const STEP = 20;

export function Screener({ list, toggle, open }: { list: string[]; toggle: (code: string) => void; open: (code: string) => void }) {
  const [filters, setFilters] = useTab<Filters>("rmf.filters", blank);
  const [typed, setTyped] = useState(filters);
  const [limit, setLimit] = useState(STEP);
  const asked = useTool("screen_rmf_funds", { ...inputOf(filters), limit });
  const set = (part: Partial<Filters>) => setTyped({ ...typed, ...part });
  const text = (name: keyof Filters, label: string, type = "text") => <Field label={label}>{(id) => <input id={id} type={type} step="any" value={typed[name]} onInput={(event) => set({ [name]: event.currentTarget.value })} />}</Field>;
  return (
    <>
      <form onSubmit={(event) => { event.preventDefault(); setLimit(STEP); setFilters(typed); }}>
        <div class="fields">
          {text("search", t("Words, such as gold or Vietnam", "คำค้น เช่น ทองคำ เวียดนาม"), "search")}
          {text("amc", t("Company", "บริษัทจัดการ"))}
          <Choice label={t("Highest risk", "ความเสี่ยงสูงสุด")} value={typed.maxRiskLevel} options={[["", t("any", "ทั้งหมด")], ...["1", "2", "3", "4", "5", "6", "7", "8"].map((one): [string, string] => [one, one])]} choose={(maxRiskLevel) => set({ maxRiskLevel })} />
          {text("maxFee", t("Highest total expense, %", "ค่าใช้จ่ายรวมสูงสุด (%)"), "number")}
          <Choice label={t("Currency hedging", "ป้องกันความเสี่ยงค่าเงิน")} value={typed.hedging} options={[["", t("any", "ทั้งหมด")], ["hedged", t("hedged", "ป้องกัน")], ["partial", t("partly", "บางส่วน")], ["unhedged", t("not hedged", "ไม่ป้องกัน")]]} choose={(hedging) => set({ hedging })} />
          <Choice label={t("Return over", "ผลตอบแทนช่วง")} value={typed.returnPeriod} options={periods()} choose={(returnPeriod) => set({ returnPeriod })} />
          {text("minReturn", t("At least, %", "ไม่น้อยกว่า (%)"), "number")}
          <Choice label={t("Sort by", "เรียงตาม")} value={typed.sortBy} options={[["", t("return", "ผลตอบแทน")], ["fee", t("expense", "ค่าใช้จ่าย")], ["size", t("size", "ขนาด")], ["risk", t("risk", "ความเสี่ยง")], ["volatility", t("volatility", "ความผันผวน")], ["code", t("code", "รหัส")]]} choose={(sortBy) => set({ sortBy })} />
        </div>
        <p class="actions"><button type="submit" class="strong">{t("Show funds", "แสดงกองทุน")}</button><button type="button" onClick={() => { setTyped(blank); setFilters(blank); }}>{t("Clear filters", "ล้างตัวกรอง")}</button></p>
      </form>
      <Wait asked={asked}>
        {({ data }) => {
          if (!data.funds.length) return <Empty title={t("No fund passes these filters.", "ไม่มีกองทุนที่ผ่านตัวกรอง")}><p>{t("Loosen one of them, or clear all.", "ลองผ่อนตัวกรองบางข้อ หรือล้างทั้งหมด")}</p></Empty>;
          return (
            <>
              <p role="status">{t(`${number(data.totalFunds, reader(), 0)} funds`, `${number(data.totalFunds, reader(), 0)} กองทุน`)} · <span class="quiet">{t("returns of", "ผลตอบแทน ณ")} {date(data.dataAge?.returns?.[1], reader())}</span></p>
              {data.dataAge?.stale && <p class="amber">{t(`These figures are ${data.dataAge.returnsAgeDays} days old. \`panoply rmf sync\` fetches new ones.`, `ตัวเลขเหล่านี้เก่า ${data.dataAge.returnsAgeDays} วัน ใช้คำสั่ง \`panoply rmf sync\` เพื่อปรับปรุง`)}</p>}
              <Results funds={data.funds} period={filters.returnPeriod} list={list} toggle={toggle} open={open} />
              {data.funds.length < data.totalFunds && <p class="actions"><button type="button" onClick={() => setLimit(Math.min(limit + STEP, 100))} disabled={limit >= 100}>{t("Show more", "แสดงเพิ่ม")}</button></p>}
            </>
          );
        }}
      </Wait>
    </>
  );
}

function Results({ funds, period, list, toggle, open }: { funds: any[]; period: string; list: string[]; toggle: (code: string) => void; open: (code: string) => void }) {
  const caption = t("Funds that pass", "กองทุนที่ผ่านตัวกรอง");
  const returned = (value: unknown) => <span class={typeof value === "number" ? (value < 0 ? "down" : "up") : "missing"}>{percent(value, reader())}</span>;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={caption}>
      <table>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">{t("Fund", "กองทุน")}</th>
            <th scope="col" class="figure">{t("Risk", "ความเสี่ยง")}</th>
            <th scope="col" class="figure">{periods().find(([name]) => name === period)?.[1]}</th>
            <th scope="col" class="figure wide">{t("Expense, %", "ค่าใช้จ่าย (%)")}</th>
            <th scope="col" class="figure wide">{t("Size, baht", "ขนาด (บาท)")}</th>
            <th scope="col">{t("My list", "รายการของฉัน")}</th>
          </tr>
        </thead>
        <tbody>
          {funds.map((fund) => (
            <tr key={fund.symbol}>
              <th scope="row"><button type="button" class="plain" onClick={() => open(fund.symbol)}>{fund.symbol}</button><small>{fund.fund_name}</small></th>
              <td class="figure">{fund.risk_level ?? "–"}</td>
              <td class="figure">{returned(fund.returns?.[period])}</td>
              <td class="figure wide">{amount(fund.total_expense, reader())}</td>
              <td class="figure wide">{fund.net_assets ? short(fund.net_assets, reader()) : "–"}</td>
              <td><input type="checkbox" checked={list.includes(fund.symbol)} aria-label={t(`${fund.symbol} in my list`, `${fund.symbol} ในรายการของฉัน`)} onChange={() => toggle(fund.symbol)} /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function periods(): [string, string][] {
  return [
    ["ytd", t("this year", "ตั้งแต่ต้นปี")],
    ["3m", t("3 months", "3 เดือน")],
    ["6m", t("6 months", "6 เดือน")],
    ["1y", t("1 year", "1 ปี")],
    ["3y", t("3 years a year", "3 ปี ต่อปี")],
    ["5y", t("5 years a year", "5 ปี ต่อปี")],
    ["10y", t("10 years a year", "10 ปี ต่อปี")],
  ];
}

/** Only what was filled in. */
function inputOf(filters: Filters): Record<string, unknown> {
  const input: Record<string, unknown> = { returnPeriod: filters.returnPeriod, sortBy: filters.sortBy || filters.returnPeriod };
  for (const name of ["search", "amc", "hedging"] as const) if (filters[name].trim()) input[name] = filters[name].trim();
  for (const name of ["maxRiskLevel", "maxFee", "minReturn"] as const) if (filters[name] !== "") input[name] = Number(filters[name]);
  return input;
}
