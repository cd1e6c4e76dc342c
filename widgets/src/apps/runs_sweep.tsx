// A sweep: runs as a table that sorts, and as lines over one axis for each parameter and figure.

import { useEffect, useState } from "preact/hooks";
import type { Reply } from "../common/bridge";
import { h } from "../common/dom";
import { amount, number } from "../common/format";
import { ask } from "./client";
import { Choice, DraftInput, Empty, Field, Loading, Problem, Rows } from "./parts";
import { reader, t, useTab } from "./state";

/** Runs of one request, so that a reply stays within its limit, and of a picture. */
const PAGE = 50;
const MOST = 500;
/** Axes of a picture; more cannot be read. */
const MOST_AXES = 9;
const FIGURES = ["sharpe", "profit", "maxDrawdown", "trades", "winRate", "profitFactor", "commission", "volatility", "sortino", "calmar", "totalReturn"];
const SHOWN = 5;
/** Smaller is better. */
const COSTS = ["maxDrawdown", "commission", "volatility"];

interface Run {
  runId: string;
  strategyName?: string;
  parameters: Record<string, unknown>;
  figures: Record<string, number>;
}

interface Sweep {
  runs: Run[];
  total: number;
  withoutFigures: number;
  best: any;
}

interface Sort {
  name: string;
  descending: boolean;
}

export function SweepTable({ open }: { open: (runId: string) => void }) {
  const [query, setQuery] = useTab("runs.sweep", "");
  const [typed, setTyped] = useState(query);
  const [currency, setCurrency] = useTab("runs.currency", "");
  const [sort, setSort] = useState<Sort | null>(null);
  const { sweep, error, again } = useSweep(query, currency, sort);
  return (
    <>
      <form onSubmit={(event) => { event.preventDefault(); setSort(null); setQuery(typed.trim()); }}>
        <div class="fields">
          <Field label={t("Strategy, source or tag", "กลยุทธ์ แหล่งที่มา หรือแท็ก")}>{(id) => <input id={id} type="search" value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />}</Field>
          <Field label={t("Currency", "สกุลเงิน")} hint={t("For runs with several, such as USD", "สำหรับรายการที่มีหลายสกุล เช่น USD")}>{(id) => <DraftInput id={id} value={currency} maxLength={32} change={(typed) => { setSort(null); setCurrency(typed.trim()); }} />}</Field>
        </div>
        <p class="actions"><button type="submit">{t("Search", "ค้นหา")}</button></p>
      </form>
      {error ? <Problem error={error} again={again} /> : sweep ? <Found sweep={sweep} sort={sort} press={setSort} open={open} /> : <Loading />}
    </>
  );
}

/** All pages of the runs that match, up to what a picture can show. */
function useSweep(query: string, currency: string, sort: Sort | null) {
  const [state, set] = useState<{ sweep: Sweep | null; error: Error | null }>({ sweep: null, error: null });
  const [round, next] = useState(0);
  useEffect(() => {
    let stale = false;
    const input = { limit: PAGE, ...(query ? { query } : {}), ...(currency ? { currency } : {}), ...(sort ? { sortBy: sort.name, descending: sort.descending } : {}) };
    const load = async () => {
      const runs: Run[] = [];
      let reply: Reply;
      do {
        reply = await ask("query_runs", { ...input, offset: runs.length });
        runs.push(...reply.data.runs);
      } while (!stale && reply.data.metadata.hasMore && runs.length < MOST);
      const { totalCount, withoutFigures } = reply.data.metadata;
      return { runs, total: totalCount, withoutFigures, best: reply.data.best ?? null };
    };
    load().then(
      (sweep) => stale || set({ sweep, error: null }),
      (error) => stale || set({ sweep: null, error }),
    );
    return () => {
      stale = true;
    };
  }, [query, currency, sort?.name, sort?.descending, round]);
  return { ...state, again: () => next(round + 1) };
}

const figureName = (name: string): string =>
  ({
    sharpe: t("Sharpe ratio", "อัตราส่วนชาร์ป"), profit: t("Profit", "กำไร"), maxDrawdown: t("Max drawdown", "ลดลงมากที่สุด"), trades: t("Trades", "จำนวนซื้อขาย"),
    winRate: t("Win rate", "อัตราชนะ"), profitFactor: t("Profit factor", "ตัวคูณกำไร"), commission: t("Commission", "ค่าธรรมเนียม"), volatility: t("Volatility", "ความผันผวน"),
    sortino: t("Sortino ratio", "อัตราส่วนซอร์ติโน"), calmar: t("Calmar ratio", "อัตราส่วนคาลมาร์"), totalReturn: t("Total return", "ผลตอบแทนรวม"),
  })[name] ?? name;

