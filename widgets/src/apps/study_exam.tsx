// A plan for an exam: what to study each week to remember enough on the day.

import { useState } from "preact/hooks";
import { date, number } from "../common/format";
import { ask } from "./client";
import { Choice, Empty, Field, Problem, Rows, Slider, Tiles, useTool, Wait } from "./parts";
import { reader, t, useTab } from "./state";

export function Exam({ deck }: { deck: string }) {
  const decks = useTool("list-decks", {});
  const [chosen, choose] = useTab<string>("study.examDeck", deck);
  const [day, setDay] = useTab<string>("study.examDay", "");
  const [minutes, setMinutes] = useTab<number>("study.examMinutes", 20);
  const [target, setTarget] = useTab<number>("study.examTarget", 90);
  const all: any[] = decks.reply?.data.data.decks ?? [];
  const deckId = all.some((one) => one.deckId === chosen) ? chosen : all[0]?.deckId;
  const plan = useTool("plan-exam", deckId && day ? { deckId, date: day, minutesPerDay: minutes, targetRecall: target / 100 } : null);
  return (
    <Wait asked={decks}>
      {() =>
        !all.length ? (
          <Empty title={t("Make a deck first.", "สร้างสำรับก่อน")}><p><a href="#decks">{t("Go to the decks", "ไปหน้าสำรับ")}</a></p></Empty>
        ) : (
          <>
            <p class="lead">{t("How much to study until an exam, and what you will probably remember on the day.", "ต้องทบทวนเท่าไรจนถึงวันสอบ และวันนั้นน่าจะจำได้เท่าไร")}</p>
            <div class="fields">
              <Choice label={t("Deck", "สำรับ")} value={deckId} choose={choose} options={all.map((one) => [one.deckId, one.name])} />
              <Field label={t("Day of the exam", "วันสอบ")}>{(id) => <input id={id} type="date" value={day} onChange={(event) => setDay(event.currentTarget.value)} />}</Field>
              <Slider label={t("Time a day", "เวลาต่อวัน")} unit={t("minutes", "นาที")} value={minutes} min={5} max={180} step={5} change={setMinutes} />
              <Slider label={t("Remember on the day", "จำได้ในวันสอบ")} unit="%" value={target} min={70} max={97} step={1} change={setTarget} />
            </div>
            {day && <Wait asked={plan}>{({ data }) => <Plan key={deckId} deckId={deckId} plan={data.data} target={target} />}</Wait>}
          </>
        )
      }
    </Wait>
  );
}

function Plan({ deckId, plan, target }: { deckId: string; plan: any; target: number }) {
  const [said, say] = useState("");
  const [error, fail] = useState<Error | null>(null);
  const share = (value: number) => `${number(value * 100, reader(), 0)} %`;
  const apply = () => {
    const options = { desiredRetention: plan.desiredRetention, newPerDay: plan.newPerDay, maximumIntervalDays: plan.maximumIntervalDays, reviewsPerDay: 9999 };
    void ask("update-deck", { deckId, options }).then(() => { fail(null); say(t("The deck follows the plan now.", "สำรับใช้แผนนี้แล้ว")); }, fail);
  };
  return (
    <>
      {!plan.feasible && <p class="notice" role="status">{t(`That time is too short for ${target} %: study longer each day, or expect less.`, `เวลานี้ไม่พอสำหรับ ${target} %: เพิ่มเวลาต่อวันหรือลดเป้าหมาย`)}</p>}
      <Tiles tiles={[
        [t("You will remember", "น่าจะจำได้"), `${share(plan.expectedRecall)} (${share(plan.recallLow)}–${share(plan.recallHigh)})`],
        [t("Minutes a day", "นาทีต่อวัน"), number(plan.minutesPerDay, reader(), 1)],
        [t("The longest day", "วันที่มากที่สุด (นาที)"), number(plan.mostMinutes, reader(), 1)],
        [t("New cards a day", "บัตรใหม่ต่อวัน"), number(plan.newPerDay, reader(), 0)],
        [t("Backlog", "ค้างทบทวน"), number(plan.backlog, reader(), 0)],
      ]} />
      <Rows caption={t("Week by week", "รายสัปดาห์")} unseenCaption={false} rows={plan.weeks} columns={[
        { name: t("From", "ตั้งแต่"), cell: (week: any) => date(week.begins.slice(0, 10), reader()) },
        { name: t("New cards", "บัตรใหม่"), cell: (week: any) => number(week.new, reader(), 0), figure: true },
        { name: t("Reviews", "ทบทวน"), cell: (week: any) => number(week.reviews, reader(), 0), figure: true },
        { name: t("Minutes", "นาที"), cell: (week: any) => number(week.minutes, reader(), 0), figure: true },
      ]} />
      <p class="actions"><button type="button" class="strong" onClick={apply}>{t("Use this plan", "ใช้แผนนี้")}</button></p>
      <p role="status">{said}</p>
      {error && <Problem error={error} />}
      <p class="quiet">{t("A forecast: it assumes that you study every day.", "เป็นการคาดการณ์ โดยถือว่าทบทวนทุกวัน")}</p>
    </>
  );
}
