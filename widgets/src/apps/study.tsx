// Study: decks, the review of cards, a browser, drafts to approve, a plan for an exam, forecast. Every step is a tool call, so
// that an agent and a person can share one collection.

import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { dateTime, number } from "../common/format";
import { forecast } from "../noema/forecast";
import { ask, isUnreachable } from "./client";
import { kept, send } from "./study_device";
import { Empty, Field, Loading, Problem, Sections, Shown, Tiles, useSection, useTool, Wait } from "./parts";
import { reader, t, useTab } from "./state";
import { Browser } from "./study_browser";
import { Drafts } from "./study_drafts";
import { Exam } from "./study_exam";
import { Media, Side } from "./study_card";
import { OfflinePanel, useSync } from "./study_offline";
import { onDevice, online, RATINGS, Source } from "./study_source";

export function Study() {
  const [section] = useSection(["decks", "review", "add", "browse", "drafts", "exam", "forecast"]);
  const [deck, setDeck] = useTab<string>("study.deck", "");
  useSync();
  const names: [string, string][] = [
    ["decks", t("Decks", "สำรับ")],
    ["review", t("Review", "ทบทวน")],
    ["add", t("Add cards", "เพิ่มบัตร")],
    ["browse", t("Browse", "ค้นหาบัตร")],
    ["drafts", t("Drafts", "ฉบับร่าง")],
    ["exam", t("Exam", "แผนสอบ")],
    ["forecast", t("Forecast", "คาดการณ์")],
  ];
  return (
    <>
      <Sections label={t("Study", "ทบทวนบัตรคำ")} names={names} now={section} />
      {section === "decks" && <><Decks study={(id) => { setDeck(id); location.hash = "review"; }} /><OfflinePanel /></>}
      {section === "review" && <Review key={deck} deck={deck} />}
      {section === "add" && <Add deck={deck} choose={setDeck} />}
      {section === "browse" && <Browser />}
      {section === "drafts" && <Drafts />}
      {section === "exam" && <Exam deck={deck} />}
      {section === "forecast" && <Shown views={{ "forecast-reviews": forecast }} tool="forecast-reviews" input={{ days: 30 }} />}
    </>
  );
}

function Decks({ study }: { study: (deckId: string) => void }) {
  const decks = useTool("list-decks", {});
  const stats = useTool("get-stats", { days: 30 });
  return (
    <Wait asked={decks}>
      {({ data }) => {
        const all: any[] = data.data.decks;
        if (!all.length)
          return (
            <Empty title={t("There is no deck yet.", "ยังไม่มีสำรับ")}>
              <p>{t("Make one here, or ask an agent: “Make flashcards from this page”. Anki packages come in with `panoply noema import FILE.apkg`.", "สร้างที่นี่ หรือสั่งเอเจนต์ว่า “ทำบัตรคำจากหน้านี้” หากใช้ Anki ให้นำเข้าด้วย `panoply noema import FILE.apkg`")}</p>
              <NewDeck made={decks.again} />
            </Empty>
          );
        return (
          <>
            <ul class="list">
              {all.map((deck) => (
                <li class="row" key={deck.deckId}>
                  <div class="grow">
                    <b>{deck.name}</b>
                    <div class="quiet">{t(`${deck.counts.due} due · ${deck.counts.new} new · ${deck.counts.cards} cards`, `ถึงกำหนด ${deck.counts.due} · ใหม่ ${deck.counts.new} · ทั้งหมด ${deck.counts.cards} ใบ`)}{deck.counts.drafts > 0 && ` · ${t(`${deck.counts.drafts} drafts`, `ฉบับร่าง ${deck.counts.drafts}`)}`}</div>
                  </div>
                  <button type="button" class="strong" onClick={() => study(deck.deckId)} aria-label={t(`Review ${deck.name}`, `ทบทวน ${deck.name}`)}>{t("Review", "ทบทวน")}</button>
                </li>
              ))}
            </ul>
            <Wait asked={stats}>
              {(reply) => (
                <>
                  <h2>{t("The last 30 days", "30 วันที่ผ่านมา")}</h2>
                  <Tiles tiles={[[t("Reviews", "ครั้งที่ทบทวน"), number(reply.data.data.reviews, reader(), 0)], [t("Days studied", "วันที่ทบทวน"), number(reply.data.data.daysStudied, reader(), 0)], [t("Days in a row", "ต่อเนื่อง (วัน)"), number(reply.data.data.streakDays, reader(), 0)]]} />
                </>
              )}
            </Wait>
            <h2>{t("New deck", "สำรับใหม่")}</h2>
            <NewDeck made={decks.again} />
          </>
        );
      }}
    </Wait>
  );
}

