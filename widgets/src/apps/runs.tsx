// Runs: the list, the explorer of one run, the comparison of two up to their first difference, and
// the table of a sweep.

import { useState } from "preact/hooks";
import { context, run } from "../backtest/run";
import { amount, date, dateTime, number } from "../common/format";
import { Choice, Empty, Field, Rows, Sections, Shown, Tiles, useSection, useTool, Wait } from "./parts";
import { SweepTable } from "./runs_sweep";
import { reader, t, useTab } from "./state";

export function Runs() {
  const [section, go] = useSection(["runs", "run", "events", "compare", "sweep"]);
  const [runId, setRunId] = useTab("runs.run", "");
  const names: [string, string][] = [
    ["runs", t("Runs", "รายการ")],
    ["run", t("Explore", "สำรวจ")],
    ["events", t("Events", "เหตุการณ์")],
    ["compare", t("Compare", "เปรียบเทียบ")],
    ["sweep", t("Sweep", "ชุดพารามิเตอร์")],
  ];
  return (
    <>
      <Sections label={t("Runs", "ผลทดสอบ")} names={names} now={section} />
      {section === "runs" && <List open={(id) => { setRunId(id); go("run"); }} />}
      {section === "run" && (runId ? <Explore runId={runId} /> : <NoRun />)}
      {section === "events" && (runId ? <Events runId={runId} /> : <NoRun />)}
      {section === "compare" && <Compare runId={runId} />}
      {section === "sweep" && <SweepTable open={(id) => { setRunId(id); go("run"); }} />}
    </>
  );
}

function NoRun() {
  return <Empty title={t("No run is chosen.", "ยังไม่ได้เลือกผลทดสอบ")}><p><a href="#runs">{t("Choose one", "เลือกจากรายการ")}</a></p></Empty>;
}

function List({ open }: { open: (runId: string) => void }) {
  const [query, setQuery] = useState("");
  const [typed, setTyped] = useState("");
  const asked = useTool("list_backtest_runs", { limit: 50, ...(query ? { query } : {}) });
  return (
    <>
      <form onSubmit={(event) => { event.preventDefault(); setQuery(typed.trim()); }}>
        <Field label={t("Search by strategy or source", "ค้นหาตามกลยุทธ์หรือแหล่งที่มา")}>{(id) => <input id={id} type="search" value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />}</Field>
        <p class="actions"><button type="submit">{t("Search", "ค้นหา")}</button></p>
      </form>
      <Wait asked={asked}>
        {({ data }) =>
          data.runs.length ? (
            <ul class="list">
              {data.runs.map((one: any) => (
                <li class="row" key={one.runId}>
                  <span class="grow"><b>{one.strategyName ?? one.runId}</b><br /><span class="quiet">{one.source ?? ""} · {date(one.startTime, reader())} – {date(one.endTime, reader())} · {t(`${number(one.events, reader(), 0)} events`, `${number(one.events, reader(), 0)} เหตุการณ์`)}</span></span>
                  <span class="badge">{one.status === "completed" ? t("completed", "เสร็จแล้ว") : one.status}</span>
                  <button type="button" class="strong" aria-label={t(`Open ${one.strategyName ?? one.runId}`, `เปิด ${one.strategyName ?? one.runId}`)} onClick={() => open(one.runId)}>{t("Open", "เปิด")}</button>
                </li>
              ))}
            </ul>
          ) : (
            <Empty title={t("No run was found.", "ไม่พบผลทดสอบ")}><p>{t("Bring one in with `panoply backtest import FILE`.", "นำเข้าด้วย `panoply backtest import FILE`")}</p></Empty>
          )
        }
      </Wait>
    </>
  );
}

function Explore({ runId }: { runId: string }) {
  const [chosen, choose] = useState<string | null>(null);
  const performance = useTool("get_performance", { runId });
  if (chosen) return <Around runId={runId} eventId={chosen} back={() => choose(null)} />;
  return (
    <>
      <Wait asked={performance}>{({ data }) => <Performance data={data} open={choose} />}</Wait>
      <Shown views={{ describe_run: run, get_context: context }} tool="describe_run" input={{ runId }} />
    </>
  );
}

/** An event with what happened before and after it. */
function Around({ runId, eventId, back }: { runId: string; eventId: string; back: () => void }) {
  return (
    <>
      <button type="button" class="back" onClick={back}>‹ {t("Back", "กลับ")}</button>
      <Shown views={{ get_context: context }} tool="get_context" input={{ runId, eventId, before: 8, after: 8 }} />
    </>
  );
}

