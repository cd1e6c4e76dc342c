// The console: tools to the left, one of them in the middle, what it replied below.

import { h } from "../common/dom";
import { say } from "../common/i18n";
import { call, describe, find, key, KeyNeeded, rpc, Tool, tools } from "./api";
import { form, Form, marked } from "./form";
import { code, outcome, Outcome, refusal } from "./outcome";
import { applyTheme, history, language, locale, setLanguage, setTheme, theme } from "./settings";
import { configuration, fromHash, hashOf, Input } from "./share";
import { packName, t } from "./words";

let listed: Tool[] = [];
let version = "";
let open: { tool: Tool; form: Form; outcome: Outcome | null } | null = null;

const menu = h("nav", { class: "menu" });
const stage = h("main", { id: "stage", tabindex: -1 });

void begin();

async function begin(): Promise<void> {
  applyTheme();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    applyTheme();
    open?.outcome?.frame?.tell();
  });
  window.addEventListener("hashchange", () => void follow());
  frame();
  await load();
}

/** Asks the server what it has, and for a key if it wants one. */
async function load(): Promise<void> {
  try {
    listed = await tools();
    version = (await rpc("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "panoply-console", version: "1" } }))?.serverInfo?.version ?? "";
  } catch (error) {
    if (error instanceof KeyNeeded) await askForKey(() => void load());
    else stage.replaceChildren(h("div", { class: "failure", role: "alert" }, h("p", null, h("b", null, t("unreachable"))), h("p", null, (error as Error).message)));
    return;
  }
  frame();
  await follow();
}

function frame(): void {
  document.documentElement.lang = language();
  const search = h("input", { type: "search", id: "search", placeholder: t("search"), "aria-label": t("search"), autocomplete: "off" });
  search.addEventListener("input", () => void fillMenu(search.value));
  const button = (name: string, press: () => void) => h("button", { type: "button", onclick: press }, name);
  document.body.replaceChildren(
    h(
      "header",
      { class: "bar" },
      h("a", { class: "brand", href: "#" }, "Panoply", version && h("span", { class: "quiet" }, ` ${version}`)),
      search,
      h(
        "div",
        { class: "choices" },
        button(t("connect"), connectDialog),
        button(theme() === "dark" ? t("light") : t("dark"), () => { setTheme(theme() === "dark" ? "light" : "dark"); frame(); open?.outcome?.frame?.tell(); }),
        h("button", { type: "button", lang: language() === "th" ? "en" : "th", onclick: () => { setLanguage(language() === "th" ? "en" : "th"); frame(); void follow(); } }, t("other")),
      ),
    ),
    h("div", { class: "columns" }, menu, stage),
  );
  void fillMenu("");
}

let asked = 0;
async function fillMenu(query: string): Promise<void> {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (tool: Tool) => words.every((word) => `${tool.name} ${tool.title} ${tool.description} ${tool.pack}`.toLowerCase().includes(word));
  const shown = listed.filter(fits);
  menu.setAttribute("aria-label", t("tools"));
  const packs = [...new Set(shown.map((tool) => tool.pack))];
  const item = (name: string, title: string) =>
    h("li", null, h("a", { href: hashOf(name, {}), "aria-current": open?.tool.name === name ? "page" : null }, h("span", null, title), h("code", null, name)));
  const current = open?.tool.pack;
  const group = (pack: string) => {
    const inside = shown.filter((tool) => tool.pack === pack);
    const details = h("details", { class: "pack" }, h("summary", null, packName(pack), h("span", { class: "quiet" }, ` ${inside.length}`)), h("ul", null, inside.map((tool) => item(tool.name, tool.title))));
    details.open = words.length > 0 || pack === current || (!current && !narrow());
    return details;
  };
  const past = h("div");
  menu.replaceChildren(...packs.map(group), past);
  fillHistory(past);
  if (!words.length) return;
  // Tools that are not listed can still be found and called.
  const mine = ++asked;
  const found = (await find(query)).filter((match) => !listed.some((tool) => tool.name === match.name));
  if (mine !== asked) return;
  if (found.length) past.before(h("section", { class: "pack" }, h("h2", null, t("notListed")), h("ul", null, found.map((match) => item(match.name, match.title)))));
  else if (!shown.length) past.before(h("p", { class: "quiet" }, t("nothingFound")));
}

function narrow(): boolean {
  return matchMedia("(max-width: 760px)").matches;
}

function fillHistory(place: HTMLElement): void {
  const past = history.all();
  if (!past.length) return;
  const clear = () => { history.clear(); place.replaceChildren(); };
  const item = (one: (typeof past)[number]) =>
    h("li", null, h("a", { href: hashOf(one.tool, one.input) }, h("span", null, `${one.ok ? "" : "⚠ "}${one.tool}`), h("code", null, JSON.stringify(one.input))));
  place.replaceChildren(h("details", { class: "pack history" }, h("summary", null, t("history"), h("span", { class: "quiet" }, ` ${past.length}`)), h("ul", null, past.map(item)), h("button", { type: "button", onclick: clear }, t("clear"))));
}

/** Shows what the address asks for, and runs it where it comes with arguments. */
async function follow(): Promise<void> {
  const wanted = fromHash(location.hash);
  open?.outcome?.frame?.close();
  if (!wanted) {
    open = null;
    welcome();
    return;
  }
  await show(wanted.tool, wanted.input);
}

function welcome(): void {
  document.title = "Panoply";
  const packs = [...new Set(listed.map((tool) => tool.pack))].filter((pack) => pack !== "kernel");
  const card = (pack: string) => {
    const first = listed.filter((tool) => tool.pack === pack).slice(0, 3);
    return h("section", { class: "card" }, h("h2", null, packName(pack)), h("ul", null, first.map((tool) => h("li", null, h("a", { href: hashOf(tool.name, {}) }, tool.title)))));
  };
  stage.replaceChildren(h("h1", null, t("welcome")), h("p", { class: "quiet" }, t("welcomeMore")), h("div", { class: "cards" }, packs.map(card)));
}

async function show(name: string, input: Input): Promise<void> {
  const about = await described(name);
  const tool = listed.find((one) => one.name === name) ?? (about && fromDescription(about));
  if (!tool) {
    stage.replaceChildren(h("p", { role: "alert" }, say(t("unknownTool"), { name })));
    return;
  }
  document.title = `${tool.title} · Panoply`;
  const made = form(tool.inputSchema);
  made.fill(input);
  open = { tool, form: made, outcome: null };
  const place = h("div", { id: "outcome", "aria-live": "polite" });
  const submit = h("button", { type: "submit", class: "go" }, t("run"));
  const element = h("form", { novalidate: true }, made.element, h("p", { class: "actions" }, submit));
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    void run(tool, made, place, submit);
  });
  const some = examples(about, made, element);
  stage.replaceChildren(head(tool, about), ...(some ? [some] : []), element, place);
  for (const link of menu.querySelectorAll("a")) {
    const here = link.getAttribute("href") === hashOf(name, {});
    here ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current");
  }
  stage.focus({ preventScroll: true });
  if (narrow()) stage.scrollIntoView();
  // A link to a call runs it; one that changes data waits for its reader.
  if (Object.keys(input).length && !tool.mutates) await run(tool, made, place, submit);
}