function NewDeck({ made }: { made: () => void }) {
  const [name, setName] = useState("");
  const [error, fail] = useState<Error | null>(null);
  const submit = async (event: Event) => {
    event.preventDefault();
    // The day of a learner changes at night where the learner is.
    const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    await ask("create-deck", { name, options: { timeZone } }).then(() => { setName(""); fail(null); made(); }, fail);
  };
  return (
    <form onSubmit={submit}>
      <Field label={t("Name of the deck", "ชื่อสำรับ")}>{(id) => <input id={id} type="text" required maxLength={100} value={name} onInput={(event) => setName(event.currentTarget.value)} />}</Field>
      <p class="actions"><button type="submit" class="strong">{t("Create the deck", "สร้างสำรับ")}</button></p>
      {error && <Problem error={error} />}
    </form>
  );
}

function Add({ deck, choose }: { deck: string; choose: (id: string) => void }) {
  const decks = useTool("list-decks", {});
  const [front, setFront] = useState("");
  const [back, setBack] = useState("");
  const [form, setForm] = useState("basic");
  const [made, setMade] = useState<string | null>(null);
  const [error, fail] = useState<Error | null>(null);
  return (
    <Wait asked={decks}>
      {({ data }) => {
        const all: any[] = data.data.decks;
        if (!all.length) return <Empty title={t("Make a deck first.", "สร้างสำรับก่อน")}><p><a href="#decks">{t("Go to the decks", "ไปหน้าสำรับ")}</a></p></Empty>;
        const chosen = all.some((one) => one.deckId === deck) ? deck : all[0].deckId;
        const submit = async (event: Event) => {
          event.preventDefault();
          setMade(null);
          await ask("create-card", { deckId: chosen, form, front, ...(back ? { back } : {}), draft: false }).then(
            (reply) => { setMade(reply.text); fail(null); setFront(""); setBack(""); },
            (problem) => { setMade(null); fail(problem); },
          );
        };
        return (
          <form onSubmit={submit}>
            <div class="fields">
              <Field label={t("Deck", "สำรับ")}>{(id) => <select id={id} value={chosen} onChange={(event) => choose(event.currentTarget.value)}>{all.map((one) => <option key={one.deckId} value={one.deckId}>{one.name}</option>)}</select>}</Field>
              <Field label={t("Kind", "ชนิด")}>
                {(id) => (
                  <select id={id} value={form} onChange={(event) => setForm(event.currentTarget.value)}>
                    <option value="basic">{t("Question and answer", "ถามตอบ")}</option>
                    <option value="reversed">{t("Both directions", "สองทิศทาง")}</option>
                    <option value="typed">{t("Answer is typed", "พิมพ์คำตอบ")}</option>
                    <option value="cloze">{t("Gap in a sentence", "เติมคำ")}</option>
                  </select>
                )}
              </Field>
            </div>
            <Field label={t("Front", "ด้านหน้า")} {...(form === "cloze" ? { hint: t("Mark the gap: {{c1::Hanoi}} is the capital of Vietnam", "กำหนดช่องว่าง: {{c1::ฮานอย}} เป็นเมืองหลวงของเวียดนาม") } : {})}>{(id) => <textarea id={id} rows={3} required value={front} onInput={(event) => setFront(event.currentTarget.value)} />}</Field>
            {form !== "cloze" && <Field label={t("Back", "ด้านหลัง")}>{(id) => <textarea id={id} rows={3} required value={back} onInput={(event) => setBack(event.currentTarget.value)} />}</Field>}
            <p class="actions"><button type="submit" class="strong">{t("Add the card", "เพิ่มบัตร")}</button></p>
            {made && <p role="status">✓ {t("The card is in the deck.", "เพิ่มบัตรแล้ว")}</p>}
            {error && <Problem error={error} />}
          </form>
        );
      }}
    </Wait>
  );
}

type Step = { kind: "loading" } | { kind: "error"; error: Error } | { kind: "none"; data: any } | { kind: "front"; data: any; since: number } | { kind: "back"; data: any; front: any; since: number; asked: number };

/** How long a review without a connection waits before it looks for one again. */
const LOOK_AGAIN_MS = 10_000;

