// Parts that all apps share: loading, empty and error states, fields, tabs, and the tables,
// charts and views of the widgets inside of Preact.

import type { ComponentChildren, JSX } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Reply } from "../common/bridge";
import { chart, ChartOptions, Series } from "../common/chart";
import type { Page, View } from "../common/page";
import { Column, table } from "../common/table";
import { language } from "../console/settings";
import { ask, Failed, isUnreachable, KeyNeeded } from "./client";
import { reader, t } from "./state";

export interface Asked {
  reply: Reply | null;
  error: Error | null;
  busy: boolean;
  again(): void;
}

/** Calls a tool now and whenever the input or the language changes; `null` calls nothing. */
export function useTool(tool: string, input: Record<string, unknown> | null): Asked {
  const [state, set] = useState<{ reply: Reply | null; error: Error | null; busy: boolean }>({ reply: null, error: null, busy: input !== null });
  const [round, next] = useState(0);
  const asked = input && JSON.stringify(input);
  useEffect(() => {
    if (asked === null) return set({ reply: null, error: null, busy: false });
    let stale = false;
    set((old) => ({ ...old, busy: true }));
    ask(tool, JSON.parse(asked)).then(
      (reply) => stale || set({ reply, error: null, busy: false }),
      (error) => stale || set({ reply: null, error, busy: false }),
    );
    return () => {
      stale = true;
    };
  }, [tool, asked, round, language()]);
  return { ...state, again: () => next(round + 1) };
}

/** The reply, or why there is none yet. */
export function Wait({ asked, children }: { asked: Asked; children: (reply: Reply) => ComponentChildren }): JSX.Element {
  if (asked.error) return <Problem error={asked.error} again={asked.again} />;
  if (!asked.reply) return asked.busy ? <Loading /> : <></>;
  return <div aria-busy={asked.busy}>{children(asked.reply)}</div>;
}

export function Loading(): JSX.Element {
  return (
    <div class="skeleton" role="status">
      <span class="unseen">{t("Loading…", "กำลังโหลด…")}</span>
      <i class="w40" /><i class="w90" /><i class="w75" />
    </div>
  );
}

export function Problem({ error, again }: { error: Error; again?: () => void }): JSX.Element {
  if (error instanceof KeyNeeded) return <p class="state">{t("Sign in with a key to see this.", "ใส่คีย์เพื่อดูข้อมูลนี้")}</p>;
  const unreachable = isUnreachable(error);
  const message = unreachable ? t("The server does not answer.", "เซิร์ฟเวอร์ไม่ตอบสนอง") : error.message;
  const hint = unreachable ? t("Check that `panoply http` is running, then try again.", "ตรวจสอบว่า `panoply http` ทำงานอยู่ แล้วลองอีกครั้ง") : error instanceof Failed ? error.hint : "";
  return (
    <div class="failure" role="alert">
      <p><b>{t("That did not work", "ดำเนินการไม่สำเร็จ")}</b></p>
      <p class="said">{message}</p>
      {hint && <p class="quiet">{hint}</p>}
      {again && <p><button type="button" onClick={again}>{t("Try again", "ลองอีกครั้ง")}</button></p>}
    </div>
  );
}

/** Nothing there yet, and what to do about it. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }): JSX.Element {
  return <div class="empty"><p><b>{title}</b></p>{children}</div>;
}

/** A labelled control; `children` gets the id that the label points to. */
export function Field({ label, hint, children }: { label: string; hint?: string; children: (id: string) => ComponentChildren }): JSX.Element {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children(id)}
      {hint && <p class="quiet" id={`${id}-hint`}>{hint}</p>}
    </div>
  );
}

/** An input that tells its value when it is left or Enter is pressed. What is typed stays until then: a reply that arrives meanwhile draws the page again, with the old value. */
export function DraftInput({ value, change, ...rest }: Omit<JSX.InputHTMLAttributes<HTMLInputElement>, "value"> & { value: string | number; change: (value: string) => void }): JSX.Element {
  const [draft, setDraft] = useState<string | null>(null);
  return <input {...rest} value={draft ?? value} onInput={(event) => setDraft(event.currentTarget.value)} onChange={(event) => change(event.currentTarget.value)} onBlur={() => setDraft(null)} />;
}

export function Choice({ label, value, options, choose }: { label: string; value: string; options: [string, string][]; choose: (value: string) => void }): JSX.Element {
  return (
    <Field label={label}>
      {(id) => (
        <select id={id} value={value} onChange={(event) => choose(event.currentTarget.value)}>
          {options.map(([name, text]) => <option key={name} value={name}>{text}</option>)}
        </select>
      )}
    </Field>
  );
}