/** Profit and the deepest falls, with the trades that lost most in them. */
function Performance({ data, open }: { data: any; open: (eventId: string) => void }) {
  const money = (value: unknown) => `${amount(value, reader(), true)}${data.currency ? ` ${data.currency}` : ""}`;
  const falls: any[] = data.drawdowns ?? [];
  return (
    <section aria-label={t("Performance", "ผลการดำเนินงาน")}>
      <Tiles
        tiles={[
          [t("Profit", "กำไร"), money(data.profit)],
          [t("Deepest drawdown", "ลดลงมากที่สุด"), falls[0] ? amount(falls[0].depth, reader()) : "–"],
          [t("Time in the market", "สัดส่วนเวลาที่ถือครอง"), data.exposure === null ? "–" : `${number(data.exposure * 100, reader(), 1)}%`],
        ]}
      />
      {falls.length > 0 && <h2>{t("Where it lost money", "ขาดทุนตรงไหน")}</h2>}
      {falls.map((fall) => (
        <div class="amber" key={fall.peak}>
          <b>−{amount(fall.depth, reader())}</b> · {dateTime(fall.peak, reader())} → {dateTime(fall.trough, reader())} UTC · {fall.recovered ? t(`recovered ${dateTime(fall.recovered, reader())}`, `ฟื้นตัว ${dateTime(fall.recovered, reader())}`) : t("not recovered", "ยังไม่ฟื้นตัว")}
          <ul>{fall.worstTrades.map((trade: any) => <li key={trade.number}><button type="button" class="plain" onClick={() => open(trade.entry)}>{trade.securitySymbol} · {t(`trade ${trade.number}`, `การซื้อขายที่ ${trade.number}`)}</button> {money(trade.profit)}</li>)}</ul>
        </div>
      ))}
    </section>
  );
}

const words = (name: string) => name.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();

const TYPES = ["TradeExecution", "OrderRejection", "RiskEvent", "PositionUpdate", "StateChange", "IndicatorCalculation", "MarketDataEvent"];
const PAGE = 25;

function Events({ runId }: { runId: string }) {
  const [type, setType] = useTab("runs.type", "OrderRejection");
  const [page, setPage] = useState(0);
  const [chosen, choose] = useState<string | null>(null);
  const asked = useTool("get_events_by_type", { runId, eventType: type, pageSize: PAGE, pageIndex: page });
  const typeName: Record<string, string> = { TradeExecution: t("Trades", "การซื้อขาย"), OrderRejection: t("Rejected orders", "คำสั่งที่ถูกปฏิเสธ"), RiskEvent: t("Risk events", "เหตุการณ์ความเสี่ยง"), PositionUpdate: t("Positions", "สถานะถือครอง"), StateChange: t("Changes of state", "การเปลี่ยนสถานะ"), IndicatorCalculation: t("Indicators", "ตัวชี้วัด"), MarketDataEvent: t("Market data", "ข้อมูลตลาด") };
  if (chosen) return <Around runId={runId} eventId={chosen} back={() => choose(null)} />;
  return (
    <>
      <div class="fields"><Choice label={t("Kind of event", "ชนิดเหตุการณ์")} value={type} options={TYPES.map((one) => [one, typeName[one] ?? one])} choose={(next) => { setType(next); setPage(0); }} /></div>
      <Wait asked={asked}>
        {({ data }) =>
          data.events.length ? (
            <>
              <p role="status">{t(`${number(data.metadata.totalCount, reader(), 0)} events`, `${number(data.metadata.totalCount, reader(), 0)} เหตุการณ์`)}</p>
              <ul class="list">
                {data.events.map((event: any) => <li class="row" key={event.eventId}><span class="grow"><button type="button" class="plain" onClick={() => choose(event.eventId)}>{dateTime(event.timestamp, reader())} UTC</button> <span class="badge">{event.severity}</span><br /><span class="src">{brief(event.properties)}</span></span></li>)}
              </ul>
              <nav class="pager" aria-label={t("Pages", "หน้า")}>
                <button type="button" disabled={page === 0} onClick={() => setPage(page - 1)}>‹ {t("Previous", "ก่อนหน้า")}</button>
                <span>{page + 1}</span>
                <button type="button" disabled={!data.metadata.hasMore} onClick={() => setPage(page + 1)}>{t("Next", "ถัดไป")} ›</button>
              </nav>
            </>
          ) : (
            <Empty title={t("The run has no such event.", "ไม่มีเหตุการณ์ชนิดนี้")} />
          )
        }
      </Wait>
    </>
  );
}

