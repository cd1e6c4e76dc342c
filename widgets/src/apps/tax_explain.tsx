// Why a sale was matched with these purchases: in words, with the law and the pool before and
// after.

import { amount, date } from "../common/format";
import { Choice, Empty, Tiles, useTool, Wait } from "./parts";
import { reader, t, useTab } from "./state";
import { pounds } from "./tax_format";

export function Explain({ text }: { text: string }) {
  const sales = useTool("calculate_report", { cgt_content: text, limit: 200 });
  const [chosen, choose] = useTab("tax.sale", "");
  return (
    <Wait asked={sales}>
      {({ data }) => {
        const all: any[] = data.tax_years.flatMap((year: any) => year.disposals ?? []).reverse();
        const options: [string, string][] = all.map((sale) => [`${sale.date} ${sale.ticker}`, `${date(sale.date, reader())} · ${sale.ticker} · ${amount(sale.quantity, reader())}`]);
        if (!options.length) return <Empty title={t("Nothing was sold.", "ไม่มีการขาย")} />;
        const now = options.some(([id]) => id === chosen) ? chosen : (options[0] as [string, string])[0];
        const [disposal_date, ticker] = now.split(/ (.*)/s) as [string, string];
        return (
          <>
            <Choice label={t("Sale", "การขาย")} value={now} options={options} choose={choose} />
            {data.page?.next_offset && <p class="quiet">{t(`The first ${data.page.shown} of ${data.page.total} sales.`, `${data.page.shown} รายการแรกจาก ${data.page.total}`)}</p>}
            <Sale text={text} disposal_date={disposal_date} ticker={ticker} />
          </>
        );
      }}
    </Wait>
  );
}

function Sale({ text, disposal_date, ticker }: { text: string; disposal_date: string; ticker: string }) {
  const asked = useTool("explain_matching", { cgt_content: text, disposal_date, ticker });
  return (
    <Wait asked={asked}>
      {({ data }) => (
        <section aria-label={t("Explanation", "คำอธิบาย")}>
          <Tiles
            tiles={[
              [t("Proceeds", "เงินที่ได้รับ"), pounds(data.proceeds)],
              [t("Gain or loss", "กำไรหรือขาดทุน"), pounds(data.total_gain_or_loss)],
              [t("Tax year", "ปีภาษี"), data.tax_year],
            ]}
          />
          {data.matches.map((match: any, place: number) => (
            <article key={place}>
              <h3>{ruleName(match.rule)} · {amount(match.quantity, reader())} {t("shares", "หุ้น")} · {pounds(match.gain_or_loss)}</h3>
              <p>{match.explanation}</p>
              {match.pool && <p class="quiet">{t("Pool before", "กองก่อนขาย")}: {amount(match.pool.before.quantity, reader())} / {pounds(match.pool.before.total_cost)} · {t("after", "หลังขาย")}: {amount(match.pool.after.quantity, reader())} / {pounds(match.pool.after.total_cost)}</p>}
              <p class="src">{match.law}</p>
            </article>
          ))}
        </section>
      )}
    </Wait>
  );
}

function ruleName(rule: string): string {
  const names: Record<string, string> = { "Same Day": t("Bought the same day", "ซื้อวันเดียวกัน"), "Bed & Breakfast": t("Bought within 30 days", "ซื้อภายใน 30 วัน"), "Section 104": t("From the Section 104 pool", "จากกอง Section 104") };
  return names[rule] ?? rule;
}
