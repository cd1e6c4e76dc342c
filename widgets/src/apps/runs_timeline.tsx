// A run on one time axis: equity, drawdown, trades, orders and indicators. An event that is chosen,
// with the pointer or with keys, is shown with its chain and its context.

import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { context } from "../backtest/run";
import { amount, dateTime, dayAndMonth, number, short } from "../common/format";
import { Chain } from "./runs_chain";
import { Choice, Problem, Shown, useTool, Wait } from "./parts";
import { reader, t } from "./state";

/** Most events of a kind that are drawn; the page says when there are more. */
const MOST = 1_000;
const POINTS = 400;
const LEFT = 62;
const RIGHT = 12;

/** Something that happened to an order. */
interface Mark {
  event: string;
  time: number;
  at: string;
  kind: "placed" | "ended" | "filled" | "rejected";
  symbol: string;
  side: string;
  told: string;
}

interface Line {
  name: string;
  /** A value as the reply has it. */
  points: { time: number; value: number }[];
}

export function Timeline({ runId }: { runId: string }): JSX.Element {
  const about = useTool("describe_run", { runId });
  return <Wait asked={about}>{({ data }) => <Loaded run={data} />}</Wait>;
}

function Loaded({ run }: { run: any }): JSX.Element {
  const runId: string = run.runId;
  const symbols: string[] = run.symbols ?? [];
  const [symbol, setSymbol] = useState("");
  const [chosen, choose] = useState<string | null>(null);
  const one = symbol ? `SecuritySymbol = '${symbol.replace(/'/g, "''")}'` : "";
  const where = (...parts: string[]) => parts.filter(Boolean).join(" and ");
  const events = (eventType: string, filter: string, fields: string[]) => ({ runId, eventType, ...(filter ? { where: filter } : {}), top: MOST, order: "time", fields, maxTokens: 200_000 });
  const performance = useTool("get_performance", { runId, equityPoints: POINTS, drawdowns: 0 });
  const trades = useTool("list_trades", { runId, pageSize: MOST, maxTokens: 200_000, ...(symbol ? { securitySymbol: symbol } : {}) });
  const fills = useTool("query_events", events("TradeExecution", one, ["SecuritySymbol", "Direction", "Quantity", "Price"]));
  const orders = useTool("query_events", events("StateChange", where("StateType = 'Order'", one), ["SecuritySymbol", "Direction", "Quantity", "Price", "OrderStatus"]));
  const refused = useTool("query_events", events("OrderRejection", one, ["SecuritySymbol", "RequestedQuantity", "RejectionReason"]));
  const indicators = useIndicators(run, symbol);
  const marks = marksOf([
    ["filled", fills.reply?.data?.events],
    ["placed", orders.reply?.data?.events],
    ["rejected", refused.reply?.data?.events],
  ]);
  const cut = [fills, orders, refused].some((asked) => (asked.reply?.data?.metadata?.matchedEvents ?? 0) > (asked.reply?.data?.events?.length ?? 0));
  const busy = [performance, trades, fills, orders, refused].some((asked) => asked.busy);
  return (
    <section aria-label={t("Time axis", "แกนเวลา")} aria-busy={busy}>
      <h2>{t("On one time axis", "บนแกนเวลาเดียวกัน")}</h2>
      <div class="fields">
        <Choice label={t("Security", "หลักทรัพย์")} value={symbol} options={[["", t("All (indicators need one)", "ทั้งหมด (เลือกเพื่อดูตัวชี้วัด)")], ...symbols.map((each): [string, string] => [each, each])]} choose={setSymbol} />
      </div>
      {performance.error && <Problem error={performance.error} />}
      <Picture from={Date.parse(run.first)} to={Date.parse(run.last)} equity={performance.reply?.data?.equity ?? []} trades={trades.reply?.data?.trades ?? []} marks={marks} lines={indicators} chosen={chosen} choose={choose} />
      {cut && <p class="quiet">{t(`Only the first ${number(MOST, reader(), 0)} events of a kind are drawn; choose a security to see fewer.`, `แสดงเพียง ${number(MOST, reader(), 0)} เหตุการณ์แรกของแต่ละชนิด เลือกหลักทรัพย์เพื่อจำกัดจำนวน`)}</p>}
      {chosen && (
        <section class="event" aria-label={t("Chosen event", "เหตุการณ์ที่เลือก")}>
          <Chain runId={runId} eventId={chosen} choose={choose} />
          <Shown views={{ get_context: context }} tool="get_context" input={{ runId, eventId: chosen, before: 6, after: 6 }} />
        </section>
      )}
    </section>
  );
}

