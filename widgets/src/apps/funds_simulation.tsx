// What monthly saving in a fund may grow to: the tool's low, median and high course.

import { useState } from "preact/hooks";
import { number, short } from "../common/format";
import { Chart, Field, Slider, Tiles, useTool, Wait } from "./parts";
import { reader, t, useTab } from "./state";

const first = { monthly: 5_000, years: 20, taxRate: 0 };

export function Simulation({ fund, list, choose }: { fund: string; list: string[]; choose: (code: string) => void }) {
  const [plan, setPlan] = useTab("rmf.simulation", first);
  const [code, setCode] = useState(fund || list[0] || "K-USXNDQRMF");
  const [asking, setAsking] = useState<Record<string, unknown> | null>({ fundCode: code, ...inputOf(plan) });
  const asked = useTool("simulate_rmf_plan", asking);
  const slider = (name: keyof typeof first, label: string, min: number, max: number, step: number, unit: string) => <Slider label={label} value={plan[name]} min={min} max={max} step={step} unit={unit} change={(value) => setPlan((old) => ({ ...old, [name]: value }))} />;
  const submit = (event: Event) => {
    event.preventDefault();
    choose(code.trim());
    setAsking({ fundCode: code.trim(), ...inputOf(plan) });
  };
  return (
    <>
      <form onSubmit={submit}>
        <div class="two">
          <Field label={t("Fund code", "รหัสกองทุน")}>{(id) => <><input id={id} type="text" list="my-funds" value={code} onInput={(event) => setCode(event.currentTarget.value)} /><datalist id="my-funds">{list.map((one) => <option key={one} value={one} />)}</datalist></>}</Field>
          {slider("monthly", t("Each month", "ออมเดือนละ"), 500, 50_000, 500, t("baht", "บาท"))}
          {slider("years", t("For", "เป็นเวลา"), 1, 40, 1, t("years", "ปี"))}
          {slider("taxRate", t("Tax saved and invested again", "นำภาษีที่ประหยัดไปลงทุนต่อ"), 0, 35, 5, "%")}
        </div>
        <p class="actions"><button type="submit" class="strong">{t("Simulate", "จำลอง")}</button></p>
      </form>
      <Wait asked={asked}>{({ data }) => <Course data={data} />}</Wait>
    </>
  );
}

function inputOf({ monthly, years, taxRate }: typeof first): Record<string, unknown> {
  return { monthly, years, ...(taxRate ? { taxRate } : {}) };
}

function Course({ data }: { data: any }) {
  const baht = (value: number) => `${number(value, reader(), 0)} ${t("baht", "บาท")}`;
  const line = (name: string, key: string) => ({ name, points: data.byYear.map((year: any) => ({ at: String(year.year), label: t(`year ${year.year}`, `ปีที่ ${year.year}`), value: year[key] })) });
  const series = [line(t("median", "ค่ากลาง"), "median"), line(t("high", "สูง"), "high"), line(t("low", "ต่ำ"), "low"), line(t("paid in", "เงินที่จ่าย"), "paid")];
  return (
    <section aria-label={t("Result", "ผลลัพธ์")}>
      <h2>{data.fundCode}</h2>
      <Tiles
        tiles={[
          [t("Paid in", "เงินที่จ่าย"), baht(data.paid)],
          [t("Median", "ค่ากลาง"), baht(data.median)],
          [t("Median in today's money", "ค่ากลางตามค่าเงินวันนี้"), baht(data.medianReal)],
          [t("1 in 10 ends below", "1 ใน 10 กรณีต่ำกว่า"), baht(data.low)],
          [t("1 in 10 ends above", "1 ใน 10 กรณีสูงกว่า"), baht(data.high)],
          [t("Ends with a loss", "โอกาสขาดทุน"), `${number(data.lossPercent, reader(), 1)}%`],
        ]}
      />
      <Chart series={series} options={{ title: t("Value by year", "มูลค่ารายปี"), description: t(`Median ${baht(data.median)} after ${data.years} years.`, `ค่ากลาง ${baht(data.median)} หลัง ${data.years} ปี`), write: baht, axis: (value) => short(value, reader()), along: t("Year", "ปีที่") }} />
      {data.hints?.caution && <p class="amber">{data.hints.caution}</p>}
      <p class="notice">{t("A simulation from past returns. It promises nothing about the future.", "เป็นการจำลองจากผลตอบแทนในอดีต มิได้รับประกันผลในอนาคต")}</p>
    </section>
  );
}
