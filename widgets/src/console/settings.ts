// Language, theme and history, kept in the browser.

import { Lang, langOf } from "../common/i18n";

export type Theme = "light" | "dark";

export interface Past {
  tool: string;
  input: Record<string, unknown>;
  at: string;
  ok: boolean;
}

/** More would be a list nobody reads. */
const LONGEST = 30;

function stored<T>(name: string, otherwise: T): T {
  try {
    return JSON.parse(localStorage.getItem(`panoply.${name}`) ?? "null") ?? otherwise;
  } catch {
    return otherwise;
  }
}

function store(name: string, value: unknown): void {
  try {
    localStorage.setItem(`panoply.${name}`, JSON.stringify(value));
  } catch {
    // Private windows keep nothing.
  }
}

let lang: Lang = stored<Lang | null>("lang", null) === "th" ? "th" : stored<Lang | null>("lang", null) === "en" ? "en" : langOf(navigator.language);
let chosen: Theme | null = stored<Theme | null>("theme", null);

export const language = (): Lang => lang;
export const locale = (): string => (lang === "th" ? "th-TH" : "en-GB");
export const theme = (): Theme => chosen ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

export function setLanguage(value: Lang): void {
  lang = value;
  store("lang", value);
}

export function setTheme(value: Theme): void {
  chosen = value;
  store("theme", value);
  applyTheme();
}

export function applyTheme(): void {
  document.documentElement.dataset["theme"] = theme();
}

export const history = {
  all: (): Past[] => stored<Past[]>("history", []),
  add(past: Past): void {
    const same = (other: Past) => other.tool === past.tool && JSON.stringify(other.input) === JSON.stringify(past.input);
    store("history", [past, ...history.all().filter((other) => !same(other))].slice(0, LONGEST));
  },
  clear: () => store("history", []),
};
