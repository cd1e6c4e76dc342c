// Herbs: a question with a cited answer, a safety check, and the page of a herb, formulation or
// paper. Dangers stand first, and the notice stands where it is read.

import { useEffect, useRef, useState } from "preact/hooks";
import { language } from "../console/settings";
import { graph } from "../ttm/graph";
import { colour, levelName } from "./herbs_levels";
import { Passage } from "./herbs_passage";
import { SafetyCheck } from "./herbs_safety";
import { Choice, Field, Sections, Shown, useSection, useTool, Wait } from "./parts";
import { t, useTab } from "./state";

export function Herbs() {
  const [section] = useSection(["ask", "safety", "graph"]);
  const names: [string, string][] = [
    ["ask", t("Ask", "ถาม")],
    ["safety", t("Safety check", "ตรวจความปลอดภัย")],
    ["graph", t("Relations", "ความสัมพันธ์")],
  ];
  return (
    <>
      <p class="notice">{t("Reference information, not medical advice. Ask a physician, a pharmacist or a practitioner of Thai traditional medicine before use.", "ข้อมูลเพื่ออ้างอิงเท่านั้น ไม่ใช่คำแนะนำทางการแพทย์ ควรปรึกษาแพทย์ เภสัชกร หรือแพทย์แผนไทยก่อนใช้")}</p>
      <Sections label={t("Herbs", "สมุนไพร")} names={names} now={section} />
      {section === "ask" && <Ask />}
      {section === "safety" && <SafetyCheck />}
      {section === "graph" && <Relations />}
    </>
  );
}

function Ask() {
  const examples = [
    t("May turmeric be taken with warfarin?", "ขมิ้นชันกินกับวาร์ฟารินได้ไหม"),
    t("What is turmeric used for?", "ขมิ้นชันใช้แก้อะไร"),
    t("Who must not take andrographis?", "ใครห้ามกินฟ้าทะลายโจร"),
  ];
  const [typed, setTyped] = useTab("herbs.typed", "");
  const [question, setQuestion] = useTab("herbs.question", "");
  const [open, setOpen] = useState<any>(null);
  const asked = useTool("rag_answer", question ? { question, lang: language() } : null);
  const answer = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (asked.reply) answer.current?.focus({ preventScroll: false });
  }, [asked.reply]);
  const submit = (event: Event) => {
    event.preventDefault();
    setQuestion(typed.trim());
  };
  return (
    <>
      <form onSubmit={submit}>
        <Field label={t("Your question", "คำถามของคุณ")}>{(id) => <textarea id={id} rows={2} required maxLength={500} value={typed} onInput={(event) => setTyped(event.currentTarget.value)} onKeyDown={(event) => { if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); event.currentTarget.form?.requestSubmit(); } }} />}</Field>
        <p class="actions"><button type="submit" class="strong">{t("Ask", "ถาม")}</button></p>
        {!question && <ul class="pills" aria-label={t("Questions to try", "ตัวอย่างคำถาม")}>{examples.map((one) => <li key={one}><button type="button" onClick={() => { setTyped(one); setQuestion(one); }}>{one}</button></li>)}</ul>}
      </form>
      <div ref={answer} tabIndex={-1}>
        <Wait asked={asked}>{({ data }) => <Answer data={data} open={setOpen} />}</Wait>
      </div>
      {open && <Passage citation={open} close={() => setOpen(null)} />}
    </>
  );
}

