// Funds: screener with filters, fund page, comparison, tax planner, purchases and simulation.

import { views } from "../rmf/views";
import { Compare } from "./funds_compare";
import { Holding } from "./funds_holding";
import { Planner } from "./funds_planner";
import { Screener } from "./funds_screener";
import { Simulation } from "./funds_simulation";
import { Empty, Sections, Shown, useSection } from "./parts";
import { t, useKept, useTab } from "./state";

export function Funds() {
  const [section, go] = useSection(["screener", "fund", "compare", "planner", "holding", "simulation"]);
  const [fund, setFund] = useTab("rmf.fund", "");
  const [list, setList] = useKept<string[]>("rmf.list", []);
  const names: [string, string][] = [
    ["screener", t("Find funds", "ค้นหากองทุน")],
    ["fund", t("Fund", "กองทุน")],
    ["compare", t(`My list (${list.length})`, `รายการของฉัน (${list.length})`)],
    ["planner", t("Tax planner", "วางแผนภาษี")],
    ["holding", t("When may I sell?", "ขายได้เมื่อไร")],
    ["simulation", t("Simulation", "จำลองการออม")],
  ];
  const open = (code: string) => {
    setFund(code);
    go("fund");
  };
  const toggle = (code: string) => setList(list.includes(code) ? list.filter((one) => one !== code) : [...list, code]);
  return (
    <>
      <Sections label={t("Funds", "กองทุน")} names={names} now={section} />
      {section === "screener" && <Screener list={list} toggle={toggle} open={open} />}
      {section === "fund" &&
        (fund ? (
          <>
            <p class="actions noprint"><button type="button" aria-pressed={list.includes(fund)} onClick={() => toggle(fund)}>{list.includes(fund) ? t("✓ In my list", "✓ อยู่ในรายการของฉัน") : t("Add to my list", "เพิ่มในรายการของฉัน")}</button></p>
            <Shown views={views} tool="get_rmf_fund_detail" input={{ fundCode: fund }} />
          </>
        ) : (
          <Empty title={t("No fund is chosen.", "ยังไม่ได้เลือกกองทุน")}><p><a href="#screener">{t("Find one", "ค้นหากองทุน")}</a></p></Empty>
        ))}
      {section === "compare" && <Compare list={list} toggle={toggle} open={open} />}
      {section === "planner" && <Planner />}
      {section === "holding" && <Holding />}
      {section === "simulation" && <Simulation fund={fund} list={list} choose={setFund} />}
    </>
  );
}