/** Values of the first three indicators of a security. */
function useIndicators(run: any, symbol: string): Line[] {
  const names: string[] = (run.indicators ?? []).slice(0, 3);
  const input = (name: string | undefined) =>
    name && symbol
      ? { runId: run.runId, eventType: "IndicatorCalculation", where: `IndicatorName = '${name.replace(/'/g, "''")}' and SecuritySymbol = '${symbol.replace(/'/g, "''")}'`, top: MOST, order: "time", fields: ["Value"], maxTokens: 200_000 }
      : null;
  const replies = [useTool("query_events", input(names[0])), useTool("query_events", input(names[1])), useTool("query_events", input(names[2]))];
  return names.flatMap((name, place) => {
    const points = (replies[place]?.reply?.data?.events ?? []).filter((event: any) => typeof event.properties?.Value === "number").map((event: any) => ({ time: Date.parse(event.timestamp), value: event.properties.Value }));
    return points.length > 1 ? [{ name, points }] : [];
  });
}

function marksOf(kinds: [Mark["kind"], any[] | undefined][]): Mark[] {
  const marks = kinds.flatMap(([kind, events]) =>
    (events ?? []).map((event): Mark => {
      const { SecuritySymbol, Direction, Quantity, Price, RequestedQuantity, RejectionReason, OrderStatus } = event.properties ?? {};
      const size = Quantity ?? RequestedQuantity;
      return {
        event: event.event ?? event.eventId,
        time: Date.parse(event.timestamp),
        at: event.timestamp,
        kind: kind === "placed" && OrderStatus !== "Placed" ? "ended" : kind,
        symbol: String(SecuritySymbol ?? ""),
        side: String(Direction ?? ""),
        told: [kind === "placed" ? OrderStatus : "", Direction, size === undefined ? "" : amount(size, reader()), Price === undefined || Price === null ? "" : `@ ${amount(Price, reader())}`, RejectionReason].filter(Boolean).join(" "),
      };
    }),
  );
  return marks.sort((one, other) => one.time - other.time);
}

const kindName = (kind: Mark["kind"]): string => ({ placed: t("Order placed", "ส่งคำสั่ง"), ended: t("Order ended", "คำสั่งสิ้นสุด"), filled: t("Fill", "จับคู่แล้ว"), rejected: t("Order rejected", "คำสั่งถูกปฏิเสธ") })[kind];

interface PictureProps {
  from: number;
  to: number;
  equity: any[];
  trades: any[];
  marks: Mark[];
  lines: Line[];
  chosen: string | null;
  choose: (event: string) => void;
}