function Review({ deck }: { deck: string }) {
  const [step, setStep] = useState<Step>({ kind: "loading" });
  const [typed, setTyped] = useState("");
  const [done, setDone] = useState(0);
  const source = useRef<Source>(online(deck));
  const looked = useRef(0);
  const working = useRef(false);
  const place = useRef<HTMLDivElement>(null);

  const show = async () => {
    const data = await source.current.next();
    setTyped("");
    setStep(data.card ? { kind: "front", data, since: Date.now() } : { kind: "none", data });
  };
  const next = async () => {
    if (source.current.isOffline && Date.now() - looked.current > LOOK_AGAIN_MS) {
      looked.current = Date.now();
      await send().then(() => ask("get-settings", {})).then(() => { source.current = online(deck); }, () => {});
    }
    await show();
  };
  /** One call at a time: a second key press must not rate the next card. */
  const run = async (work: () => Promise<void>) => {
    if (working.current) return;
    working.current = true;
    await work().catch(async (error: Error) => {
      if (!isUnreachable(error) || !(await kept())) return setStep({ kind: "error", error });
      source.current = onDevice();
      looked.current = Date.now();
      await show();
    });
    working.current = false;
  };
  const reveal = () => run(async () => {
    if (step.kind !== "front") return;
    const data = await source.current.reveal(step.data, typed);
    setStep({ kind: "back", data, front: step.data, since: step.since, asked: data.asked });
  });
  const rate = (rating: string) => run(async () => {
    if (step.kind !== "back") return;
    await source.current.rate(step.front, step.data, rating, Math.min(Date.now() - step.since, 3_600_000));
    await next().finally(() => setDone(done + 1));
  });
  const undo = () => run(async () => {
    await source.current.undo();
    await next().finally(() => setDone(Math.max(done - 1, 0)));
  });

  useEffect(() => void run(next), []);
  // Before the side is painted: a key pressed as soon as it shows must find this listener, not the
  // one of the side before.
  useLayoutEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const inField = event.target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT|AUDIO|VIDEO)$/.test(event.target.tagName);
      if (inField || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || document.querySelector("dialog[open]")) return;
      const isButton = event.target instanceof HTMLElement && /^(BUTTON|A|SUMMARY)$/.test(event.target.tagName);
      if (event.key === " " && !isButton && step.kind === "front") void reveal();
      else if (event.key === " " && !isButton && step.kind === "back") void rate("good");
      else if (/^[1-4]$/.test(event.key) && step.kind === "back") void rate(RATINGS[Number(event.key) - 1] as string);
      else if (event.key === "z") void undo();
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  });
  useEffect(() => {
    // A new side is read out, and space means the card rather than the button pressed before.
    if (step.kind === "back" || (step.kind === "front" && !step.data.card.typeAnswer)) place.current?.focus({ preventScroll: true });
  }, [step]);

  if (step.kind === "loading") return <Loading />;
  if (step.kind === "error") return <Problem error={step.error} again={() => void run(next)} />;
  const counts = step.kind === "back" ? step.front : step.data;
  return (
    <>
      {source.current.isOffline ? (
        <p role="status">{t(`No connection · cards on this device: ${counts.left} · reviews to send: ${counts.waiting}`, `ไม่มีการเชื่อมต่อ · มีบัตรในเครื่อง ${counts.left} ใบ · ผลทบทวนรอส่ง ${counts.waiting} ครั้ง`)}</p>
      ) : (
        <p class="quiet">{t(`${counts.new} new · ${counts.learning} learning · ${counts.reviews} to review · ${done} done now`, `ใหม่ ${counts.new} · กำลังเรียน ${counts.learning} · ทบทวน ${counts.reviews} · ทำแล้วรอบนี้ ${done}`)}</p>
      )}
      {step.kind === "none" ? (
        <Nothing data={step.data} done={done} />
      ) : step.kind === "front" ? (
        <>
          <div class="sheet" ref={place} tabIndex={-1} role="group" aria-label={t("Question", "คำถาม")}><Side text={step.data.card.front} html={step.data.card.frontHtml} media={[step.data.card.media as Media[]]} occlusion={step.data.card.occlusion} /></div>
          {step.data.card.typeAnswer && (
            <form onSubmit={(event) => { event.preventDefault(); void reveal(); }}>
              <Field label={t("Type the answer", "พิมพ์คำตอบ")}>{(id) => <input id={id} type="text" autocomplete="off" autoFocus value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />}</Field>
            </form>
          )}
          <p class="actions"><button type="button" class="strong" onClick={reveal}>{t("Show the answer", "แสดงคำตอบ")} <kbd>{t("space", "เว้นวรรค")}</kbd></button><Speak text={step.data.card.front} speech={step.data.card.speech} /></p>
        </>
      ) : (
        <>
          <div class="sheet" ref={place} tabIndex={-1} role="group" aria-label={t("Answer", "คำตอบ")}><Side text={step.data.back} html={step.data.backHtml} media={[step.data.media as Media[], step.front.card.media as Media[]]} occlusion={step.data.occlusion} answer /></div>
          {typeof step.data.typedRight === "boolean" && <p class={step.data.typedRight ? "up" : "down"} role="status">{step.data.typedRight ? `✓ ${t("What you typed is right.", "คำตอบที่พิมพ์ถูกต้อง")}` : `✗ ${t("What you typed differs.", "คำตอบที่พิมพ์ไม่ตรง")}`}</p>}
          <h2 id="how">{t("How well did you know it?", "จำได้ดีแค่ไหน")}</h2>
          <div class="ratings" role="group" aria-labelledby="how">
            {step.data.previews.map((preview: any) => <button key={preview.rating} type="button" onClick={() => rate(preview.rating)}><span><b>{ratingName(preview.rating)}</b> <kbd>{RATINGS.indexOf(preview.rating) + 1}</kbd></span><small>{preview.due && until(preview, step.asked)}</small></button>)}
          </div>
          <p class="actions"><Speak text={step.data.back} speech={step.data.speech} /></p>
        </>
      )}
      {(done > 0 || step.kind === "none") && <p class="actions"><button type="button" onClick={undo}>{t("Undo the last review", "ยกเลิกการทบทวนล่าสุด")} <kbd>z</kbd></button></p>}
    </>
  );
}

