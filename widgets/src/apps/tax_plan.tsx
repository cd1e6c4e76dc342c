// What to sell before 5 April: within the exempt amount, losses to realize, and when to buy back.

import { date } from "../common/format";
import { DraftInput, Empty, Field, Rows, Tiles, useTool, Wait } from "./parts";
import { reader, t, useTab } from "./state";
import { pounds } from "./tax_format";

/** The tax year that is running, by the year in which it started. */
function runningYear(now: Date): string {
  const started = now.getUTCMonth() > 3 || (now.getUTCMonth() === 3 && now.getUTCDate() >= 6);
  return String(now.getUTCFullYear() - (started ? 0 : 1));
}

export function Plan({ text }: { text: string }) {
  const report = useTool("calculate_report", { cgt_content: text, detail: "summary" });
  const [prices, setPrices] = useTab<Record<string, string>>("tax.prices", {});
  const [income, setIncome] = useTab("tax.income", "30000");
  const [fill, setFill] = useTab("tax.fillBand", false);
  const held: any[] = report.reply?.data.holdings ?? [];
  const given = held.filter((one) => Number(prices[one.ticker]) > 0).map((one) => ({ ticker: one.ticker, price: String(prices[one.ticker]) }));
  const plan = useTool("plan_disposals", given.length ? { cgt_content: text, year: runningYear(new Date()), taxable_income: income || "0", prices: given, use_basic_rate_band: fill } : null);
  return (
    <Wait asked={report}>
      {() =>
        !held.length ? (
          <Empty title={t("Nothing is held, so nothing can be sold.", "ไม่มีหลักทรัพย์คงเหลือ จึงไม่มีอะไรให้ขาย")} />
        ) : (
          <>
            <p class="lead">{t("What to sell by 5 April so that gains stay within the exempt amount, and losses that can be used.", "ขายอะไรก่อน 5 เมษายนเพื่อให้กำไรอยู่ในส่วนยกเว้น และขาดทุนที่ใช้ได้")}</p>
            <div class="fields noprint">
              <Field label={t("Taxable income of this year, £", "เงินได้สุทธิของปีนี้ (£)")}>{(id) => <DraftInput id={id} type="number" min={0} step={100} value={income} change={setIncome} />}</Field>
              {held.slice(0, 50).map((one) => (
                <Field key={one.ticker} label={t(`Price of ${one.ticker}, £`, `ราคา ${one.ticker} (£)`)} hint={t(`${one.quantity} held`, `ถืออยู่ ${one.quantity}`)}>{(id) => <DraftInput id={id} type="number" min={0} step="any" value={prices[one.ticker] ?? ""} change={(value) => setPrices((old) => ({ ...old, [one.ticker]: value }))} />}</Field>
              ))}
            </div>
            <label class="check"><input type="checkbox" checked={fill} onChange={(event) => setFill(event.currentTarget.checked)} /><span>{t("Also use the rest of the basic rate band", "ใช้ส่วนที่เหลือของอัตราพื้นฐานด้วย")}</span></label>
            {given.length ? <Wait asked={plan}>{({ data }) => <Sales plan={data} />}</Wait> : <p class="quiet">{t("Enter the prices of today to get a plan.", "ใส่ราคาปัจจุบันเพื่อดูแผน")}</p>}
          </>
        )
      }
    </Wait>
  );
}

function Sales({ plan }: { plan: any }) {
  const purposes: Record<string, string> = { use_exempt_amount: t("gain within the exempt amount", "กำไรในส่วนยกเว้น"), reduce_taxable_gain: t("loss to use", "ขาดทุนที่ใช้ได้"), use_basic_rate_band: t("gain at the lower rate", "กำไรในอัตราต่ำ") };
  return (
    <section aria-label={t("Plan", "แผน")}>
      {plan.sales.length ? (
        <Rows
          caption={t(`Sales by ${date(plan.date, reader())}`, `ขายภายใน ${date(plan.date, reader())}`)}
          unseenCaption={false}
          rows={plan.sales}
          columns={[
            { name: t("Security", "หลักทรัพย์"), heads: true, cell: (sale: any) => sale.ticker },
            { name: t("Sell", "ขาย"), figure: true, cell: (sale: any) => sale.quantity },
            { name: t("Expected gain", "กำไรคาดการณ์"), figure: true, cell: (sale: any) => pounds(sale.expected_gain) },
            { name: t("Why", "เหตุผล"), cell: (sale: any) => purposes[sale.purpose] ?? sale.purpose },
          ]}
        />
      ) : (
        <p>{t("No sale would lower the tax.", "ไม่มีการขายใดที่ช่วยลดภาษี")}</p>
      )}
      <Tiles
        tiles={[
          [t("Tax before", "ภาษีก่อน"), pounds(plan.tax_before)],
          [t("Tax after", "ภาษีหลัง"), pounds(plan.tax_after)],
          [t("Exempt amount left", "ส่วนยกเว้นคงเหลือ"), pounds(plan.exempt_amount_left)],
          [t("Buy back from", "ซื้อคืนได้ตั้งแต่"), date(plan.first_safe_repurchase, reader())],
        ]}
      />
      {plan.warnings.length > 0 && <ul>{plan.warnings.map((warning: string) => <li key={warning}>{warning}</li>)}</ul>}
      <p class="quiet">{t("Bought back earlier, a sale is matched with the purchase (30-day rule).", "หากซื้อคืนก่อนวันนั้น การขายจะจับคู่กับการซื้อใหม่ (กฎ 30 วัน)")} {plan.law}</p>
    </section>
  );
}