function Answer({ data, open }: { data: any; open: (citation: any) => void }) {
  const cite = (number: number) => {
    const found = data.citations.find((one: any) => one.number === number);
    return found && <button key={number} type="button" class="cite" aria-label={t(`Source ${number}: ${found.title}`, `แหล่งที่ ${number}: ${found.title}`)} onClick={() => open(found)}>{number}</button>;
  };
  const dangers: any[] = [...(data.dangers ?? [])].sort((one, other) => Number(other.asked) - Number(one.asked));
  const facts: any[] = data.sentences.filter((one: any) => one.role !== "danger");
  return (
    <section class="answer" aria-label={t("Answer", "คำตอบ")}>
      {data.emergency && <div class="red" role="alert"><h2>{t("Emergency", "เหตุฉุกเฉิน")}</h2><p class="big">{data.emergency.call.map((number: string) => <a key={number} href={`tel:${number}`}>{t("Call", "โทร")} {number}</a>)}</p><p>{data.emergency.told}</p></div>}
      {dangers.length > 0 && <h2 class="danger">{t("Dangers", "อันตรายและข้อควรระวัง")}</h2>}
      {dangers.map((danger, place) => (
        <div key={place} class={colour(danger.level)}>
          <b>{levelName(danger.level)}: {danger.title}</b>
          <p>{danger.span} {danger.number ? cite(danger.number) : null}</p>
          {!danger.verified && <p class="src">{t("not verified", "ยังไม่ตรวจสอบ")}</p>}
        </div>
      ))}
      {facts.length > 0 && <h2>{t("Answer", "คำตอบ")}</h2>}
      {facts.map((sentence, place) => <p key={place}>{sentence.role === "contradiction" && <b>{t("Sources differ: ", "แหล่งข้อมูลขัดแย้งกัน: ")}</b>}{sentence.text} {sentence.citations.map(cite)}</p>)}
      {data.withheld && (
        <div class="grey">
          <b>{t("No answer is given", "ไม่ให้คำตอบ")}</b>
          <ul>{data.withheld.told.map((why: string) => <li key={why}>{why}</li>)}</ul>
          <p>{t("Name a herb, a formulation or a medicine, or ask in other words.", "ลองระบุชื่อสมุนไพร ตำรับ หรือยา หรือถามด้วยคำอื่น")}</p>
        </div>
      )}
      {data.gaps.length > 0 && !data.withheld && <div class="grey"><b>{t("Not in the data", "ไม่มีในข้อมูล")}</b><ul>{data.gaps.map((gap: string) => <li key={gap}>{gap}</li>)}</ul></div>}
      {data.citations.length > 0 && (
        <>
          <h2>{t("Sources", "แหล่งข้อมูล")}</h2>
          <ol class="list">
            {data.citations.map((one: any) => <li key={one.number} class="row"><span class="badge">{one.number}</span><span class="grow"><button type="button" class="plain" onClick={() => open(one)}>{one.title}</button><br /><span class="src">{one.sources.join(", ")}</span></span>{!one.verified && <span class="badge">{t("not verified", "ยังไม่ตรวจสอบ")}</span>}</li>)}
          </ol>
        </>
      )}
      <p class="notice">{data.notice[language()]}</p>
    </section>
  );
}

/** Kinds of things that the knowledge graph holds. */
const kinds = (): [string, string][] => [
  ["herb", t("Herb", "สมุนไพร")],
  ["formulation", t("Formulation", "ตำรับ")],
  ["constituent", t("Constituent", "สารสำคัญ")],
  ["indication", t("Indication", "ข้อบ่งใช้")],
  ["caution", t("Caution", "ข้อควรระวัง")],
  ["drug", t("Medicine", "ยา")],
  ["paper", t("Paper", "งานวิจัย")],
];

interface Relation {
  type: string;
  id: string;
  to: string;
}

function Relations() {
  const [form, setForm] = useTab<Relation>("herbs.relation", { type: "herb", id: "", to: "constituent" });
  const [shown, show] = useTab<Relation | null>("herbs.shownRelation", null);
  return (
    <>
      <form onSubmit={(event) => { event.preventDefault(); show({ ...form, id: form.id.trim() }); }}>
        <div class="fields">
          <Choice label={t("Start from", "เริ่มจาก")} value={form.type} options={kinds()} choose={(type) => setForm({ ...form, type })} />
          <Field label={t("Name", "ชื่อ")}>{(id) => <input id={id} type="text" required maxLength={200} value={form.id} placeholder={t("turmeric", "ขมิ้นชัน")} onInput={(event) => setForm({ ...form, id: event.currentTarget.value })} />}</Field>
          <Choice label={t("Show", "แสดง")} value={form.to} options={kinds()} choose={(to) => setForm({ ...form, to })} />
        </div>
        <p class="actions"><button type="submit" class="strong">{t("Show relations", "แสดงความสัมพันธ์")}</button></p>
      </form>
      {shown && <Shown views={{ query_kg: graph }} tool="query_kg" input={{ start: { type: shown.type, id: shown.id }, pattern: `${shown.type}--${shown.to}`, filters: { lang: language() } }} />}
    </>
  );
}