function Nothing({ data, done }: { data: any; done: number }) {
  if (data.drafts > 0 && !done) return <Empty title={t("Only drafts are here.", "มีแต่ฉบับร่าง")}><p><a href="#drafts">{t(`Look at ${data.drafts} drafts and approve the good ones`, `ตรวจฉบับร่าง ${data.drafts} ใบ และอนุมัติใบที่ดี`)}</a></p></Empty>;
  if (!data.cards) return <Empty title={t("There are no cards yet.", "ยังไม่มีบัตร")}><p><a href="#add">{t("Add a card", "เพิ่มบัตร")}</a></p></Empty>;
  return <Empty title={t("Done for now.", "เสร็จแล้วสำหรับตอนนี้")}>{data.nextAt && <p>{t(`The next card comes ${dateTime(data.nextAt, reader())} UTC.`, `บัตรถัดไปมาถึง ${dateTime(data.nextAt, reader())} UTC`)}</p>}</Empty>;
}

/** Reads a side aloud with the voices of the browser, where it has any: the fields that its template
    speaks, in their languages, else all of it. */
function Speak({ text, speech }: { text: string; speech?: { language: string; text: string }[] | undefined }) {
  if (!("speechSynthesis" in window)) return null;
  const all = { language: /[\u0e00-\u0e7f]/.test(text) ? "th_TH" : "en_GB", text: text.replace(/\[[^\]]*\]/g, " ") };
  const speak = () => {
    speechSynthesis.cancel();
    for (const part of speech?.length ? speech : [all]) {
      const utterance = new SpeechSynthesisUtterance(part.text);
      utterance.lang = part.language.replace("_", "-");
      speechSynthesis.speak(utterance);
    }
  };
  return <button type="button" onClick={speak}>{t("Read aloud", "อ่านออกเสียง")}</button>;
}

function ratingName(rating: string): string {
  const names: Record<string, string> = { again: t("Again", "อีกครั้ง"), hard: t("Hard", "ยาก"), good: t("Good", "ดี"), easy: t("Easy", "ง่าย") };
  return names[rating] ?? rating;
}

/** When the card would come back, in words. */
function until(preview: any, from: number): string {
  if (preview.intervalDays > 0) return t(`${preview.intervalDays} days`, `${preview.intervalDays} วัน`);
  const minutes = Math.max(1, Math.round((Date.parse(preview.due) - from) / 60_000));
  return minutes < 90 ? t(`${minutes} min`, `${minutes} นาที`) : t(`${Math.round(minutes / 60)} h`, `${Math.round(minutes / 60)} ชม.`);
}