function Picture({ from, to, equity, trades, marks, lines, chosen, choose }: PictureProps): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [cursor, setCursor] = useState(0);
  const [[start, end], setSpan] = useState<[number, number]>([from, to]);
  useEffect(() => {
    const watch = new ResizeObserver(() => setWidth(Math.floor(place.current?.clientWidth ?? 0)));
    if (place.current) watch.observe(place.current);
    return () => watch.disconnect();
  }, []);
  const shown = marks.filter((mark) => mark.time >= start && mark.time <= end);
  const at = Math.min(cursor, Math.max(shown.length - 1, 0));
  const mark = shown[at];
  const x = (time: number) => LEFT + ((time - start) / Math.max(end - start, 1)) * (width - LEFT - RIGHT);
  const zoom = (times: number, shift = 0) => {
    const middle = (times < 1 && mark ? mark.time : (start + end) / 2) + shift * (end - start);
    const half = Math.min(((end - start) / 2) * times, (to - from) / 2);
    const left = Math.min(Math.max(middle - half, from), to - 2 * half);
    setSpan([left, left + 2 * half]);
    setCursor(0);
  };
  const money = (value: number) => number(value, reader(), 2, true);
  const curve = equity.map((point) => ({ time: Date.parse(point.time), value: point.value as number }));
  const falls = equity.map((point) => ({ time: Date.parse(point.time), value: point.drawdown as number }));
  const lanes: Lane[] = [
    { name: t("Profit", "กำไร"), height: 120, lines: [{ name: "", points: curve }], fill: true },
    { name: t("Drawdown", "ลดลงจากจุดสูงสุด"), height: 70, lines: [{ name: "", points: falls }], fill: true, index: 1 },
    { name: t("Trades", "การซื้อขาย"), height: 46, draw: (top) => tradeBars(trades, top, x, start, end, choose) },
    { name: t("Orders", "คำสั่ง"), height: 46, draw: (top) => shown.map((one) => <MarkShape key={one.event + one.kind} mark={one} x={x(one.time)} top={top} chosen={one.event === chosen} choose={choose} />) },
    ...lines.map((line, index) => ({ name: line.name, height: 64, lines: [line], index: index + 2 })),
  ];
  let bottom = 4;
  const placed = lanes.map((lane) => {
    const top = bottom;
    bottom += lane.height + 16;
    return { lane, top };
  });
  const height = bottom + 18;
  const before = (points: { time: number; value: number }[]) => points.filter((point) => mark && point.time <= mark.time).at(-1)?.value;
  const [profitThen, fallThen] = [before(curve), before(falls)];
  const told = mark ? `${dateTime(mark.at, reader())} UTC · ${kindName(mark.kind)} · ${mark.symbol} ${mark.told}` : t("No order in this span", "ไม่มีคำสั่งในช่วงนี้");
  const whole = start === from && end === to;
  return (
    <figure class="chart timeline">
      <figcaption>
        <span>{dateTime(new Date(start).toISOString(), reader())} – {dateTime(new Date(end).toISOString(), reader())} UTC</span>
        <span class="actions">
          <button type="button" onClick={() => zoom(0.5)}>{t("Zoom in", "ขยาย")}</button>
          <button type="button" disabled={whole} onClick={() => zoom(2)}>{t("Zoom out", "ย่อ")}</button>
          <button type="button" disabled={start <= from} onClick={() => zoom(1, -0.5)} aria-label={t("Earlier", "ก่อนหน้า")}>‹</button>
          <button type="button" disabled={end >= to} onClick={() => zoom(1, 0.5)} aria-label={t("Later", "ถัดไป")}>›</button>
        </span>
      </figcaption>
      <div ref={place}>
        {width > 0 && (
          <svg viewBox={`0 0 ${width} ${height}`} width={width} height={height} role="group" aria-label={t("Profit, drawdown, trades, orders and indicators over time", "กำไร การลดลง การซื้อขาย คำสั่ง และตัวชี้วัดตามเวลา")}>
            <clipPath id="span"><rect x={LEFT - 6} y={0} width={Math.max(width - LEFT - RIGHT + 12, 0)} height={height} /></clipPath>
            {placed.map(({ lane, top }) => <LaneShape key={lane.name} lane={lane} top={top} width={width} x={x} start={start} end={end} />)}
            {mark && <line class="cursor-line" x1={x(mark.time)} x2={x(mark.time)} y1={4} y2={bottom - 8} />}
            {[0, 0.25, 0.5, 0.75, 1].filter((_, index) => width > 560 || index % 2 === 0).map((share) => <text key={share} x={LEFT + share * (width - LEFT - RIGHT)} y={height - 6} text-anchor={share === 0 ? "start" : share === 1 ? "end" : "middle"}>{dayAndMonth(new Date(start + share * (end - start)).toISOString(), reader())}</text>)}
          </svg>
        )}
      </div>
      <p class="readout" aria-live="polite"><span>{told}</span>{profitThen !== undefined && <b>{t("Profit", "กำไร")} {money(profitThen)}</b>}{fallThen !== undefined && <b>{t("Drawdown", "ลดลงจากจุดสูงสุด")} {money(fallThen)}</b>}</p>
      <div class="walk">
        <input type="range" min={0} max={Math.max(shown.length - 1, 0)} step={1} value={at} disabled={!shown.length} aria-label={t("Walk through the orders", "เลื่อนดูคำสั่งทีละรายการ")} aria-valuetext={told} onInput={(event) => setCursor(Number(event.currentTarget.value))} />
        <button type="button" class="strong" disabled={!mark} onClick={() => mark && choose(mark.event)}>{t("Show chain and context", "แสดงลำดับเหตุการณ์และบริบท")}</button>
      </div>
      <p class="quiet legend">{t("▲ bought ▼ sold ○ placed × rejected | ended · bars: trades, blue won, orange lost", "▲ ซื้อ ▼ ขาย ○ ส่งคำสั่ง × ถูกปฏิเสธ | สิ้นสุด · แถบ: การซื้อขาย น้ำเงินกำไร ส้มขาดทุน")}</p>
    </figure>
  );
}

interface Lane {
  name: string;
  height: number;
  lines?: Line[];
  fill?: boolean;
  index?: number;
  draw?: (top: number) => JSX.Element[];
}

