// Purchases and the dates that matter: when RMF units may be sold.

import { date, number } from "../common/format";
import { DraftInput, Field, Rows, Tiles, useTool, Wait } from "./parts";
import { reader, t, useTab } from "./state";

interface Purchase {
  date: string;
  amount: string;
}

export function Holding() {
  const [birth, setBirth] = useTab("rmf.birth", "");
  const [purchases, setPurchases] = useTab<Purchase[]>("rmf.purchases", [{ date: "", amount: "" }]);
  const whole = purchases.filter((one) => one.date);
  const input = birth && whole.length ? { birthDate: birth, purchases: whole.map((one) => ({ date: one.date, ...(one.amount ? { amount: Number(one.amount) } : {}) })) } : null;
  const asked = useTool("check_rmf_holding", input);
  const change = (place: number, part: Partial<Purchase>) => setPurchases((old) => old.map((one, index) => (index === place ? { ...one, ...part } : one)));
  return (
    <>
      <form onSubmit={(event) => event.preventDefault()}>
        <div class="fields"><Field label={t("Date of birth", "วันเกิด")} hint={t("Kept in this tab only", "เก็บไว้ในแท็บนี้เท่านั้น")}>{(id) => <DraftInput id={id} type="date" value={birth} change={setBirth} />}</Field></div>
        {purchases.map((one, place) => (
          <div class="fields" key={place}>
            <Field label={t(`Purchase ${place + 1}: date`, `ซื้อครั้งที่ ${place + 1}: วันที่`)}>{(id) => <DraftInput id={id} type="date" value={one.date} change={(date) => change(place, { date })} />}</Field>
            <Field label={t("Amount, baht", "จำนวนเงิน (บาท)")}>{(id) => <DraftInput id={id} type="number" min={0} value={one.amount} change={(amount) => change(place, { amount })} />}</Field>
          </div>
        ))}
        <p class="actions"><button type="button" onClick={() => setPurchases([...purchases, { date: "", amount: "" }])}>{t("Add a purchase", "เพิ่มรายการซื้อ")}</button></p>
      </form>
      {!input && <p class="quiet">{t("Give your date of birth and at least one purchase.", "ใส่วันเกิดและรายการซื้ออย่างน้อยหนึ่งครั้ง")}</p>}
      <Wait asked={asked}>{({ data }) => <Dates data={data} />}</Wait>
    </>
  );
}

function Dates({ data }: { data: any }) {
  const day = (value: unknown) => date(value, reader());
  return (
    <section aria-live="polite" aria-label={t("Dates that matter", "วันที่สำคัญ")}>
      <p class={data.mayRedeem ? "grey" : "amber"}><b>{data.mayRedeem ? t("You may sell without losing the benefit.", "ขายได้โดยไม่เสียสิทธิ") : t("Selling now would break the conditions.", "ขายตอนนี้จะผิดเงื่อนไข")}</b></p>
      <Tiles
        tiles={[
          [t("Earliest sale", "ขายได้เร็วที่สุด"), day(data.earliestDate)],
          [t("You turn 55", "อายุครบ 55 ปี"), day(data.age55Date)],
          [t("Five years after the first purchase", "ครบห้าปีจากการซื้อครั้งแรก"), day(data.held5YearsDate)],
        ]}
      />
      {data.missedYears?.length > 0 && <p class="amber">{t("No purchase in", "ไม่มีการซื้อในปี")} {data.missedYears.map((gap: any) => years(gap)).join(", ")}. {t("The rules ask for one at least every other year.", "กฎกำหนดให้ซื้ออย่างน้อยปีเว้นปี")}</p>}
      <Rows
        caption={t("Purchases", "รายการซื้อ")}
        unseenCaption={false}
        rows={data.lots}
        columns={[
          { name: t("Date", "วันที่"), heads: true, cell: (lot: any) => day(lot.date) },
          { name: t("Amount, baht", "จำนวนเงิน (บาท)"), figure: true, cell: (lot: any) => number(lot.amount, reader(), 0) },
          { name: t("Years held", "ถือมาแล้ว (ปี)"), figure: true, cell: (lot: any) => number(lot.yearsHeld, reader(), 0) },
        ]}
      />
      {data.unclear?.length > 0 && <details><summary>{t("What is not computed", "สิ่งที่ไม่ได้คำนวณ")}</summary><ul>{data.unclear.map((one: string) => <li key={one}>{one}</li>)}</ul></details>}
      <p class="notice">{t("This is not tax advice. Check with the Revenue Department or a tax adviser.", "ไม่ใช่คำแนะนำทางภาษี โปรดตรวจสอบกับกรมสรรพากรหรือที่ปรึกษาภาษี")}</p>
    </section>
  );
}

function years({ from, to }: { from: number; to: number }): string {
  const shift = reader().buddhist ? 543 : 0;
  return from === to ? String(from + shift) : `${from + shift}–${to + shift}`;
}