function Found({ sweep, sort, press, open }: { sweep: Sweep; sort: Sort | null; press: (sort: Sort) => void; open: (runId: string) => void }) {
  const [colour, setColour] = useTab("runs.colour", "sharpe");
  const [marked, mark] = useState<string | null>(null);
  const { runs } = sweep;
  if (runs.length < 2) return <Empty title={t("A sweep needs at least two runs.", "ต้องมีอย่างน้อยสองรายการ")}><p>{t("Import runs with `parameters` in their run.json.", "นำเข้ารายการที่มี `parameters` ใน run.json")}</p></Empty>;
  const settings = [...new Set(runs.flatMap((run) => Object.keys(run.parameters)))].filter((name) => runs.some((run) => typeof run.parameters[name] !== "object"));
  const figures = FIGURES.filter((name) => runs.some((run) => name in run.figures));
  const by = figures.includes(colour) ? colour : figures[0];
  const shown = [...new Set([...figures.slice(0, SHOWN), ...(by ? [by] : [])])];
  const axes = [...settings.slice(0, MOST_AXES - shown.length).map((name) => axisOf(runs, name, name, (run) => run.parameters[name])), ...shown.map((name) => axisOf(runs, name, figureName(name), (run) => run.figures[name]))];
  return (
    <>
      <p role="status">{runs.length < sweep.total ? t(`${runs.length} of ${number(sweep.total, reader(), 0)} runs`, `${runs.length} จาก ${number(sweep.total, reader(), 0)} รายการ`) : t(`${runs.length} runs`, `${runs.length} รายการ`)}</p>
      {sweep.withoutFigures > 0 && <p class="grey">{t(`${sweep.withoutFigures} runs have no figures in one currency.`, `${sweep.withoutFigures} รายการไม่มีตัวเลขในสกุลเงินเดียว`)}</p>}
      {sweep.best && <Luck best={sweep.best} open={open} />}
      {by && <div class="fields"><Choice label={t("Colour by", "ระบายสีตาม")} value={by} options={figures.map((name) => [name, figureName(name)])} choose={setColour} /></div>}
      {axes.length > 1 && <Parallel runs={runs} axes={axes} by={by} marked={marked} mark={mark} open={open} />}
      <Table runs={runs} settings={settings} figures={figures} sort={sort} press={press} open={open} />
    </>
  );
}

/** The best of many runs looks better than it is. */
function Luck({ best, open }: { best: any; open: (runId: string) => void }) {
  const sharpe = number(best.sharpe, reader(), 2);
  const chance = best.deflatedSharpe;
  return (
    <div class={chance !== null && chance >= 0.95 ? "grey" : "amber"}>
      <b>{t(`Best Sharpe ratio of ${best.trials} trials: ${sharpe}`, `อัตราส่วนชาร์ปดีที่สุดจาก ${best.trials} ครั้ง: ${sharpe}`)}</b>{" "}
      <button type="button" class="plain" onClick={() => open(best.runId)}>{best.runId.slice(0, 8)}</button>
      <p>{chance === null || chance === undefined ? t("Too few returns to judge whether it is luck.", "ผลตอบแทนน้อยเกินไปที่จะตัดสินว่าเป็นเพราะโชคหรือไม่") : t(`Probability that it is better than chance: ${number(chance * 100, reader(), 0)}%.`, `ความน่าจะเป็นที่ดีกว่าความบังเอิญ: ${number(chance * 100, reader(), 0)}%`)}</p>
    </div>
  );
}

interface Axis {
  name: string;
  title: string;
  /** The place of a run between 0 (bottom) and 1, or nothing. */
  at(run: Run): number | null;
  ticks: { at: number; text: string }[];
}

function axisOf(runs: Run[], name: string, title: string, value: (run: Run) => unknown): Axis {
  const values = runs.map(value).filter((own) => own !== null && own !== undefined && typeof own !== "object");
  if (values.every((own) => typeof own === "number")) {
    const [low, high] = [Math.min(...(values as number[])), Math.max(...(values as number[]))];
    const share = (own: number) => (high === low ? 0.5 : (own - low) / (high - low));
    const ticks = [...new Set([low, high])].map((own) => ({ at: share(own), text: amount(Number(own.toPrecision(4)), reader()) }));
    return { name, title, ticks, at: (run) => (typeof value(run) === "number" ? share(value(run) as number) : null) };
  }
  const names = [...new Set(values.map(String))].sort();
  const share = (own: string) => (names.length < 2 ? 0.5 : names.indexOf(own) / (names.length - 1));
  // Too many names would lie on each other.
  const ticks = names.filter((_, place) => names.length <= 8 || place === 0 || place === names.length - 1).map((own) => ({ at: share(own), text: own.slice(0, 14) }));
  return { name, title, ticks, at: (run) => (names.includes(String(value(run))) ? share(String(value(run))) : null) };
}

const [TOP, BOTTOM, SIDE, GAP, HEIGHT] = [58, 30, 64, 112, 330];

