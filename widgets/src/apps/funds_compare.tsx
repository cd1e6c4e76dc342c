// The saved list: funds side by side, and what they hold in common.

import { number } from "../common/format";
import { views } from "../rmf/views";
import { Empty, Shown, useTool, Wait } from "./parts";
import { reader, t } from "./state";

/** As many as the tool compares at once. */
const MOST = 5;

export function Compare({ list, toggle, open }: { list: string[]; toggle: (code: string) => void; open: (code: string) => void }) {
  const codes = list.slice(0, MOST);
  return (
    <>
      <ul class="list">
        {list.map((code) => (
          <li class="row" key={code}>
            <button type="button" class="plain grow" onClick={() => open(code)}>{code}</button>
            <button type="button" onClick={() => toggle(code)} aria-label={t(`Remove ${code}`, `นำออก ${code}`)}>{t("Remove", "นำออก")}</button>
          </li>
        ))}
      </ul>
      {list.length < 2 ? (
        <Empty title={t("Put two funds or more on your list to compare them.", "เพิ่มอย่างน้อยสองกองทุนในรายการเพื่อเปรียบเทียบ")}><p><a href="#screener">{t("Find funds", "ค้นหากองทุน")}</a></p></Empty>
      ) : (
        <>
          {list.length > MOST && <p class="quiet">{t(`The first ${MOST} are compared.`, `เปรียบเทียบ ${MOST} กองทุนแรก`)}</p>}
          <Shown views={views} tool="compare_rmf_funds" input={{ fundCodes: codes }} />
          <Overlap codes={codes} />
        </>
      )}
    </>
  );
}

function Overlap({ codes }: { codes: string[] }) {
  const asked = useTool("compare_rmf_holdings", { fundCodes: codes });
  return (
    <>
      <h2>{t("Held in common", "สินทรัพย์ที่ถือซ้ำกัน")}</h2>
      <Wait asked={asked}>
        {({ data }) => {
          return (
            <ul>
              {data.pairs.map((pair: any) => <li key={`${pair.a} ${pair.b}`}>{pair.a} + {pair.b}: {pair.overlapPercent === null ? t("no holdings to compare in the data", "ไม่มีข้อมูลสินทรัพย์ให้เปรียบเทียบ") : `${number(pair.overlapPercent, reader(), 2)}%`}</li>)}
            </ul>
          );
        }}
      </Wait>
    </>
  );
}