async function described(name: string): Promise<any | null> {
  try {
    return await describe(name);
  } catch {
    await askForKey(() => void load());
    return null;
  }
}

function fromDescription(about: any): Tool {
  return { name: about.name, title: about.title, description: about.description, inputSchema: about.inputSchema, mutates: about.category === "mutation", pack: about.pack, version: about.version };
}

function head(tool: Tool, about: any): HTMLElement {
  const badge = (text: string, kind = "") => h("span", { class: `badge ${kind}` }, text);
  // Descriptions end with questions that the tool answers; they read better as a list.
  const [doing, asked] = tool.description.split(/\s*Examples: /);
  return h(
    "header",
    null,
    h("h1", null, tool.title),
    h("p", { class: "badges" }, h("code", null, tool.name), badge(packName(tool.pack)), badge(tool.mutates ? t("changes") : t("readsOnly"), tool.mutates ? "warn" : ""), badge(`v${tool.version}`), (about?.aliases ?? []).map((alias: string) => badge(alias))),
    h("p", null, marked(doing ?? "")),
    asked && h("ul", { class: "asked" }, asked.replace(/\.$/, "").split("; ").map((question) => h("li", null, question.replace(/^"|"$/g, "")))),
  );
}

function examples(about: any, made: Form, element: HTMLFormElement): HTMLElement | null {
  const some: any[] = about?.examples ?? [];
  if (!some.length) return null;
  const use = (params: Input) => () => { made.fill(params); element.requestSubmit(); };
  return h("p", { class: "examples" }, h("span", { class: "quiet" }, `${t("examples")}: `), some.map((example) => h("button", { type: "button", onclick: use(example.params) }, example.description)));
}

