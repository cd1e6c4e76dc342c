// The safety check: patient, medicines and herbs on one side, what is recorded on the other.
// Colours follow the level that the tool reports; a missing record is grey, never green.

import { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { language } from "../console/settings";
import { complete, resource } from "./client";
import { colour, levelName } from "./herbs_levels";
import { Passage } from "./herbs_passage";
import { Field, useTool, Wait } from "./parts";
import { t, useTab } from "./state";

interface Patient {
  herbs: string[];
  drugs: string[];
  conditions: string[];
  age: string;
  pregnancy: boolean;
}

const nobody: Patient = { herbs: [], drugs: [], conditions: [], age: "", pregnancy: false };

export function SafetyCheck() {
  const [patient, setPatient] = useTab<Patient>("herbs.patient", nobody);
  const [asked, setAsked] = useTab<Record<string, unknown> | null>("herbs.check", null);
  const reply = useTool("find_contraindications", asked && { ...asked, lang: language() });
  const set = (part: Partial<Patient>) => setPatient((old) => ({ ...old, ...part }));
  const submit = (event: Event) => {
    event.preventDefault();
    const { herbs, drugs, conditions, age, pregnancy } = patient;
    setAsked({ herb_ids: herbs, limit: 100, ...(drugs.length ? { drugs } : {}), ...(conditions.length ? { conditions } : {}), ...(age ? { age: Number(age) } : {}), ...(pregnancy ? { pregnancy } : {}) });
  };
  return (
    <>
      <form onSubmit={submit}>
        <div class="two">
          <Names label={t("Herbs", "สมุนไพร")} hint={t("Thai, English or scientific name", "ชื่อไทย อังกฤษ หรือวิทยาศาสตร์")} values={patient.herbs} change={(herbs) => set({ herbs })} propose={(start) => complete("kg://herb/{id}", "id", start)} />
          <Names label={t("Medicines", "ยาที่ใช้อยู่")} hint={t("Generic names, such as warfarin", "ชื่อสามัญ เช่น วาร์ฟาริน")} values={patient.drugs} change={(drugs) => set({ drugs })} />
          <Names label={t("Conditions", "โรคประจำตัว")} hint={t("Such as diabetes, kidney disease", "เช่น เบาหวาน โรคไต")} values={patient.conditions} change={(conditions) => set({ conditions })} />
          <div class="fields">
            <Field label={t("Age in years", "อายุ (ปี)")}>{(id) => <input id={id} type="number" min={0} max={120} value={patient.age} onInput={(event) => set({ age: event.currentTarget.value })} />}</Field>
            <label class="check"><input type="checkbox" checked={patient.pregnancy} onChange={(event) => set({ pregnancy: event.currentTarget.checked })} />{t("Pregnant", "ตั้งครรภ์")}</label>
          </div>
        </div>
        <p class="actions">
          <button type="submit" class="strong" disabled={!patient.herbs.length}>{t("Check", "ตรวจสอบ")}</button>
          <button type="button" onClick={() => { setPatient(nobody); setAsked(null); }}>{t("Clear", "ล้าง")}</button>
        </p>
        {!patient.herbs.length && <p class="quiet">{t("Add at least one herb to check.", "เพิ่มสมุนไพรอย่างน้อยหนึ่งชนิด")}</p>}
      </form>
      <Wait asked={reply}>{({ data }) => <Findings data={data} />}</Wait>
    </>
  );
}

function Findings({ data }: { data: any }) {
  const [open, setOpen] = useState<any>(null);
  const results: any[] = data.results;
  const rank: Record<string, number> = { red: 0, amber: 1, grey: 2 };
  const sorted = (some: any[]) => [...some].sort((one, other) => (rank[colour(one.level)] ?? 3) - (rank[colour(other.level)] ?? 3));
  const mine = sorted(results.filter((one) => one.asked));
  const others = sorted(results.filter((one) => !one.asked));
  const names = useNames(results);
  const without: string[] = data.coverage.without_record;
  const row = (one: any, place: number): JSX.Element => (
    <div key={place} class={colour(one.level)}>
      <b>{levelName(one.level)}</b> · <button type="button" class="plain" onClick={() => setOpen({ uri: `kg://${one.type}/${one.entity_id}`, title: names[one.entity_id] ?? one.entity_id, span: one.contraindication, sources: one.sources, verified: one.verified })}>{names[one.entity_id] ?? one.entity_id}</button>
      <p>{one.contraindication}</p>
      <p class="src">{t("Strength", "ระดับหลักฐาน")}: {strengthName(one.strength)} · {one.evidence}</p>
    </div>
  );
  return (
    <section aria-label={t("Result of the check", "ผลการตรวจ")}>
      <h2 role="status">{mine.length ? t(`${mine.length} records concern this patient`, `พบ ${mine.length} รายการที่เกี่ยวกับผู้ป่วยรายนี้`) : t("No record concerns this patient", "ไม่พบบันทึกที่เกี่ยวกับผู้ป่วยรายนี้")}</h2>
      {mine.map(row)}
      <div class="grey">
        <b>{t("No record does not mean safe", "ไม่มีบันทึกไม่ได้แปลว่าปลอดภัย")}</b>
        <p>{t(`${data.coverage.pairs_with_record} of ${data.coverage.pairs} pairs of herb and medicine have a record.`, `มีบันทึก ${data.coverage.pairs_with_record} จาก ${data.coverage.pairs} คู่ของสมุนไพรกับยา`)}{without.length > 0 && ` ${t("Nothing is recorded on", "ไม่มีบันทึกของ")} ${without.join(", ")}.`}</p>
      </div>
      {others.length > 0 && <details><summary>{t(`${others.length} further records on these herbs`, `อีก ${others.length} รายการของสมุนไพรเหล่านี้`)}</summary>{others.map(row)}</details>}
      <p class="notice">{data.notice[language()]}</p>
      <p class="actions noprint"><button type="button" onClick={() => print()}>{t("Print", "พิมพ์")}</button></p>
      {open && <Passage citation={open} close={() => setOpen(null)} />}
    </section>
  );
}

/** Names of the herbs and formulations in the reader's language. */
function useNames(results: any[]): Record<string, string> {
  const [names, set] = useState<Record<string, string>>({});
  const uris = [...new Set(results.map((one) => `kg://${one.type}/${one.entity_id}`))].sort();
  useEffect(() => {
    for (const uri of uris)
      resource(uri).then(
        (content) => {
          const entry = JSON.parse(content.text);
          const name = entry.names?.[language()] ?? entry.names?.en;
          if (name) set((old) => ({ ...old, [entry.id]: name }));
        },
        // The id stays where the entry cannot be read.
        () => {},
      );
  }, [uris.join(), language()]);
  return names;
}

function strengthName(strength: string): string {
  const names: Record<string, string> = { high: t("high", "สูง"), moderate: t("moderate", "ปานกลาง"), low: t("low", "ต่ำ") };
  return names[strength] ?? strength;
}

/** A list of names, one added at a time; Enter adds, each has a button that removes it. */
function Names({ label, hint, values, change, propose }: { label: string; hint: string; values: string[]; change: (values: string[]) => void; propose?: (start: string) => Promise<string[]> }) {
  const [typed, setTyped] = useState("");
  const [proposed, setProposed] = useState<string[]>([]);
  const add = (name = typed) => {
    const names = name.split(/[,\n]/).map((one) => one.trim()).filter((one) => one && !values.includes(one));
    if (names.length) change([...values, ...names]);
    setTyped("");
    setProposed([]);
  };
  const input = (text: string) => {
    setTyped(text);
    if (propose && text.length > 1) void propose(text).then((found) => setProposed(found.slice(0, 8)));
    else setProposed([]);
  };
  return (
    <Field label={label} hint={hint}>
      {(id) => (
        <>
          <input id={id} type="text" autocomplete="off" value={typed} list={`${id}-list`} aria-describedby={`${id}-hint`} onInput={(event) => input(event.currentTarget.value)} onBlur={() => typed && add()} onKeyDown={(event) => { if (event.key === "Enter" && !event.isComposing && typed) { event.preventDefault(); add(); } }} />
          <datalist id={`${id}-list`}>{proposed.map((one) => <option key={one} value={one} />)}</datalist>
          {values.length > 0 && <ul class="pills" aria-label={label}>{values.map((one) => <li key={one}><button type="button" aria-label={t(`${one} ✕ remove`, `${one} ✕ นำออก`)} onClick={() => change(values.filter((other) => other !== one))}>{one} ✕</button></li>)}</ul>}
        </>
      )}
    </Field>
  );
}
