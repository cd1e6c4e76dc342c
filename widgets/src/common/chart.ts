// Lines and bars in SVG, drawn at the width there is. A chart is a picture with a description, a
// slider that walks through its points with keys or pointer, and the same figures as a table.

import { h, s } from "./dom";
import { words } from "./i18n";
import type { Page } from "./page";
import { table } from "./table";

export interface Point {
  /** Where it is along the axis: a date or a name, as written there. */
  at: string;
  /** The same in full. */
  label: string;
  value: number;
  /** Where it stands in time, when points are not evenly apart. */
  when?: number;
}

export interface Series {
  name: string;
  points: Point[];
}

export interface ChartOptions {
  title: string;
  /** What the picture shows, in a sentence. */
  description: string;
  /** A value in full. */
  write(value: number): string;
  /** A value on the axis. */
  axis(value: number): string;
  height?: number;
  kind?: "line" | "bars" | "below";
  /** Heading of the first column of the table. */
  along: string;
  /** Shades how far the line is below its highest point so far, and says so in these words. */
  falls?: string;
}

const LEFT = 58;
const RIGHT = 14;
const TOP = 12;
const BOTTOM = 26;

export function chart(page: Page, series: Series[], options: ChartOptions): HTMLElement {
  const height = options.height ?? 220;
  const first = series[0]?.points ?? [];
  const values = series.flatMap((line) => line.points.map((point) => point.value));
  const scale = scaleOf(values, options.kind ?? "line");
  const along = sharesOf(first);
  const holder = h("div", { class: "plot" });
  const readout = h("p", { class: "readout", "aria-hidden": "true" });
  const slider = h("input", { type: "range", min: 0, max: Math.max(first.length - 1, 0), step: 1, "aria-label": `${options.title}: ${page.t(words.point)}` });
  slider.value = String(first.length - 1);
  let width = 0;
  let cursor: SVGElement | null = null;

  const x = (place: number) => {
    const room = width - LEFT - RIGHT;
    if (options.kind === "bars") return LEFT + (room * (place + 0.5)) / Math.max(first.length, 1);
    return LEFT + (first.length < 2 ? room / 2 : room * (along[place] as number));
  };
  const y = (value: number) => TOP + ((scale.high - value) / (scale.high - scale.low)) * (height - TOP - BOTTOM);

  function draw(): void {
    const svg = s("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": `${options.title}. ${options.description}` });
    for (const tick of scale.ticks) {
      svg.append(
        s("line", { x1: LEFT, x2: width - RIGHT, y1: y(tick), y2: y(tick), class: tick === 0 ? "zero" : "grid" }),
        s("text", { x: LEFT - 8, y: y(tick) + 4, "text-anchor": "end" }, options.axis(tick)),
      );
    }
    for (const place of placesOf(along, width)) {
      const anchor = options.kind === "bars" ? "middle" : place === 0 ? "start" : place === first.length - 1 ? "end" : "middle";
      svg.append(s("text", { x: x(place), y: height - 8, "text-anchor": anchor }, first[place]?.at ?? ""));
    }
    series.forEach((line, index) => svg.append(...(options.kind === "bars" ? bars(line) : path(line, index))));
    cursor = s("g", { class: "cursor" });
    svg.append(cursor);
    holder.replaceChildren(svg, slider);
    point();
  }

  function bars(line: Series): SVGElement[] {
    const wide = Math.max(1, ((width - LEFT - RIGHT) / Math.max(line.points.length, 1)) * 0.72);
    return line.points.map((at, place) => {
      const top = Math.min(y(at.value), y(0));
      return s("rect", { x: x(place) - wide / 2, y: top, width: wide, height: Math.max(Math.abs(y(at.value) - y(0)), at.value === 0 ? 0 : 1), rx: Math.min(2, wide / 3), class: "bar" });
    });
  }

  function path(line: Series, index: number): SVGElement[] {
    const at = line.points.map((value, place) => `${x(place).toFixed(1)} ${y(value.value).toFixed(1)}`);
    if (!at.length) return [];
    const drawn: SVGElement[] = [];
    // What goes above and below zero is filled from there.
    const base = y(Math.min(Math.max(0, scale.low), scale.high)).toFixed(1);
    if (series.length === 1) drawn.push(s("path", { d: `M${x(0).toFixed(1)} ${base}L${at.join("L")}L${x(at.length - 1).toFixed(1)} ${base}Z`, class: `area line-${index}` }));
    if (options.falls) {
      let peak = -Infinity;
      const peaks = line.points.map((value, place) => `${x(place).toFixed(1)} ${y((peak = Math.max(peak, value.value))).toFixed(1)}`);
      drawn.push(s("path", { d: `M${at.join("L")}L${peaks.reverse().join("L")}Z`, class: "fall" }));
    }
    drawn.push(s("path", { d: `M${at.join("L")}`, class: `line line-${index}` }));
    return drawn;
  }

  /** Marks the point the slider stands on and says its value. */
  function point(): void {
    const place = Number(slider.value);
    const label = first[place]?.label ?? "";
    const said = series.map((line) => (series.length > 1 ? `${line.name} ` : "") + (line.points[place] ? options.write(line.points[place].value) : words.missing[page.reader.lang]));
    slider.setAttribute("aria-valuetext", `${label}: ${said.join(", ")}`);
    readout.replaceChildren(h("span", null, label), ...said.map((text, index) => h("b", series.length > 1 ? { class: `key line-${index}` } : null, text)));
    const marks = series.filter((line) => line.points[place]).map((line, index) => s("circle", { cx: x(place), cy: y(line.points[place]!.value), r: 4, class: `line-${index}` }));
    cursor?.replaceChildren(s("line", { x1: x(place), x2: x(place), y1: TOP, y2: height - BOTTOM }), ...marks);
  }

  slider.addEventListener("input", point);
  holder.addEventListener("pointermove", (event) => {
    const at = event.clientX - holder.getBoundingClientRect().left;
    const away = first.map((_, place) => Math.abs(x(place) - at));
    slider.value = String(away.indexOf(Math.min(...away)));
    point();
  });
  new ResizeObserver(() => {
    const wide = Math.floor(holder.clientWidth);
    if (wide === width || wide === 0) return;
    width = wide;
    draw();
  }).observe(holder);

  const rows = first.map((at, place) => ({ at, values: series.map((line) => line.points[place]) }));
  const columns = [
    { name: options.along, heads: true, cell: (row: (typeof rows)[number]) => row.at.label },
    ...series.map((line, index) => ({
      name: line.name,
      figure: true,
      cell: (row: (typeof rows)[number]) => (row.values[index] ? options.write(row.values[index].value) : "–"),
    })),
  ];
  const details = h("details", null, h("summary", null, page.t(words.asTable)));
  // Made when asked for: a year of days is a long table.
  details.addEventListener("toggle", () => {
    if (details.open && details.childElementCount === 1) details.append(table(options.title, columns, rows, { unseenCaption: true }));
  });
  return h("figure", { class: "chart" }, h("figcaption", null, h("span", null, options.title), readout), holder, options.falls ? h("p", { class: "hint" }, options.falls) : null, details);
}

