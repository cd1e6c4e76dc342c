// The frame around every page: loading, empty and error states, language, theme, going into a
// detail and back, the date of the figures and the caution at the end.

import { connect, Host, Reply, Settings } from "./bridge";
import { h } from "./dom";
import { Reader } from "./format";
import { langOf, Text, usesBuddhistEra, words } from "./i18n";

/** How the reply of one tool is shown. */
export interface View {
  /** Nothing when there is nothing to show. */
  draw(reply: Reply, page: Page): (Node | null)[] | null;
  /** What to say when there is nothing. */
  empty?: Text;
  /** Of when the figures are. */
  asOf?(reply: Reply, page: Page): string | null;
  /** What a reader should keep in mind. */
  caution?: Text;
  /** Whether it has dates, and so a choice of era. */
  dated?: boolean;
}

export interface Page {
  readonly reader: Reader;
  t(text: Text): string;
  /** Calls a tool through the host and shows its reply in place of this one. */
  replace(tool: string, input: Record<string, unknown>): Promise<void>;
  /** Calls a tool through the host and shows its reply, with a way back. */
  open(tool: string, input: Record<string, unknown>): Promise<void>;
  /** Calls a tool through the host for a part of the page. */
  ask(tool: string, input: Record<string, unknown>): Promise<Reply>;
  /** Opens an address outside of the page. */
  link(url: string): void;
  /** Tells screen readers. */
  announce(text: string): void;
}

/** Starts the page. `which` names the view of a reply whose tool the host does not tell. */
export function start(views: Record<string, View>, which: (reply: Reply) => string): void {
  const main = document.getElementById("page") as HTMLElement;
  const status = h("p", { role: "status", class: "unseen" });
  const stack: Reply[] = [];
  const reader: Reader = { lang: langOf(navigator.language), buddhist: usesBuddhistEra(navigator.language) };
  let locale: string | undefined;
  let cancelled = false;
  let retry: (() => void) | null = null;
  let failure: { message: string; hint: string } | null = null;

  const page: Page = {
    reader,
    t: (text) => text[reader.lang],
    replace: (tool, input) => run(tool, input, true),
    open: (tool, input) => run(tool, input, false),
    ask: (tool, input) => host.call(tool, input),
    link: (url) => host.open(url),
    announce: (text) => {
      status.textContent = text;
    },
  };

  async function run(tool: string, input: Record<string, unknown>, replace: boolean): Promise<void> {
    main.setAttribute("aria-busy", "true");
    page.announce(page.t(words.loading));
    try {
      const reply = await host.call(tool, input);
      if (reply.isError) throw reply;
      failure = retry = null;
      if (replace) stack.pop();
      stack.push(reply);
      page.announce(page.t(words.updated));
    } catch (error) {
      failure = told(error);
      retry = () => void run(tool, input, replace);
    }
    main.removeAttribute("aria-busy");
    draw(replace);
  }

  function draw(keepFocus = true): void {
    const focused = (document.activeElement as HTMLElement | null)?.dataset?.["focus"];
    const reply = stack.at(-1);
    document.documentElement.lang = reader.lang;
    main.replaceChildren(...(failure ? failed(failure) : reply ? shown(reply) : waiting()), status);
    if (!reply) return;
    const again = focused && main.querySelector<HTMLElement>(`[data-focus="${CSS.escape(focused)}"]:not(:disabled)`);
    if (again) again.focus({ preventScroll: true });
    else if (!keepFocus) main.querySelector<HTMLElement>("h1")?.focus();
  }

  function waiting(): Node[] {
    if (cancelled) return [h("p", { class: "state" }, page.t(words.cancelled))];
    if (window.parent === window && !(window as any).openai) return [h("p", { class: "state" }, page.t(words.noHost))];
    return [
      h("p", { class: "unseen", role: "status" }, page.t(words.loading)),
      h("div", { class: "skeleton", "aria-hidden": "true" }, ...[40, 90, 75, 82].map((width) => h("i", { style: `inline-size:${width}%` }))),
    ];
  }

  function failed({ message, hint }: { message: string; hint: string }): Node[] {
    return [
      h(
        "div",
        { class: "state", role: "alert" },
        h("h1", { tabindex: -1 }, page.t(words.failed)),
        h("p", null, message),
        hint ? h("p", { class: "quiet" }, hint) : null,
        h(
          "p",
          { class: "actions" },
          retry && h("button", { type: "button", onclick: retry }, page.t(words.retry)),
          stack.length > 0 &&
            h("button", { type: "button", onclick: () => { failure = null; draw(); } }, page.t(words.back)),
        ),
      ),
    ];
  }

  function shown(reply: Reply): Node[] {
    const name = reply.tool && views[reply.tool] ? reply.tool : which(reply);
    const view = views[name] as View;
    const drawn = view.draw(reply, page);
    const back =
      stack.length > 1 &&
      h("button", { type: "button", class: "back", onclick: () => { stack.pop(); draw(false); } }, `‹ ${page.t(words.back)}`);
    const content = drawn ?? [h("p", { class: "state" }, page.t(view.empty ?? words.empty))];
    return [back || null, ...content, foot(view, reply)].filter((node) => node !== null);
  }

  function foot(view: View, reply: Reply): Node | null {
    const asOf = view.asOf?.(reply, page);
    const era = (view.dated ?? true) && (reader.lang === "th" || reader.buddhist);
    if (!asOf && !view.caution && !era) return null;
    return h(
      "footer",
      null,
      asOf && h("p", null, asOf),
      view.caution && h("p", null, page.t(view.caution)),
      era && h("label", { class: "era" }, eraSwitch(), page.t(words.toBuddhist)),
    );
  }

  function eraSwitch(): Node {
    const box = h("input", { type: "checkbox", "data-focus": "era" });
    box.checked = reader.buddhist;
    box.addEventListener("change", () => {
      reader.buddhist = box.checked;
      draw();
    });
    return box;
  }

  const host: Host = connect({
    settings(told: Settings) {
      applyTheme(told);
      // The same locale again must not undo the reader's own choice of an era.
      if (!told.locale || told.locale === locale) return;
      locale = told.locale;
      reader.lang = langOf(locale);
      reader.buddhist = usesBuddhistEra(locale);
      draw();
    },
    reply(reply) {
      failure = reply.isError ? told(reply) : null;
      retry = null;
      cancelled = false;
      stack.length = 0;
      if (!reply.isError) stack.push(reply);
      draw();
    },
    cancelled() {
      cancelled = true;
      draw();
    },
  });
  draw();
  new ResizeObserver(() => host.resized(Math.ceil(main.getBoundingClientRect().height))).observe(main);
}

function applyTheme({ theme, variables }: Settings): void {
  const root = document.documentElement;
  if (theme === "dark" || theme === "light") root.dataset["theme"] = theme;
  for (const [name, value] of Object.entries(variables ?? {})) {
    if (name.startsWith("--") && value) root.style.setProperty(name, value);
  }
}

/** What an error says: each pack has its own shape, and a host's refusal is an `Error`. */
function told(error: unknown): { message: string; hint: string } {
  if (error instanceof Error) return { message: error.message, hint: "" };
  const reply = error as Reply;
  const body = reply.meta?.["panoply/error"]?.error;
  return { message: body?.message ?? reply.text, hint: body?.actionableHint ?? body?.hint ?? "" };
}
