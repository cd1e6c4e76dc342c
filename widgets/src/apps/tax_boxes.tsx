// What to enter on the tax return, and the tax that follows.

import { amount, date } from "../common/format";
import { Choice, DraftInput, Field, Rows, Tiles, useTool, Wait } from "./parts";
import { reader, t, useTab } from "./state";
import { pounds } from "./tax_format";

export function Boxes({ text }: { text: string }) {
  const [year, setYear] = useTab("tax.year", "");
  const [income, setIncome] = useTab("tax.income", "30000");
  const years = useTool("calculate_report", { cgt_content: text, detail: "summary" });
  return (
    <Wait asked={years}>
      {({ data }) => {
        const periods: string[] = data.tax_years.map((one: any) => one.period).reverse();
        const chosen = periods.includes(year) ? year : periods[0];
        if (!chosen) return <p class="empty">{t("Nothing was sold, so nothing is to be entered.", "ไม่มีการขาย จึงไม่ต้องกรอก")}</p>;
        return (
          <>
            <div class="fields noprint">
              <Choice label={t("Tax year", "ปีภาษี")} value={chosen} options={periods.map((one) => [one, one])} choose={setYear} />
              <Field label={t("Taxable income of that year, £", "เงินได้สุทธิของปีนั้น (£)")} hint={t("After the personal allowance. It decides the rate.", "หลังหักค่าลดหย่อนส่วนตัว ใช้กำหนดอัตราภาษี")}>{(id) => <DraftInput id={id} type="number" min={0} step={100} value={income} change={setIncome} />}</Field>
            </div>
            <Estimate text={text} year={chosen} income={income || "0"} />
            <Entries text={text} year={chosen} income={income || "0"} />
          </>
        );
      }}
    </Wait>
  );
}

function Estimate({ text, year, income }: { text: string; year: string; income: string }) {
  const asked = useTool("estimate_tax", { cgt_content: text, year, taxable_income: income });
  return (
    <Wait asked={asked}>
      {({ data }) => (
        <section aria-label={t("Estimate", "ประมาณการ")}>
          <p class="quiet">{t(`Tax due for ${data.period}`, `ภาษีที่ต้องชำระปี ${data.period}`)}</p>
          <p class="big">{pounds(data.tax_due)}</p>
          <Tiles
            tiles={[
              [t("Taxable gain", "กำไรที่ต้องเสียภาษี"), pounds(data.taxable_gain)],
              [t("Exempt amount used", "ส่วนยกเว้นที่ใช้"), pounds(data.exempt_amount_used)],
              [t("Losses carried forward", "ขาดทุนยกไป"), pounds(data.losses_carried_forward)],
              [t("Pay by", "ชำระภายใน"), date(data.payment_due, reader())],
            ]}
          />
          <p class="src">{data.law.join("; ")}</p>
        </section>
      )}
    </Wait>
  );
}

function Entries({ text, year, income }: { text: string; year: string; income: string }) {
  const asked = useTool("sa108_summary", { cgt_content: text, year, taxable_income: income });
  return (
    <Wait asked={asked}>
      {({ data }) => (
        <section aria-label="SA108">
          <h2>{t("Boxes of SA108", "ช่องในแบบ SA108")} · {data.period}</h2>
          <p>{data.report_needed ? t("These gains must be reported.", "ต้องรายงานกำไรนี้") : t("These gains need not be reported.", "ไม่ต้องรายงานกำไรนี้")}</p>
          {data.reasons.length > 0 && <ul>{data.reasons.map((reason: string) => <li key={reason}>{reason}</li>)}</ul>}
          <Rows
            caption={t("Boxes of SA108", "ช่องในแบบ SA108")}
            rows={data.boxes}
            columns={[
              { name: t("Box", "ช่อง"), heads: true, cell: (box: any) => box.number },
              { name: t("Meaning", "ความหมาย"), cell: (box: any) => box.label },
              { name: t("Entry", "กรอก"), figure: true, cell: (box: any) => amount(box.entry, reader()) },
            ]}
          />
          <p class="src">{data.rounding}. {data.law}</p>
          <p class="quiet">{t("An aid for your own tax return, not tax advice.", "ใช้ประกอบการยื่นภาษีด้วยตนเอง ไม่ใช่คำแนะนำทางภาษี")}</p>
          <p class="actions noprint"><button type="button" onClick={() => print()}>{t("Print or save as PDF", "พิมพ์หรือบันทึกเป็น PDF")}</button></p>
        </section>
      )}
    </Wait>
  );
}
