// The tax planner: sliders for income and savings, and what a purchase saves by the tool's rules.

import { useEffect, useState } from "preact/hooks";
import { number } from "../common/format";
import { Rows, Slider, Tiles, useTool, Wait } from "./parts";
import { reader, t, useTab } from "./state";

const first = { annualIncome: 1_200_000, age: 40, providentFund: 0, pensionInsurance: 0, thaiEsg: 0, alreadyBought: 0, plannedPurchase: 100_000 };
type Plan = typeof first;
/** A slider in motion asks once it rests. */
const REST_MS = 250;

export function Planner() {
  const [plan, setPlan] = useTab<Plan>("rmf.plan", first);
  const [asking, setAsking] = useState(plan);
  useEffect(() => {
    const timer = setTimeout(() => setAsking(plan), REST_MS);
    return () => clearTimeout(timer);
  }, [JSON.stringify(plan)]);
  const asked = useTool("calc_rmf_tax_benefit", asking);
  const baht = t("baht", "บาท");
  const slider = (name: keyof Plan, label: string, max: number, step: number, unit = baht, min = 0) => <Slider label={label} value={plan[name]} min={min} max={max} step={step} unit={unit} change={(value) => setPlan((old) => ({ ...old, [name]: value }))} />;
  return (
    <div class="two">
      <form onSubmit={(event) => event.preventDefault()}>
        {slider("annualIncome", t("Income of the year", "เงินได้ทั้งปี"), 6_000_000, 10_000)}
        {slider("plannedPurchase", t("RMF you plan to buy", "RMF ที่จะซื้อ"), 500_000, 5_000)}
        {slider("alreadyBought", t("RMF already bought this year", "RMF ที่ซื้อแล้วปีนี้"), 500_000, 5_000)}
        {slider("providentFund", t("Paid into a provident fund", "กองทุนสำรองเลี้ยงชีพ"), 500_000, 5_000)}
        {slider("pensionInsurance", t("Pension insurance", "ประกันบำนาญ"), 200_000, 5_000)}
        {slider("thaiEsg", "Thai ESG", 300_000, 5_000)}
        {slider("age", t("Age", "อายุ"), 80, 1, t("years", "ปี"), 18)}
      </form>
      <Wait asked={asked}>{({ data }) => <Benefit data={data} />}</Wait>
    </div>
  );
}

function Benefit({ data }: { data: any }) {
  const baht = (value: unknown) => `${number(value, reader(), Number.isInteger(value) ? 0 : 2)} ${t("baht", "บาท")}`;
  const year = reader().buddhist ? `${data.taxYear + 543}` : String(data.taxYear);
  return (
    <section aria-live="polite" aria-label={t("Result", "ผลลัพธ์")}>
      <p class="quiet">{t(`Tax saved in ${year}`, `ภาษีที่ประหยัดได้ปี ${year}`)}</p>
      <p class="big">{baht(data.taxSaved)}</p>
      <Tiles
        tiles={[
          [t("Deductible", "หักลดหย่อนได้"), baht(data.deductible)],
          [t("Room left before the purchase", "วงเงินคงเหลือก่อนซื้อ"), baht(data.roomLeft)],
          [t("Without benefit", "ส่วนเกินที่ไม่ได้สิทธิ"), baht(data.excess)],
          [t("Tax before", "ภาษีก่อนซื้อ"), baht(data.taxBefore)],
          [t("Tax after", "ภาษีหลังซื้อ"), baht(data.taxAfter)],
          [t("Marginal rate", "อัตราภาษีขั้นสูงสุด"), `${number(data.marginalRate, reader(), 0)}%`],
        ]}
      />
      {data.unclear.map((one: string) => <p class="amber" key={one}>{one}</p>)}
      <Rows
        caption={t("Tax bands after the purchase", "ขั้นภาษีหลังซื้อ")}
        unseenCaption={false}
        rows={data.bandsAfter}
        columns={[
          { name: t("Rate", "อัตรา"), heads: true, cell: (band: any) => `${number(band.rate, reader(), 0)}%` },
          { name: t("Income in the band", "เงินได้ในขั้น"), figure: true, cell: (band: any) => baht(band.amount) },
          { name: t("Tax", "ภาษี"), figure: true, cell: (band: any) => baht(band.tax) },
        ]}
      />
      <details><summary>{t("Rules and sources", "กฎและแหล่งที่มา")}</summary><ul>{data.rules.sources.map((one: any) => <li key={one.rule}>{one.rule}<br /><span class="src">{one.source}</span></li>)}</ul></details>
      <p class="notice">{t("This is not tax advice. Check with the Revenue Department or a tax adviser.", "ไม่ใช่คำแนะนำทางภาษี โปรดตรวจสอบกับกรมสรรพากรหรือที่ปรึกษาภาษี")}</p>
    </section>
  );
}
