// What came back: picture, text, data, hints, audit, and the call to pass on.

import { h } from "../common/dom";
import { say } from "../common/i18n";
import { Answer, Refused } from "./api";
import { Frame, frame } from "./frame";
import { commandLine, Input, jsonRpc, link } from "./share";
import { t } from "./words";

export interface Outcome {
  element: HTMLElement;
  frame: Frame | null;
}

interface Tab {
  name: string;
  content(): Node;
}

export function outcome(tool: string, input: Input, answer: Answer, go: (tool: string, input: Input) => void): Outcome {
  const { result, took } = answer;
  const uri: string | undefined = result._meta?.ui?.resourceUri;
  const shown = uri && !result.isError ? frame(uri, tool, input, result) : null;
  const text = (result.content ?? []).filter((block: any) => block.type === "text").map((block: any) => block.text).join("\n\n");
  const data = result.structuredContent ?? result._meta?.["panoply/error"] ?? null;
  const tabs: Tab[] = [
    ...(shown ? [{ name: t("picture"), content: () => shown.element }] : []),
    { name: t("text"), content: () => (result.isError ? failure(result._meta?.["panoply/error"]?.error ?? { message: text }) : h("pre", { class: "said" }, text)) },
    { name: t("data"), content: () => code(JSON.stringify(data, null, 2)) },
    { name: t("hints"), content: () => hints(result.structuredContent?.agentHints ?? result._meta?.["panoply/agentHints"], go) },
    { name: t("audit"), content: () => audit(result) },
  ];
  const element = h(
    "section",
    { class: "outcome", "aria-label": t("reply") },
    h("h2", null, t("reply"), " ", h("span", { class: "quiet" }, say(t("took"), { ms: took.toFixed(1) }))),
    tabbed(tabs),
    share(tool, input),
  );
  return { element, frame: shown };
}

/** A call that the server refused as a whole. */
export function refusal(tool: string, input: Input, error: Error): HTMLElement {
  const data = error instanceof Refused ? error.data : null;
  return h("section", { class: "outcome", "aria-label": t("reply") }, h("h2", null, t("reply")), failure({ message: error.message, ...(data as object | null) }), data ? code(JSON.stringify(data, null, 2)) : null, share(tool, input));
}

function failure(error: any): HTMLElement {
  const hint = error.actionableHint ?? error.hint;
  return h("div", { class: "failure", role: "alert" }, h("p", null, h("b", null, t("failed")), error.code ? ` · ${error.code}` : ""), h("p", null, error.message), hint && h("p", { class: "quiet" }, hint));
}

function tabbed(tabs: Tab[]): HTMLElement {
  const panel = h("div", { class: "panel", role: "tabpanel", tabindex: 0, id: "panel" });
  const made = new Map<Tab, Node>();
  const buttons = tabs.map((tab, place) =>
    h("button", { type: "button", role: "tab", id: `tab-${place}`, "aria-controls": "panel", onclick: () => choose(place) }, tab.name),
  );
  // Hidden rather than taken out: a frame that is moved starts again.
  const choose = (place: number) => {
    const tab = tabs[place] as Tab;
    if (!made.has(tab)) {
      const content = h("div", null, tab.content());
      made.set(tab, content);
      panel.append(content);
    }
    for (const [other, content] of made) (content as HTMLElement).hidden = other !== tab;
    buttons.forEach((button, index) => {
      button.setAttribute("aria-selected", String(index === place));
      button.tabIndex = index === place ? 0 : -1;
    });
    panel.setAttribute("aria-labelledby", `tab-${place}`);
  };
  const list = h("div", { class: "tabs", role: "tablist", "aria-label": t("reply") }, buttons);
  list.addEventListener("keydown", (event) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!step) return;
    const place = (buttons.findIndex((button) => button.tabIndex === 0) + step + buttons.length) % buttons.length;
    choose(place);
    buttons[place]?.focus();
  });
  choose(0);
  return h("div", null, list, panel);
}

function hints(told: any, go: (tool: string, input: Input) => void): HTMLElement {
  if (!told) return h("p", { class: "quiet" }, t("noHints"));
  const next: any[] = told.suggestedNextActions ?? [];
  const warnings: any[] = told.warnings ?? [];
  return h(
    "div",
    null,
    h("p", null, h("b", null, `${t("confidence")} ${told.confidence}`), ` · ${told.reasoning ?? ""}`),
    warnings.length > 0 && h("h3", null, t("warnings")),
    warnings.length > 0 && h("ul", null, warnings.map((warning) => h("li", null, warning.message, warning.suggestedFix && h("span", { class: "quiet" }, ` – ${warning.suggestedFix}`)))),
    next.length > 0 && h("h3", null, t("next")),
    next.length > 0 && h("ul", { class: "plainlist" }, next.map((step) => h("li", null, h("button", { type: "button", onclick: () => go(step.action, step.data ?? {}) }, step.action), h("span", { class: "quiet" }, ` ${step.description ?? ""}`)))),
  );
}

function audit(result: any): HTMLElement {
  const told = result._meta?.["panoply/audit"] ?? result.structuredContent?.audit ?? {};
  const metadata = result.structuredContent?.metadata ?? result._meta?.["panoply/metadata"] ?? {};
  const rows = Object.entries<any>({ ...told, ...metadata });
  const write = (value: any) => (value && typeof value === "object" ? (value.rawJSON ?? JSON.stringify(value)) : String(value));
  return h("dl", { class: "rows" }, rows.flatMap(([name, value]) => [h("dt", null, name), h("dd", null, h("code", null, write(value)))]));
}

function share(tool: string, input: Input): HTMLElement {
  const forms: [string, string][] = [
    [t("copyLink"), link(tool, input)],
    [t("copyCommand"), commandLine(tool, input)],
    [t("copyRpc"), jsonRpc(tool, input)],
  ];
  return h(
    "details",
    { class: "share" },
    h("summary", null, t("share")),
    forms.map(([name, text]) => h("div", null, h("h3", null, name), code(text))),
  );
}

/** Text to copy. */
export function code(text: string): HTMLElement {
  const button = h("button", { type: "button", class: "copy" }, t("copy"));
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text).catch(() => select(pre));
    button.textContent = t("copied");
    setTimeout(() => (button.textContent = t("copy")), 1500);
  });
  const pre = h("pre", { tabindex: 0 }, h("code", null, text));
  return h("div", { class: "code" }, pre, button);
}

/** Over plain HTTP from another machine a browser gives no clipboard: at least mark the text. */
function select(element: HTMLElement): void {
  const range = document.createRange();
  range.selectNodeContents(element);
  getSelection()?.removeAllRanges();
  getSelection()?.addRange(range);
}
