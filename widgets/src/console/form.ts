// A form from an input schema. What a form cannot say is written as JSON.

import { h } from "../common/dom";
import { say } from "../common/i18n";
import { t } from "./words";

export interface Form {
  element: HTMLElement;
  /** The arguments; throws what is wrong with a field. */
  read(): Record<string, unknown>;
  fill(input: Record<string, unknown>): void;
}

type Kind = "text" | "long" | "number" | "integer" | "boolean" | "choice" | "choices" | "list" | "json";

interface Field {
  name: string;
  kind: Kind;
  control: HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement;
}

/** Texts longer than this get room. */
const LONG = 500;

export function form(schema: any): Form {
  const required: string[] = schema?.required ?? [];
  const entries = Object.entries<any>(schema?.properties ?? {});
  // What must be given comes first.
  entries.sort(([one], [other]) => Number(required.includes(other)) - Number(required.includes(one)));
  const fields = entries.map(([name, property]) => ({ name, kind: kindOf(property), control: controlOf(name, property) }));
  const element = h("div", { class: "fields" }, fields.length === 0 && h("p", { class: "quiet" }, t("noArguments")), fields.map((field) => labelled(field, schema.properties[field.name], required.includes(field.name))));
  return {
    element,
    read: () => Object.fromEntries(fields.map((field) => [field.name, valueOf(field)] as const).filter(([, value]) => value !== undefined)),
    fill(input) {
      for (const field of fields) setValue(field, input[field.name]);
    },
  };
}

function kindOf(property: any): Kind {
  if (property.enum) return "choice";
  switch (property.type) {
    case "boolean": return "boolean";
    case "integer": return "integer";
    case "number": return "number";
    case "string": return (property.maxLength ?? 0) > LONG ? "long" : "text";
    case "array": return property.items?.enum ? "choices" : property.items?.type === "string" ? "list" : "json";
    default: return property.anyOf?.some((one: any) => one.type === "string") ? "long" : "json";
  }
}

function controlOf(name: string, property: any): Field["control"] {
  const about = { id: `field-${name}`, name, "aria-describedby": `about-${name}` };
  const option = (value: string) => h("option", { value }, value);
  const preset = property.default === undefined || property.default === null ? "" : typeof property.default === "string" ? property.default : JSON.stringify(property.default);
  switch (kindOf(property)) {
    case "choice": return h("select", about, h("option", { value: "" }, preset ? say(t("unlessGiven"), { value: preset }) : "–"), property.enum.map(option));
    case "boolean": return h("select", about, h("option", { value: "" }, preset ? say(t("unlessGiven"), { value: preset }) : "–"), ["true", "false"].map(option));
    case "choices": return h("select", { ...about, multiple: true, size: Math.min(property.items.enum.length, 7) }, property.items.enum.map(option));
    case "integer":
    case "number": return h("input", { ...about, type: "number", step: property.type === "integer" ? 1 : "any", min: property.minimum, max: property.maximum, placeholder: preset });
    case "text": return h("input", { ...about, type: "text", maxlength: property.maxLength, placeholder: preset, autocomplete: "off", spellcheck: "false" });
    case "list": return h("textarea", { ...about, rows: 3, placeholder: t("onePerLine"), spellcheck: "false" });
    case "long": return h("textarea", { ...about, rows: 7, placeholder: preset, spellcheck: "false" });
    case "json": return h("textarea", { ...about, rows: 5, class: "code", placeholder: preset || (property.type === "array" ? "[]" : "{}"), spellcheck: "false" });
  }
}

function labelled({ name, kind, control }: Field, property: any, required: boolean): HTMLElement {
  const limits = [property.minimum, property.maximum].some((limit) => limit !== undefined) ? `${property.minimum ?? "…"} – ${property.maximum ?? "…"}` : "";
  const notes = [required ? t("required") : "", limits, kind === "json" ? "JSON" : ""].filter(Boolean).join(" · ");
  return h(
    "div",
    { class: "field" },
    h("label", { for: control.id }, h("code", null, name), notes && h("span", { class: required ? "must" : "quiet" }, ` ${notes}`)),
    control,
    h("p", { class: "quiet", id: `about-${name}` }, marked(property.description ?? "")),
  );
}

/** Text in which backticks mark code. */
export function marked(text: string): (Node | string)[] {
  return text.split("`").map((part, place) => (place % 2 ? h("code", null, part) : part));
}

function valueOf({ name, kind, control }: Field): unknown {
  if (kind === "choices") {
    const chosen = [...(control as HTMLSelectElement).selectedOptions].map((option) => option.value);
    return chosen.length ? chosen : undefined;
  }
  const text = control.value;
  if (text.trim() === "") return undefined;
  switch (kind) {
    case "boolean": return text === "true";
    case "integer":
    case "number": return Number(text);
    case "list": return text.split("\n").map((line) => line.trim()).filter(Boolean);
    case "json": return parsed(name, text);
    default: return text;
  }
}

function parsed(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(say(t("notJson"), { name }));
  }
}

function setValue({ kind, control }: Field, value: unknown): void {
  if (kind === "choices") {
    for (const option of (control as HTMLSelectElement).options) option.selected = Array.isArray(value) && value.includes(option.value);
  } else if (value === undefined || value === null) control.value = "";
  else if (kind === "list" && Array.isArray(value)) control.value = value.join("\n");
  else control.value = typeof value === "string" && kind !== "json" ? value : JSON.stringify(value, null, kind === "json" || kind === "long" ? 2 : 0);
}