/** A small line without axes. The figure beside it says the same in words. */
export function sparkline(values: number[], label: string): SVGElement {
  const low = Math.min(...values);
  const spread = Math.max(...values) - low || 1;
  const at = values.map((value, place) => `${((place / Math.max(values.length - 1, 1)) * 116 + 2).toFixed(1)} ${(34 - ((value - low) / spread) * 30).toFixed(1)}`);
  const [cx, cy] = (at.at(-1) ?? "0 0").split(" ") as [string, string];
  return s("svg", { viewBox: "0 0 120 38", class: "spark", role: "img", "aria-label": label }, s("path", { d: `M${at.join("L")}`, class: "line line-0" }), s("circle", { cx, cy, r: 2.5, class: "line-0" }));
}

function scaleOf(values: number[], kind: "line" | "bars" | "below"): { low: number; high: number; ticks: number[] } {
  let low = Math.min(...values);
  let high = Math.max(...values);
  if (!Number.isFinite(low)) [low, high] = [0, 1];
  if (kind !== "line") [low, high] = [Math.min(low, 0), Math.max(high, 0)];
  // A series that never moves stands in the middle.
  if (low === high) kind === "line" ? ([low, high] = [low - Math.abs(low) * 0.01 - 0.0001, high + Math.abs(high) * 0.01 + 0.0001]) : (high = low + 1);
  const rough = (high - low) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((times) => times * power).find((size) => size >= rough) ?? rough;
  const start = Math.floor(low / step);
  const end = Math.ceil(high / step);
  const ticks = Array.from({ length: end - start + 1 }, (_, place) => Number(((start + place) * step).toPrecision(12)));
  return { low: ticks[0] as number, high: ticks.at(-1) as number, ticks };
}

/** Where each point stands between the first (0) and the last (1). */
function sharesOf(points: Point[]): number[] {
  const [start, end] = [points[0]?.when, points.at(-1)?.when];
  if (start === undefined || end === undefined || start >= end) return points.map((_, place) => place / Math.max(points.length - 1, 1));
  return points.map((point) => ((point.when ?? start) - start) / (end - start));
}

/** Which points get a label, so that none runs into the next. */
function placesOf(along: number[], width: number): number[] {
  const room = Math.max(2, Math.floor((width - LEFT - RIGHT) / 84));
  const shown = Math.min(along.length, room);
  if (shown < 2) return along.length ? [0] : [];
  const nearest = (share: number) => along.reduce((best, at, place) => (Math.abs(at - share) < Math.abs((along[best] as number) - share) ? place : best), 0);
  const places = Array.from({ length: shown }, (_, step) => nearest(step / (shown - 1)));
  const apart = 78 / Math.max(width - LEFT - RIGHT, 1);
  const last = along.length - 1;
  return places.filter((place, step) => step === 0 || place === last || ((along[place] as number) - (along[places[step - 1] as number] as number) >= apart && 1 - (along[place] as number) >= apart));
}
