// Real tables: a caption, headings with a scope, numbers in line, columns that sort by a call.

import { h } from "./dom";
import { words } from "./i18n";
import type { Page } from "./page";

export interface Column<Row> {
  /** The heading. */
  name: string;
  cell(row: Row): Node | string;
  /** Figures stand to the right. */
  figure?: boolean;
  /** The row's own heading. */
  heads?: boolean;
  /** How it is sorted now, and what a press does. */
  sort?: { now: "asc" | "desc" | null; press(): void };
  /** Left out on narrow screens. */
  wide?: boolean;
}

export function table<Row>(caption: string, columns: Column<Row>[], rows: Row[], options: { unseenCaption?: boolean } = {}): HTMLElement {
  const classOf = (column: Column<Row>) => [column.figure && "figure", column.wide && "wide"].filter(Boolean).join(" ") || null;
  const heading = (column: Column<Row>) => {
    const { sort } = column;
    const aria = sort?.now ? (sort.now === "asc" ? "ascending" : "descending") : null;
    const arrow = sort?.now === "asc" ? "▲" : sort?.now === "desc" ? "▼" : "";
    const content = sort
      ? h("button", { type: "button", class: "sort", "data-focus": `sort-${column.name}`, onclick: () => sort.press() }, arrow && h("span", { "aria-hidden": "true" }, arrow), column.name)
      : column.name;
    return h("th", { scope: "col", class: classOf(column), "aria-sort": aria }, content);
  };
  const cell = (column: Column<Row>, row: Row) => {
    const props = { class: classOf(column) };
    return column.heads ? h("th", { ...props, scope: "row" }, column.cell(row)) : h("td", props, column.cell(row));
  };
  return h(
    "div",
    // A table wider than the page scrolls in its own box, which the keyboard must reach.
    { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    h(
      "table",
      null,
      h("caption", { class: options.unseenCaption ? "unseen" : null }, caption),
      h("thead", null, h("tr", null, columns.map(heading))),
      h("tbody", null, rows.map((row) => h("tr", null, columns.map((column) => cell(column, row))))),
    ),
  );
}

/** `‹ Previous   2 / 21   Next ›`. */
export function pager(page: Page, label: string, previous: (() => void) | null, next: (() => void) | null): HTMLElement {
  return h(
    "nav",
    { class: "pager", "aria-label": label },
    h("button", { type: "button", "data-focus": "previous", disabled: !previous, onclick: () => previous?.() }, `‹ ${page.t(words.previous)}`),
    h("span", null, label),
    h("button", { type: "button", "data-focus": "next", disabled: !next, onclick: () => next?.() }, `${page.t(words.next)} ›`),
  );
}