/** A slider with the figure beside it, which can be typed too. */
export function Slider({ label, value, min, max, step, unit, change }: { label: string; value: number; min: number; max: number; step: number; unit: string; change: (value: number) => void }): JSX.Element {
  const typed = (text: string) => {
    if (Number.isFinite(Number(text))) change(Number(text));
  };
  return (
    <Field label={label}>
      {(id) => (
        <div class="slider">
          <input type="range" min={min} max={max} step={step} value={value} aria-label={`${label} (${unit})`} onInput={(event) => typed(event.currentTarget.value)} />
          <DraftInput id={id} type="number" inputMode="decimal" min={min} step={step} value={value} change={typed} />
          <span class="quiet">{unit}</span>
        </div>
      )}
    </Field>
  );
}

/** Sections of an app. The address keeps which one is open, and nothing else. */
export function useSection(names: string[]): [string, (name: string) => void] {
  const now = () => (names.includes(location.hash.slice(1)) ? location.hash.slice(1) : (names[0] as string));
  const [section, set] = useState(now);
  useLayoutEffect(() => {
    const changed = () => set(now());
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return [
    section,
    (name) => {
      location.hash = name;
      set(name);
    },
  ];
}

export function Sections({ label, names, now }: { label: string; names: [string, string][]; now: string }): JSX.Element {
  return (
    <nav class="sections" aria-label={label}>
      {names.map(([name, text]) => <a key={name} href={`#${name}`} aria-current={name === now ? "page" : undefined}>{text}</a>)}
    </nav>
  );
}

export function Tiles({ tiles }: { tiles: [string, ComponentChildren][] }): JSX.Element {
  return <dl class="tiles">{tiles.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>;
}

/** A part made of elements: remade when `watched` or the language changes. */
export function Dom({ make, watched }: { make: () => (Node | null)[]; watched: unknown }): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    place.current?.replaceChildren(...make().filter((node) => node !== null));
  }, [watched, language()]);
  return <div ref={place} />;
}

export function Rows<Row>({ caption, columns, rows, unseenCaption = true }: { caption: string; columns: Column<Row>[]; rows: Row[]; unseenCaption?: boolean }): JSX.Element {
  return <Dom watched={rows} make={() => [table(caption, columns, rows, { unseenCaption })]} />;
}

export function Chart({ series, options }: { series: Series[]; options: ChartOptions }): JSX.Element {
  return <Dom watched={series} make={() => [chart(still, series, options)]} />;
}

/** What a chart or table needs of a page, where nothing is opened from it. */
export const still: Page = {
  get reader() {
    return reader();
  },
  t: (text) => text[language()],
  replace: async () => {},
  open: async () => {},
  ask,
  link: (url) => void (/^https:\/\//.test(url) && window.open(url, "_blank", "noopener,noreferrer")),
  announce: () => {},
};

/** A widget's view of a tool's reply; what it opens appears in its place, with a way back. */
export function Shown({ views, tool, input }: { views: Record<string, View>; tool: string; input: Record<string, unknown> }): JSX.Element {
  const [stack, push] = useState<{ tool: string; input: Record<string, unknown> }[]>([{ tool, input }]);
  useEffect(() => push([{ tool, input }]), [tool, JSON.stringify(input)]);
  const top = stack.at(-1) as { tool: string; input: Record<string, unknown> };
  const asked = useTool(top.tool, top.input);
  const page: Page = {
    ...still,
    reader: reader(),
    open: async (next, given) => push([...stack, { tool: next, input: given }]),
    replace: async (next, given) => push([...stack.slice(0, -1), { tool: next, input: given }]),
  };
  return (
    <div>
      {stack.length > 1 && <button type="button" class="back" onClick={() => push(stack.slice(0, -1))}>‹ {t("Back", "กลับ")}</button>}
      <Wait asked={asked}>
        {(reply) => {
          const view = views[reply.tool ?? tool] as View;
          const asOf = view.asOf?.(reply, page);
          return (
            <>
              <Dom watched={reply} make={() => view.draw(reply, page) ?? []} />
              {(asOf || view.caution) && <footer>{asOf && <p>{asOf}</p>}{view.caution && <p>{page.t(view.caution)}</p>}</footer>}
            </>
          );
        }}
      </Wait>
    </div>
  );
}

/** Saves text as a file, without asking any server. */
export function download(name: string, text: string, type = "text/csv;charset=utf-8"): void {
  // Excel takes UTF-8 only with a byte order mark.
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(["\ufeff", text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Rows as CSV (RFC 4180). A text that a spreadsheet would run as a formula gets an apostrophe. */
export function csv(rows: (string | number | null | undefined)[][]): string {
  const cell = (value: string | number | null | undefined) => {
    let text = String(value ?? "");
    if (/^[=+@\t\r]|^-(?![\d.]+$)/.test(text)) text = `'${text}`;
    return /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
  };
  return rows.map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}