async function run(tool: Tool, made: Form, place: HTMLElement, submit: HTMLButtonElement): Promise<void> {
  let input: Input;
  try {
    input = made.read();
  } catch (error) {
    place.replaceChildren(h("div", { class: "failure", role: "alert" }, h("p", null, (error as Error).message)));
    return;
  }
  open?.outcome?.frame?.close();
  submit.disabled = true;
  submit.textContent = t("running");
  // The address names the call, so that a reload shows it again; going back stays one step.
  window.history.replaceState(null, "", hashOf(tool.name, input));
  let ok = false;
  try {
    const answer = await call(tool.name, input, locale());
    ok = !answer.result.isError;
    const shown = outcome(tool.name, input, answer, (name, args) => { location.hash = hashOf(name, args); });
    if (open?.tool === tool) open.outcome = shown;
    place.replaceChildren(shown.element);
  } catch (error) {
    if (error instanceof KeyNeeded) await askForKey(() => void run(tool, made, place, submit));
    else place.replaceChildren(refusal(tool.name, input, error as Error));
  }
  submit.disabled = false;
  submit.textContent = t("run");
  history.add({ tool: tool.name, input, at: new Date().toISOString(), ok });
  const past = menu.lastElementChild;
  if (past instanceof HTMLElement) fillHistory(past);
}

/** Asks for a key, then goes on. */
async function askForKey(then: () => void): Promise<void> {
  const field = h("input", { type: "password", id: "key", autocomplete: "off", required: true });
  const dialog = h("dialog", { "aria-labelledby": "key-title" });
  const enter = h(
    "form",
    null,
    h("h2", { id: "key-title" }, t("keyTitle")),
    h("p", { class: "quiet" }, t("keyHow")),
    key.get() && h("p", { role: "alert" }, t("keyWrong")),
    h("label", { for: "key" }, t("key")),
    field,
    h("p", { class: "actions" }, h("button", { type: "submit", class: "go" }, t("use"))),
  );
  enter.addEventListener("submit", (event) => {
    event.preventDefault();
    key.set(field.value.trim());
    dialog.close();
    dialog.remove();
    then();
  });
  dialog.append(enter);
  document.body.append(dialog);
  dialog.showModal();
}

function connectDialog(): void {
  const dialog = h("dialog", { class: "wide", "aria-labelledby": "connect-title" });
  dialog.append(
    h("h2", { id: "connect-title" }, t("connect")),
    h("p", null, t("connectHow")),
    code(configuration(key.get() !== "")),
    h("p", { class: "quiet" }, t("connectLocal")),
    h("p", { class: "actions" }, h("button", { type: "button", onclick: () => { dialog.close(); dialog.remove(); } }, t("close"))),
  );
  document.body.append(dialog);
  dialog.showModal();
}
