// The chain of an event: what led to it, from parent to parent, and what followed from it.

import { useEffect, useState } from "preact/hooks";
import { dateTime, number } from "../common/format";
import { ask } from "./client";
import { brief } from "./runs_format";
import { Loading, Problem } from "./parts";
import { reader, t } from "./state";

/** Parents that are followed. */
const MOST_CAUSES = 12;
/** Events after it that are listed; the figure beside them says how many there are. */
const MOST_EFFECTS = 20;

interface ChainEvents {
  causes: any[];
  event: any;
  effects: any[];
}

export function Chain({ runId, eventId, choose }: { runId: string; eventId: string; choose: (event: string) => void }) {
  const [chain, set] = useState<ChainEvents | null>(null);
  const [error, fail] = useState<Error | null>(null);
  const heading = useState(() => ({ current: null as HTMLHeadingElement | null }))[0];
  useEffect(() => {
    let stale = false;
    set(null);
    fail(null);
    chainOf(runId, eventId).then(
      (found) => {
        if (stale) return;
        set(found);
        heading.current?.scrollIntoView({ block: "nearest" });
        heading.current?.focus({ preventScroll: true });
      },
      (problem) => stale || fail(problem),
    );
    return () => {
      stale = true;
    };
  }, [runId, eventId]);
  if (error) return <Problem error={error} />;
  if (!chain) return <Loading />;
  const row = (event: any, place: number, role: string) => (
    <li class="row" key={`${place} ${event.eventId}`}>
      <span class="grow">{role === "this" ? <b>{event.eventType}</b> : <button type="button" class="plain" onClick={() => choose(event.eventId)}>{event.eventType}</button>} <span class="quiet">{dateTime(event.timestamp, reader())} UTC</span><br /><span class="src">{brief(event.properties)}</span></span>
      {role === "this" && <span class="badge">{t("this one", "เหตุการณ์นี้")}</span>}
    </li>
  );
  const more = chain.effects.length - MOST_EFFECTS;
  return (
    <>
      <h3 tabIndex={-1} ref={(element) => { heading.current = element; }}>{t("Chain", "ลำดับเหตุการณ์")}</h3>
      <p class="quiet">{t(`${number(chain.causes.length, reader(), 0)} events led to it, ${number(chain.effects.length, reader(), 0)} followed from it.`, `เหตุการณ์ที่นำมาสู่ ${number(chain.causes.length, reader(), 0)} รายการ ตามมา ${number(chain.effects.length, reader(), 0)} รายการ`)}</p>
      <ol class="list chain">
        {chain.causes.map((event, place) => row(event, place, "cause"))}
        {row(chain.event, 0, "this")}
        {chain.effects.slice(0, MOST_EFFECTS).map((event, place) => row(event, place, "effect"))}
      </ol>
      {more > 0 && <p class="quiet">{t(`and ${number(more, reader(), 0)} more`, `และอีก ${number(more, reader(), 0)} รายการ`)}</p>}
    </>
  );
}

async function chainOf(runId: string, eventId: string): Promise<ChainEvents> {
  const [event, ...effects] = await following(runId, eventId, 10);
  const causes: any[] = [];
  let parent: string | null = event?.parentEventId ?? null;
  while (parent && causes.length < MOST_CAUSES) {
    const [cause] = await following(runId, parent, 1);
    if (!cause) break;
    causes.unshift(cause);
    parent = cause.parentEventId ?? null;
  }
  return { causes, event, effects };
}

/** An event and what followed from it, in order of time. */
async function following(runId: string, rootEventId: string, maxDepth: number): Promise<any[]> {
  const { data } = await ask("query_event_sequence", { runId, rootEventId, maxDepth, handles: true });
  return data?.sequences?.[0]?.events ?? [];
}
