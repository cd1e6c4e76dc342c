// How the properties of an event are written.

import { amount } from "../common/format";
import { reader } from "./state";

const words = (name: string) => name.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();

/** Plain properties of an event, without ids. */
export function brief(properties: any): string {
  return Object.entries<any>(properties ?? {})
    .filter(([name, value]) => value !== null && typeof value !== "object" && !/Id$/.test(name))
    .map(([name, value]) => `${words(name)} ${typeof value === "number" ? amount(value, reader()) : value}`)
    .join(" · ");
}
