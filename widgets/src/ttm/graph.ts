// Paths of the knowledge graph: nodes in columns by their distance from the start, lines between
// them, and the same as a table that says who stands behind each step.

import { Reply } from "../common/bridge";
import { h, s } from "../common/dom";
import { number } from "../common/format";
import { say, Text } from "../common/i18n";
import { Page, View } from "../common/page";
import { pager, table } from "../common/table";

const own = {
  title: { en: "From {label}", th: "เริ่มจาก {label}" },
  anything: { en: "Knowledge graph", th: "กราฟความรู้" },
  count: { en: "{paths} paths, {nodes} things", th: "{paths} เส้นทาง {nodes} รายการ" },
  graph: { en: "Graph of {paths} paths; the table below says the same", th: "กราฟ {paths} เส้นทาง ตารางด้านล่างแสดงข้อมูลเดียวกัน" },
  paths: { en: "Paths", th: "เส้นทาง" },
  path: { en: "Path", th: "เส้นทาง" },
  rests: { en: "Rests on", th: "หลักฐาน" },
  score: { en: "Score", th: "คะแนน" },
  verified: { en: "verified", th: "ตรวจสอบแล้ว" },
  unverified: { en: "not verified", th: "ยังไม่ตรวจสอบ" },
  inferred: { en: "inferred, no evidence", th: "อนุมาน ไม่มีหลักฐาน" },
  several: { en: "Which one is meant?", th: "หมายถึงรายการใด" },
  none: { en: "No path was found.", th: "ไม่พบเส้นทาง" },
  more: { en: "From path {from}", th: "ตั้งแต่เส้นทางที่ {from}" },
  left: { en: "The picture shows the first {shown}; the table has all.", th: "ภาพแสดง {shown} เส้นทางแรก ตารางมีทั้งหมด" },
  caution: {
    en: "Reference information, not medical advice: ask a physician, a pharmacist or a practitioner of Thai traditional medicine before use.",
    th: "ข้อมูลนี้ใช้เพื่ออ้างอิงเท่านั้น ไม่ใช่คำแนะนำทางการแพทย์ ควรปรึกษาแพทย์ เภสัชกร หรือแพทย์แผนไทยก่อนใช้",
  },
} satisfies Record<string, Text>;

const KINDS: Record<string, Text> = {
  herb: { en: "Herb", th: "สมุนไพร" },
  constituent: { en: "Constituent", th: "สารสำคัญ" },
  indication: { en: "Indication", th: "ข้อบ่งใช้" },
  formulation: { en: "Formulation", th: "ตำรับ" },
  paper: { en: "Paper", th: "งานวิจัย" },
  caution: { en: "Caution", th: "ข้อควรระวัง" },
  drug: { en: "Drug", th: "ยา" },
};

/** More lines than this are a tangle. */
const MOST_DRAWN = 40;

/** What a press on a node asks for: its surroundings, few enough to take in. */
const NEARBY = { max_depth: 2, filters: { limit: 24 } };

interface Thing {
  id: string;
  type: string;
  label: string;
  edge?: { relation?: string; direction?: string; verified?: boolean; inferred?: boolean; sources?: string[]; strength?: string };
}
type Path = Thing[];

export const graph: View = {
  draw(reply, page) {
    if (reply.data?.candidates?.length) return choose(reply, page);
    return reply.data?.paths?.length ? drawn(reply, page) : null;
  },
  empty: own.none,
  caution: own.caution,
  dated: false,
};

function drawn(reply: Reply, page: Page): (Node | null)[] {
  const paths: Path[] = reply.data.paths;
  const start: Thing = reply.data.start ?? paths[0]?.[0];
  const things = new Set(paths.flat().map((node) => node.id));
  return [
    h(
      "header",
      null,
      h("h1", { tabindex: -1 }, start ? say(page.t(own.title), { label: start.label }) : page.t(own.anything)),
      h("p", { class: "quiet" }, say(page.t(own.count), { paths: paths.length, nodes: things.size })),
    ),
    picture(paths.slice(0, MOST_DRAWN), page),
    paths.length > MOST_DRAWN ? h("p", { class: "quiet" }, say(page.t(own.left), { shown: MOST_DRAWN })) : null,
    pathTable(reply, page),
    turns(reply, page),
    reply.data.inference ? h("p", { class: "note" }, reply.data.inference) : null,
  ];
}

