// Numbers and dates in the reader's language. A missing figure is a dash, never a zero.

import { Lang, words } from "./i18n";

export const MISSING = "–";

/** How a reader wants to see things. */
export interface Reader {
  lang: Lang;
  /** Years of the Buddhist era, 543 ahead. */
  buddhist: boolean;
}

export function number(value: unknown, reader: Reader, digits: number, sign = false): string {
  const amount = asNumber(value);
  if (amount === null) return MISSING;
  const format = new Intl.NumberFormat(reader.lang === "th" ? "th-TH-u-nu-latn" : "en-GB", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
    signDisplay: sign ? "exceptZero" : "auto",
  });
  // A true minus is as wide as the plus, so that columns stand straight.
  return format.format(amount).replace("-", "−");
}

/** `+8.80 %`. */
export function percent(value: unknown, reader: Reader, digits = 2): string {
  const text = number(value, reader, digits, true);
  return text === MISSING ? text : `${text}%`;
}

/** `1.2M`, for axes and sums of money; `inWords`, `1.2 million`. */
export function short(value: number, reader: Reader, inWords = false): string {
  const compactDisplay = inWords ? "long" : "short";
  return new Intl.NumberFormat(reader.lang === "th" ? "th-TH-u-nu-latn" : "en-GB", { notation: "compact", compactDisplay, maximumFractionDigits: 1 }).format(value).replace("-", "−");
}

/** As many digits as the figure came with: amounts that arrive as decimal strings stay exact. */
export function amount(value: unknown, reader: Reader, sign = false): string {
  if (value === null || value === undefined || value === "") return MISSING;
  const text = String(value);
  const digits = text.includes("e") ? 4 : (text.split(".")[1] ?? "").length;
  // Beyond what a double holds exactly the text itself is the better figure.
  if (text.replace(/\D/g, "").length > 15) return text;
  return number(text, reader, Math.min(digits, 20), sign);
}

export function date(iso: unknown, reader: Reader): string {
  const moment = parse(iso);
  if (!moment) return MISSING;
  return format(moment, reader, { day: "numeric", month: "short", year: "numeric" });
}

export function dateTime(iso: unknown, reader: Reader): string {
  const moment = parse(iso);
  if (!moment) return MISSING;
  return format(moment, reader, { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
}

/** For axes, where the year is known from elsewhere. */
export function dayAndMonth(iso: unknown, reader: Reader): string {
  const moment = parse(iso);
  return moment ? format(moment, reader, { day: "numeric", month: "short" }) : MISSING;
}

/** For axes over years. */
export function monthAndYear(iso: unknown, reader: Reader): string {
  const moment = parse(iso);
  return moment ? format(moment, reader, { month: "short", year: "numeric" }) : MISSING;
}

function format(moment: Date, reader: Reader, options: Intl.DateTimeFormatOptions): string {
  const calendar = reader.buddhist ? "buddhist" : "gregory";
  const locale = reader.lang === "th" ? `th-TH-u-ca-${calendar}-nu-latn` : `en-GB-u-ca-${calendar}`;
  const parts = new Intl.DateTimeFormat(locale, { ...options, timeZone: "UTC" }).formatToParts(moment);
  // Intl writes the era beside every year; a reader needs it only where it is not the usual one.
  const era = (reader.buddhist ? words.buddhistEra : words.commonEra)[reader.lang];
  const written = parts.filter((part) => part.type !== "era").map((part) => (part.type === "year" ? era.replace("{year}", part.value) : part.value));
  return written.join("").replace(/\s+/g, " ").trim();
}

function parse(iso: unknown): Date | null {
  if (typeof iso !== "string" || iso === "") return null;
  const moment = new Date(/^\d{4}-\d{2}-\d{2}$/.test(iso) ? `${iso}T00:00:00Z` : iso);
  return Number.isNaN(moment.getTime()) ? null : moment;
}

export function asNumber(value: unknown): number | null {
  if (value === null || value === undefined || value === "") return null;
  const amount = Number(value);
  return Number.isFinite(amount) ? amount : null;
}