function LaneShape({ lane, top, width, x, start, end }: { lane: Lane; top: number; width: number; x: (time: number) => number; start: number; end: number }): JSX.Element {
  const points = (lane.lines ?? []).flatMap((line) => line.points);
  // The line goes on to the edge: one point before and one behind the span are drawn, too.
  const inside = points.filter((point, place) => (points[place + 1]?.time ?? point.time) >= start && (points[place - 1]?.time ?? point.time) <= end);
  const values = inside.map((point) => point.value);
  const [low, high] = values.length ? [Math.min(...values, lane.fill ? 0 : Infinity), Math.max(...values, lane.fill ? 0 : -Infinity)] : [0, 1];
  const y = (value: number) => top + 14 + (high === low ? lane.height / 2 : ((high - value) / (high - low)) * (lane.height - 16));
  const path = inside.map((point) => `${x(point.time).toFixed(1)} ${y(point.value).toFixed(1)}`).join("L");
  const colour = `line-${lane.index ?? 0}`;
  const first = inside[0];
  const last = inside.at(-1);
  return (
    <g>
      <text class="lane" x={LEFT} y={top + 9}>{lane.name}</text>
      <line class="grid" x1={LEFT} x2={width - RIGHT} y1={top + lane.height + 2} y2={top + lane.height + 2} />
      {values.length > 0 && <text x={LEFT - 6} y={y(high) + 4} text-anchor="end">{scaleText(high)}</text>}
      {values.length > 0 && high !== low && <text x={LEFT - 6} y={y(low) + 4} text-anchor="end">{scaleText(low)}</text>}
      <g clip-path="url(#span)">
        {lane.fill && first && last && <path class={`area ${colour}`} d={`M${x(first.time).toFixed(1)} ${y(0).toFixed(1)}L${path}L${x(last.time).toFixed(1)} ${y(0).toFixed(1)}Z`} />}
        {path && <path class={`line ${colour}`} d={`M${path}`} />}
        {lane.draw?.(top + 12)}
      </g>
    </g>
  );
}

/** Large figures in short, small ones with four digits. */
const scaleText = (value: number): string => (value !== 0 && Math.abs(value) < 10 ? number(value, reader(), 4) : short(value, reader()));

/** A bar from entry to exit, in rows so that trades that overlap stay apart. */
function tradeBars(trades: any[], top: number, x: (time: number) => number, start: number, end: number, choose: (event: string) => void): JSX.Element[] {
  const rows: number[] = [];
  return trades.flatMap((trade) => {
    const [opened, closed] = [Date.parse(trade.opened), trade.closed ? Date.parse(trade.closed) : end];
    if (closed < start || opened > end) return [];
    let row = rows.findIndex((free) => free <= opened);
    if (row < 0) row = Math.min(rows.length, 4);
    rows[row] = closed;
    const said = `${trade.securitySymbol} · ${t(`trade ${trade.number}`, `การซื้อขายที่ ${trade.number}`)} · ${amount(trade.profit, reader(), true)}`;
    return [
      <g key={trade.number} class={`trade ${trade.profit < 0 ? "lost" : "won"}`} onClick={() => choose(trade.fills[0])}>
        <title>{said}</title>
        <rect x={x(opened)} y={top + row * 6} width={Math.max(x(closed) - x(opened), 2)} height={4.5} rx={1.5} />
      </g>,
    ];
  });
}

function MarkShape({ mark, x, top, chosen, choose }: { mark: Mark; x: number; top: number; chosen: boolean; choose: (event: string) => void }): JSX.Element {
  const rows: Record<Mark["kind"], number> = { filled: 4, placed: 14, ended: 22, rejected: 30 };
  const y = top + rows[mark.kind];
  const up = mark.side === "Buy";
  return (
    <g class={`mark ${mark.kind}${chosen ? " chosen" : ""}`} onClick={() => choose(mark.event)}>
      <title>{`${dateTime(mark.at, reader())} UTC · ${kindName(mark.kind)} · ${mark.symbol} ${mark.told}`}</title>
      <rect class="hit" x={x - 5} y={y - 5} width={10} height={10} />
      {mark.kind === "filled" && <path d={up ? `M${x} ${y - 4}l4 7h-8z` : `M${x} ${y + 4}l4 -7h-8z`} />}
      {mark.kind === "placed" && <circle cx={x} cy={y} r={2.6} />}
      {mark.kind === "ended" && <path d={`M${x} ${y - 3}v6`} />}
      {mark.kind === "rejected" && <path d={`M${x - 3} ${y - 3}l6 6m0 -6l-6 6`} />}
    </g>
  );
}