/** Columns of buttons, with the lines drawn under them once their places are known. */
function picture(paths: Path[], page: Page): HTMLElement {
  const depth = Math.max(...paths.map((path) => path.length));
  const columns: Map<string, { node: Thing; element: HTMLElement }>[] = Array.from({ length: depth }, () => new Map());
  for (const path of paths) {
    path.forEach((node, place) => {
      const column = columns[place]!;
      if (!column.has(node.id)) column.set(node.id, { node, element: box(node, page) });
    });
  }
  const lines = s("svg", { class: "links", "aria-hidden": "true" });
  const holder = h(
    "div",
    { class: "graph", style: `min-inline-size:${depth * 104}px` },
    lines as unknown as Node,
    columns.map((column) => h("ul", null, [...column.values()].map(({ element }) => h("li", null, element)))),
  );
  const draw = () => {
    const base = holder.getBoundingClientRect();
    lines.setAttribute("viewBox", `0 0 ${base.width} ${base.height}`);
    const seen = new Set<string>();
    lines.replaceChildren();
    for (const path of paths) {
      for (let place = 1; place < path.length; place += 1) {
        const [from, to] = [path[place - 1]!, path[place]!];
        const name = `${place} ${from.id} ${to.id}`;
        if (seen.has(name)) continue;
        seen.add(name);
        const a = columns[place - 1]!.get(from.id)!.element.getBoundingClientRect();
        const b = columns[place]!.get(to.id)!.element.getBoundingClientRect();
        const [x1, y1, x2, y2] = [a.right - base.left, a.top + a.height / 2 - base.top, b.left - base.left, b.top + b.height / 2 - base.top];
        const bend = (x2 - x1) / 2;
        lines.append(s("path", { d: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`, class: `link ${standing(to)}`, "data-ends": `|${from.id}|${to.id}|` }));
      }
    }
  };
  // The lines of the node under pointer or focus stand out.
  const light = (event: Event, on: boolean) => {
    const id = (event.target as HTMLElement).closest<HTMLElement>("[data-id]")?.dataset["id"];
    if (id) for (const line of lines.children) if (line.getAttribute("data-ends")?.includes(`|${id}|`)) line.classList.toggle("lit", on);
  };
  for (const [on, kinds] of [[true, ["pointerover", "focusin"]], [false, ["pointerout", "focusout"]]] as const) for (const kind of kinds) holder.addEventListener(kind, (event) => light(event, on));
  new ResizeObserver(draw).observe(holder);
  return h("div", null, h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": say(page.t(own.graph), { paths: paths.length }) }, holder), legend(paths, page));
}

/** What the lines mean, where a reply tells how its steps stand. */
function legend(paths: Path[], page: Page): HTMLElement | null {
  if (!paths.some((path) => path.some((node) => node.edge))) return null;
  const there = new Set(paths.flatMap((path) => path.slice(1).map(standing)));
  const kinds = (["verified", "unverified", "inferred"] as const).filter((kind) => there.has(kind));
  return h("p", { class: "legend" }, kinds.map((kind) => h("span", null, s("svg", { viewBox: "0 0 28 8", "aria-hidden": "true" }, s("path", { d: "M0 4H28", class: `link lit ${kind}` })) as unknown as Node, page.t(own[kind]))));
}

function box(node: Thing, page: Page): HTMLElement {
  const kind = KINDS[node.type] ? page.t(KINDS[node.type]!) : node.type;
  return h("button", { type: "button", class: `box ${KINDS[node.type] ? node.type : ""}`, "data-id": node.id, onclick: () => void page.open("query_kg", { start: { type: node.type, id: node.id }, ...NEARBY }) }, h("small", null, kind), node.label);
}

function standing(node: Thing): "verified" | "unverified" | "inferred" {
  if (node.edge?.inferred) return "inferred";
  return node.edge && node.edge.verified === false ? "unverified" : "verified";
}

/** The weakest step says how well a path stands. */
function weakest(path: Path): "verified" | "unverified" | "inferred" {
  const steps = path.slice(1).map(standing);
  return steps.includes("inferred") ? "inferred" : steps.includes("unverified") ? "unverified" : "verified";
}

function pathTable(reply: Reply, page: Page): HTMLElement {
  const paths: Path[] = reply.data.paths;
  const scores: number[] | undefined = reply.data.scores;
  const told = paths.some((path) => path.some((node) => node.edge));
  const rows = paths.map((path, place) => ({ path, score: scores?.[place] }));
  const relation = (node: Thing) => (node.edge?.relation ? ` ${node.edge.direction === "backward" ? "←" : "→"} ` : " → ");
  const columns = [
    { name: page.t(own.path), heads: true, cell: (row: (typeof rows)[number]) => h("span", { class: "path" }, row.path.map((node, place) => (place ? relation(node) : "") + node.label).join("")) },
    ...(told ? [{ name: page.t(own.rests), cell: (row: (typeof rows)[number]) => h("span", null, page.t(own[weakest(row.path)]), h("small", null, [...new Set(row.path.flatMap((node) => node.edge?.sources ?? []))].slice(0, 3).join(", "))) }] : []),
    ...(scores ? [{ name: page.t(own.score), figure: true, cell: (row: (typeof rows)[number]) => number(row.score, page.reader, 2) }] : []),
  ];
  return h("section", null, h("h2", null, page.t(own.paths)), table(page.t(own.paths), columns, rows, { unseenCaption: true }));
}

function turns(reply: Reply, page: Page): HTMLElement | null {
  const filters = (reply.input["filters"] ?? {}) as Record<string, unknown>;
  const offset = Number(filters["offset"] ?? 0);
  const { next_offset: next, start } = reply.data;
  const from = reply.input["start"] ?? (start && { type: start.type, id: start.id });
  if ((!next && !offset) || !from) return null;
  const go = (to: number) => () => void page.replace("query_kg", { ...reply.input, start: from, filters: { ...filters, offset: to } });
  const step = reply.data.paths.length;
  return pager(page, say(page.t(own.more), { from: offset + 1 }), offset > 0 ? go(Math.max(0, offset - step)) : null, next ? go(next) : null);
}

function choose(reply: Reply, page: Page): Node[] {
  const press = (node: Thing) => () => void page.replace("query_kg", { ...reply.input, start: { type: node.type, id: node.id } });
  return [
    h("header", null, h("h1", { tabindex: -1 }, page.t(own.several))),
    h("p", { class: "actions" }, reply.data.candidates.map((node: Thing) => h("button", { type: "button", onclick: press(node) }, node.label, " ", h("span", { class: "quiet" }, KINDS[node.type] ? page.t(KINDS[node.type]!) : node.type)))),
  ];
}
