// One line at the end of each page: health of the server and the dates of its data.

import { useEffect, useState } from "preact/hooks";
import { date } from "../common/format";
import { language } from "../console/settings";
import { ask } from "./client";
import { reader, t } from "./state";

interface Dates {
  nav: string | null;
  tax: string | null;
}

export function Status({ withDates }: { withDates: boolean }) {
  const [health, setHealth] = useState<{ status: string; reason?: string } | null>(null);
  const [dates, setDates] = useState<Dates>({ nav: null, tax: null });
  useEffect(() => {
    fetch("/readyz").then((reply) => reply.json()).then(setHealth, () => setHealth({ status: "unreachable" }));
    if (!withDates) return;
    // A server without a pack has no date of it, and one with keys none before sign-in.
    ask("get_rmf_funds", { pageSize: 1 }).then(({ meta }) => setDates((old) => ({ ...old, nav: meta.dataAsOf?.nav ?? null })), () => {});
    ask("calculate_report", { cgt_content: "2024-05-01 BUY EXAMPLE 1 @ 1 GBP", detail: "summary" }).then(({ data }) => setDates((old) => ({ ...old, tax: data?.parameters_as_of ?? null })), () => {});
  }, [language()]);
  const ready = health?.status === "ready";
  const said = !health
    ? t("Asking the server…", "กำลังถามเซิร์ฟเวอร์…")
    : ready
      ? t("The server is healthy", "เซิร์ฟเวอร์พร้อมใช้งาน")
      : `${health.status === "degraded" ? t("The server works with limits", "เซิร์ฟเวอร์ทำงานได้บางส่วน") : t("The server is not ready", "เซิร์ฟเวอร์ยังไม่พร้อม")}${health.reason ? `: ${health.reason}` : ""}`;
  return (
    <footer class="foot">
      <p role="status"><span class={`dot${health && !ready ? " bad" : ""}`} aria-hidden="true" />{said}</p>
      {dates.nav && <p>{t("Fund prices up to", "ราคากองทุนถึง")} {date(dates.nav, reader())}</p>}
      {dates.tax && <p>{t("UK tax rates as of", "อัตราภาษีสหราชอาณาจักร ณ")} {date(dates.tax, reader())}</p>}
    </footer>
  );
}