/** A line for each run, over an axis for each parameter and figure. */
function Parallel({ runs, axes, by, marked, mark, open }: { runs: Run[]; axes: Axis[]; by: string | undefined; marked: string | null; mark: (runId: string | null) => void; open: (runId: string) => void }) {
  const width = 2 * SIDE + GAP * (axes.length - 1);
  const x = (place: number) => SIDE + GAP * place;
  const y = (share: number) => TOP + (1 - share) * (HEIGHT - TOP - BOTTOM);
  const colour = axes.find((axis) => axis.name === by);
  const good = (run: Run) => {
    const share = colour?.at(run) ?? 0;
    return COSTS.includes(by ?? "") ? 1 - share : share;
  };
  // What is good lies above what is not.
  const drawn = [...runs].sort((a, b) => Number(a.runId === marked) - Number(b.runId === marked) || good(a) - good(b));
  const path = (run: Run) => {
    const points = axes.map((axis, place) => [place, axis.at(run)] as const).filter(([, share]) => share !== null);
    return `M${points.map(([place, share]) => `${x(place)} ${y(share as number).toFixed(1)}`).join("L")}`;
  };
  const label = t(`Parallel coordinates of ${runs.length} runs: ${axes.map((axis) => axis.title).join(", ")}. The table below has the same figures.`, `แผนภาพพิกัดขนานของ ${runs.length} รายการ: ${axes.map((axis) => axis.title).join(", ")} ตารางด้านล่างมีตัวเลขเดียวกัน`);
  return (
    <div class="scroll parallel" tabIndex={0} role="region" aria-label={t("Parallel coordinates", "แผนภาพพิกัดขนาน")}>
      <svg viewBox={`0 0 ${width} ${HEIGHT}`} width={width} height={HEIGHT} role="img" aria-label={label} onMouseLeave={() => mark(null)}>
        {drawn.map((run) => (
          <path key={run.runId} d={path(run)} class={run.runId === marked ? "run marked" : "run"} style={`stroke: color-mix(in oklab, var(--accent) ${Math.round(good(run) * 100)}%, var(--amber))`} onMouseEnter={() => mark(run.runId)} onClick={() => open(run.runId)}>
            <title>{run.runId.slice(0, 8)}</title>
          </path>
        ))}
        {axes.map((axis, place) => (
          <g key={axis.name}>
            <line x1={x(place)} x2={x(place)} y1={TOP} y2={HEIGHT - BOTTOM} class="axis" />
            <text x={x(place)} y={place % 2 ? 16 : 32} text-anchor="middle" class="title">{axis.title.slice(0, 22)}</text>
            {axis.ticks.map((tick) => <text key={tick.text} x={x(place)} y={tick.at === 0 ? HEIGHT - BOTTOM + 18 : tick.at === 1 ? TOP - 8 : y(tick.at) + 4} text-anchor="middle" class="tick">{tick.text}</text>)}
          </g>
        ))}
      </svg>
      <p class="quiet">{marked ? said(runs.find((run) => run.runId === marked), axes) : t("Press a line to open its run.", "กดเส้นเพื่อเปิดรายการ")}</p>
    </div>
  );
}

/** A run in words: its parameters, and the figures of the axes. */
function said(run: Run | undefined, axes: Axis[]): string {
  if (!run) return "";
  const value = (axis: Axis) => run.parameters[axis.name] ?? run.figures[axis.name];
  const written = axes.filter((axis) => value(axis) !== undefined).map((axis) => `${axis.title} ${typeof value(axis) === "number" ? amount(Number((value(axis) as number).toPrecision(4)), reader()) : value(axis)}`);
  return `${run.runId.slice(0, 8)}: ${written.join(" · ")}`;
}

function Table({ runs, settings, figures, sort, press, open }: { runs: Run[]; settings: string[]; figures: string[]; sort: Sort | null; press: (sort: Sort) => void; open: (runId: string) => void }) {
  const sorted = (name: string) => ({
    now: sort?.name === name ? (sort.descending ? ("desc" as const) : ("asc" as const)) : null,
    press: () => press({ name, descending: sort?.name === name ? !sort.descending : true }),
  });
  const figure = (value: unknown) => (typeof value === "number" ? amount(Number(value.toPrecision(6)), reader()) : value === undefined || value === null ? "–" : typeof value === "object" ? JSON.stringify(value) : String(value));
  return (
    <Rows
      caption={t("Runs of the sweep", "รายการในชุด")}
      unseenCaption={false}
      rows={runs}
      columns={[
        { name: t("Run", "รายการ"), heads: true, cell: (run: Run) => h("button", { type: "button", class: "plain", "aria-label": t(`Open run ${run.runId.slice(0, 8)}`, `เปิดรายการ ${run.runId.slice(0, 8)}`), onclick: () => open(run.runId) }, run.runId.slice(0, 8)) },
        ...settings.map((name) => ({ name, figure: runs.every((run) => typeof run.parameters[name] !== "string"), sort: sorted(name), cell: (run: Run) => figure(run.parameters[name]) })),
        ...figures.map((name) => ({ name: figureName(name), figure: true, sort: sorted(name), cell: (run: Run) => figure(run.figures[name]) })),
      ]}
    />
  );
}