/** Plain properties of an event, without ids. */
function brief(properties: any): string {
  return Object.entries<any>(properties ?? {})
    .filter(([name, value]) => value !== null && typeof value !== "object" && !/Id$/.test(name))
    .map(([name, value]) => `${words(name)} ${typeof value === "number" ? amount(value, reader()) : value}`)
    .join(" · ");
}

function Compare({ runId }: { runId: string }) {
  const runs = useTool("list_backtest_runs", { limit: 50 });
  const [first, setFirst] = useTab("runs.first", runId);
  const [second, setSecond] = useTab("runs.second", "");
  return (
    <Wait asked={runs}>
      {({ data }) => {
        const options: [string, string][] = data.runs.map((one: any) => [one.runId, `${one.strategyName ?? ""} · ${one.runId.slice(0, 8)}`]);
        if (options.length < 2) return <Empty title={t("Two runs are needed to compare.", "ต้องมีสองรายการจึงเปรียบเทียบได้")}><p>{t("Bring another in with `panoply backtest import FILE`.", "นำเข้าเพิ่มด้วย `panoply backtest import FILE`")}</p></Empty>;
        const has = (id: string) => options.some(([one]) => one === id);
        const one = has(first) ? first : (options[0] as [string, string])[0];
        const other = has(second) && second !== one ? second : (options.find(([id]) => id !== one) as [string, string])[0];
        return (
          <>
            <div class="fields">
              <Choice label={t("First run", "รายการแรก")} value={one} options={options} choose={setFirst} />
              <Choice label={t("Second run", "รายการที่สอง")} value={other} options={options} choose={setSecond} />
            </div>
            <Difference one={one} other={other} />
          </>
        );
      }}
    </Wait>
  );
}

function Difference({ one, other }: { one: string; other: string }) {
  const asked = useTool("compare_runs", { runId: one, otherRunId: other });
  return (
    <Wait asked={asked}>
      {({ data }) => (
        <section aria-label={t("Comparison", "การเปรียบเทียบ")}>
          <h2>{t("First divergence", "จุดแรกที่ต่างกัน")}</h2>
          {data.firstDivergence ? <Divergence told={data.firstDivergence} /> : <p class="grey">{t("The runs do not diverge.", "ทั้งสองรายการไม่ต่างกัน")}</p>}
          {data.parameters.length > 0 && <Pairs caption={t("Parameters that differ", "พารามิเตอร์ที่ต่างกัน")} rows={data.parameters} />}
          <Rows
            caption={t("Figures", "ตัวเลข")}
            unseenCaption={false}
            rows={data.figures}
            columns={[
              { name: t("Figure", "รายการ"), heads: true, cell: (row: any) => row.figure },
              { name: t("First", "แรก"), figure: true, cell: (row: any) => amount(row.first, reader()) },
              { name: t("Second", "ที่สอง"), figure: true, cell: (row: any) => amount(row.second, reader()) },
              { name: t("Difference", "ผลต่าง"), figure: true, cell: (row: any) => amount(row.difference, reader(), true) },
            ]}
          />
        </section>
      )}
    </Wait>
  );
}

function Divergence({ told }: { told: any }) {
  const side = (event: any) => (event ? `${event.eventType} · ${dateTime(event.timestamp, reader())} UTC` : t("no further event", "ไม่มีเหตุการณ์ต่อ"));
  const value = (given: unknown) => (given === null ? "–" : typeof given === "object" ? JSON.stringify(given) : String(given));
  return (
    <>
      <div class="amber">
        <b>{t(`${number(told.commonEvents, reader(), 0)} events agree, then they differ`, `ตรงกัน ${number(told.commonEvents, reader(), 0)} เหตุการณ์ จากนั้นต่างกัน`)}</b>
        <p>{told.explanation}</p>
        <p class="src">{t("First", "แรก")}: {side(told.first)} · {t("Second", "ที่สอง")}: {side(told.second)}</p>
      </div>
      {told.differences.length > 0 && <Pairs caption={t("What differs in the event", "สิ่งที่ต่างกันในเหตุการณ์")} rows={told.differences} write={value} />}
    </>
  );
}

function Pairs({ caption, rows, write = String }: { caption: string; rows: any[]; write?: (value: unknown) => string }) {
  const columns = [
    { name: t("Name", "ชื่อ"), heads: true, cell: (row: any) => row.name },
    { name: t("First", "แรก"), cell: (row: any) => write(row.first) },
    { name: t("Second", "ที่สอง"), cell: (row: any) => write(row.second) },
  ];
  return <Rows caption={caption} unseenCaption={false} rows={rows} columns={columns} />;
}
