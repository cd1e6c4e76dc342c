// What an app keeps in the browser. Inputs live as long as the tab, so that a shared computer
// keeps no figures; lists that a person saves by name stay.

import { useState } from "preact/hooks";
import { language } from "../console/settings";
import type { Reader } from "../common/format";

/** Words in the reader's language. */
export const t = (en: string, th: string): string => (language() === "th" ? th : en);

/** Thai readers see years of the Buddhist era. */
export const reader = (): Reader => ({ lang: language(), buddhist: language() === "th" });

function read<T>(storage: () => Storage, name: string, otherwise: T): T {
  try {
    return JSON.parse(storage().getItem(`panoply.${name}`) ?? "null") ?? otherwise;
  } catch {
    return otherwise;
  }
}

function write(storage: () => Storage, name: string, value: unknown): void {
  try {
    storage().setItem(`panoply.${name}`, JSON.stringify(value));
  } catch {
    // Private windows keep nothing.
  }
}

const tab = () => sessionStorage;
const kept = () => localStorage;

type Setter<T> = (next: T | ((old: T) => T)) => void;

/** State that survives a reload of the tab. */
export function useTab<T>(name: string, first: T): [T, Setter<T>] {
  return useStored(tab, name, first);
}

/** State that stays until it is removed. */
export function useKept<T>(name: string, first: T): [T, Setter<T>] {
  return useStored(kept, name, first);
}

/** A function as the next value sees the newest one, also when two changes come before a redraw. */
function useStored<T>(storage: () => Storage, name: string, first: T): [T, Setter<T>] {
  const [value, set] = useState<T>(() => read(storage, name, first));
  return [
    value,
    (next) =>
      set((old) => {
        const now = typeof next === "function" ? (next as (old: T) => T)(old) : next;
        write(storage, name, now);
        return now;
      }),
  ];
}

export interface Visit {
  app: string;
  at: string;
}

const LONGEST = 3;

export const visits = {
  all: (): Visit[] => read<Visit[]>(kept, "visits", []),
  add(app: string): void {
    const visit = { app, at: new Date().toISOString() };
    write(kept, "visits", [visit, ...visits.all().filter((other) => other.app !== app)].slice(0, LONGEST));
  },
};
