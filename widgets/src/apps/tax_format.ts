// Amounts of the tax pages: decimal text stays exact.

import { amount } from "../common/format";
import { reader } from "./state";

export function pounds(value: unknown): string {
  const text = amount(value, reader());
  return text.startsWith("−") ? `−£${text.slice(1)}` : text === "–" ? text : `£${text}`;
}
