// Import of documents: what a document would add, before it is added; jobs with their progress; what
// was read, with page and quote; and the way back.

import { useEffect, useState } from "preact/hooks";
import { dateTime, number } from "../common/format";
import { ask } from "./client";
import { levelName } from "./herbs_levels";
import { Choice, Empty, Field, Problem, useTool, Wait } from "./parts";
import { reader, t, useTab } from "./state";

/** Seconds that a call waits for its job; the page asks again while the job goes on. */
const WAIT = 5;
const ASK_AGAIN_MS = 1_500;

interface Batch {
  uri: string;
  lang: string;
  doc_type: string;
}

export function Import() {
  const [path, setPath] = useTab("herbs.path", "");
  const [lang, setLang] = useTab("herbs.documentLang", "auto");
  const [job, setJob] = useTab<string | null>("herbs.job", null);
  const [busy, setBusy] = useState(false);
  const [error, fail] = useState<Error | null>(null);
  const jobs = useTool("ingest_jobs", {});
  const begin = async (input: Record<string, unknown>) => {
    setBusy(true);
    fail(null);
    try {
      const { data } = await ask("ingest_run", { ...input, wait_seconds: WAIT });
      setJob(data.job_id);
      jobs.again();
    } catch (problem) {
      fail(problem as Error);
    }
    setBusy(false);
  };
  const batch = (): Batch[] => path.split("\n").map((line) => line.trim()).filter(Boolean).map((line) => ({ uri: uriOf(line), lang, doc_type: /\.(txt|md|text)$/i.test(line) ? "text" : "pdf" }));
  return (
    <>
      <p>{t("Statements about herbs are read from your documents, each with its page and quote. They count as not verified, and nothing is added before you have seen it.", "ระบบอ่านข้อความเกี่ยวกับสมุนไพรจากเอกสารของคุณ พร้อมเลขหน้าและข้อความอ้างอิง ข้อมูลถือว่ายังไม่ตรวจสอบ และจะไม่เพิ่มจนกว่าคุณจะได้เห็นก่อน")}</p>
      <form onSubmit={(event) => { event.preventDefault(); void begin({ dry_run: true, batch: batch() }); }}>
        <Field label={t("Documents, one per line", "เอกสาร บรรทัดละหนึ่งไฟล์")} hint={t("PDF or text files on the machine that runs Panoply, in `ttm/inbox` of its home folder or in a folder that its settings allow.", "ไฟล์ PDF หรือข้อความบนเครื่องที่เปิด Panoply ในโฟลเดอร์ `ttm/inbox` หรือโฟลเดอร์ที่ตั้งค่าอนุญาตไว้")}>
          {(id) => <textarea id={id} rows={2} required spellcheck={false} placeholder="/home/me/books/herbs.pdf" value={path} onInput={(event) => setPath(event.currentTarget.value)} />}
        </Field>
        <div class="fields"><Choice label={t("Language of the documents", "ภาษาของเอกสาร")} value={lang} options={[["auto", t("Found by itself", "ตรวจหาอัตโนมัติ")], ["th", t("Thai", "ไทย")], ["en", t("English", "อังกฤษ")]]} choose={setLang} /></div>
        <p class="actions"><button type="submit" class="strong" disabled={busy}>{busy ? t("Reading…", "กำลังอ่าน…") : t("Show what it would add", "ดูว่าจะเพิ่มอะไร")}</button></p>
      </form>
      {error && <Problem error={error} />}
      {job && <JobReport key={job} id={job} add={(hash) => void begin({ dry_run: false, batch: batch(), plan_hash: hash })} adding={busy} canAdd={path.trim() !== ""} changed={jobs.again} />}
      <h2>{t("Jobs", "งานนำเข้า")}</h2>
      <Wait asked={jobs}>
        {({ data }) =>
          data.jobs.length ? (
            <ul class="list">
              {data.jobs.map((one: any) => (
                <li class="row" key={one.job_id}>
                  <span class="grow"><button type="button" class="plain" onClick={() => setJob(one.job_id)}>{titleOf(one)}</button><br /><span class="quiet">{dateTime(one.created, reader())} UTC</span></span>
                  <span class="badge">{statusOf(one)}</span>
                </li>
              ))}
            </ul>
          ) : (
            <Empty title={t("No document was imported yet.", "ยังไม่มีเอกสารที่นำเข้า")} />
          )
        }
      </Wait>
    </>
  );
}

/** A path as people write it, or a URI as it is. */
const uriOf = (line: string): string => (/^[a-z]+:\/\//i.test(line) ? line : `file://${line.startsWith("/") ? "" : "/"}${line.replace(/\\/g, "/").split("/").map(encodeURIComponent).join("/")}`);

const isOver = (job: any): boolean => job.status === "done" || job.status === "error";

const titleOf = (job: any): string => job.report?.documents?.map((one: any) => one.name).join(", ") || job.report?.already?.map((one: any) => one.name ?? one).join(", ") || job.job_id.slice(0, 10);

function statusOf(job: any): string {
  const details: Record<string, string> = { rolled_back: t("taken out again", "นำออกแล้ว"), cancelled: t("cancelled", "ยกเลิกแล้ว"), interrupted: t("interrupted", "ถูกขัดจังหวะ"), unchanged: t("was already there", "มีอยู่แล้ว") };
  if (job.detail && details[job.detail]) return details[job.detail] as string;
  const states: Record<string, string> = { queued: t("waiting", "รอคิว"), running: t("reading", "กำลังอ่าน"), error: t("failed", "ล้มเหลว"), done: job.dry_run ? t("preview, nothing added", "ตัวอย่าง ยังไม่เพิ่ม") : t("added", "เพิ่มแล้ว") };
  return states[job.status] ?? job.status;
}

interface JobProps {
  id: string;
  add: (planHash: string) => void;
  adding: boolean;
  canAdd: boolean;
  changed: () => void;
}

function JobReport({ id, add, adding, canAdd, changed }: JobProps) {
  const asked = useTool("ingest_jobs", { job_id: id });
  const [error, fail] = useState<Error | null>(null);
  const job = asked.reply?.data?.jobs?.[0];
  useEffect(() => {
    if (!job || isOver(job)) return;
    const timer = setTimeout(asked.again, ASK_AGAIN_MS);
    return () => clearTimeout(timer);
  }, [asked.reply]);
  useEffect(() => {
    if (job && isOver(job)) changed();
  }, [job?.status, job?.detail]);
  const undo = async () => {
    try {
      await ask("ingest_undo", { job_id: id });
      asked.again();
      changed();
    } catch (problem) {
      fail(problem as Error);
    }
  };
  return (
    <Wait asked={asked}>
      {({ data }) => {
        const one = data.jobs[0];
        const report = one.report;
        const isAdded = one.status === "done" && !one.dry_run && !one.detail;
        return (
          <section aria-label={t("Job", "งานนำเข้า")} class="job">
            <h2>{titleOf(one)} <span class="badge">{statusOf(one)}</span></h2>
            {!isOver(one) && <p role="status"><progress max={Math.max(one.progress.pages, 1)} value={one.progress.pages_done} aria-label={t("Pages read", "หน้าที่อ่านแล้ว")} /> {t(`${one.progress.pages_done} of ${one.progress.pages} pages`, `${one.progress.pages_done} จาก ${one.progress.pages} หน้า`)}</p>}
            {one.error && <div class="failure" role="alert"><p><b>{one.error.message}</b></p><p class="quiet">{one.error.hint}</p></div>}
            {error && <Problem error={error} />}
            {report && <Findings report={report} preview={one.dry_run} />}
            <p class="actions">
              {one.status === "done" && one.dry_run && one.plan_hash && canAdd && <button type="button" class="strong" disabled={adding} onClick={() => add(one.plan_hash)}>{adding ? t("Adding…", "กำลังเพิ่ม…") : t("Add this", "เพิ่มข้อมูลนี้")}</button>}
              {isAdded && <button type="button" onClick={() => void undo()}>{t("Take it out again", "นำออก")}</button>}
              {!isOver(one) && <button type="button" onClick={() => void undo()}>{t("Cancel", "ยกเลิก")}</button>}
            </p>
          </section>
        );
      }}
    </Wait>
  );
}

function Findings({ report, preview }: { report: any; preview: boolean }) {
  const { counts } = report;
  const count = (value: number) => number(value, reader(), 0);
  const documents: any[] = report.documents ?? [];
  const pageOf = (fact: any) => t(`page ${count(fact.said.page)}`, `หน้า ${count(fact.said.page)}`);
  const nameOf = (fact: any) => documents.find((one) => one.id === fact.said.document)?.name ?? "";
  return (
    <>
      {(report.already ?? []).length > 0 && <p>{t("Already imported; nothing new.", "นำเข้าแล้ว ไม่มีข้อมูลใหม่")}</p>}
      {counts && (
        <p role="status">
          {preview ? t(`Would add ${count(counts.facts)} statements, ${count(counts.new)} of them new.`, `จะเพิ่ม ${count(counts.facts)} ข้อความ เป็นข้อมูลใหม่ ${count(counts.new)} ข้อความ`) : t(`${count(counts.facts)} statements, ${count(counts.new)} of them new.`, `${count(counts.facts)} ข้อความ เป็นข้อมูลใหม่ ${count(counts.new)} ข้อความ`)}
          {counts.denied > 0 && ` ${t(`${count(counts.denied)} statements deny something and are left out.`, `ข้อความปฏิเสธ ${count(counts.denied)} ข้อความไม่ถูกนำเข้า`)}`}
        </p>
      )}
      {documents.map((one) => (
        <p key={one.id} class={one.poses_as_official ? "amber" : "quiet"}>{one.title} · {t(`${count(one.pages)} pages`, `${count(one.pages)} หน้า`)}{one.poses_as_official && ` · ${t("claims to be an official source; it is not one of ours", "อ้างว่าเป็นแหล่งทางการ แต่ไม่ใช่แหล่งที่ระบบรับรอง")}`}</p>
      ))}
      {(report.unreadable ?? []).length > 0 && <p class="amber">{t("Pages that could not be read:", "หน้าที่อ่านไม่ได้:")} {report.unreadable.map((one: any) => one.page ?? one).join(", ")}</p>}
      {(report.facts ?? []).length > 0 && (
        <ul class="list" aria-label={t("Statements", "ข้อความที่พบ")}>
          {report.facts.map((fact: any, place: number) => <Fact key={place} fact={fact} where={`${nameOf(fact)}, ${pageOf(fact)}`} />)}
        </ul>
      )}
      {(report.unsure ?? []).length > 0 && (
        <>
          <h3>{t("Not certain enough; left out", "ไม่แน่ใจพอ จึงไม่เพิ่ม")}</h3>
          <ul class="list">{report.unsure.map((fact: any, place: number) => <Fact key={place} fact={fact} where={`${nameOf(fact)}, ${pageOf(fact)}`} />)}</ul>
        </>
      )}
    </>
  );
}

/** `H:holy-basil` as people write it, and a group of patients in words. */
function plain(id: string): string {
  const groups: Record<string, string> = { PREG: t("pregnancy", "หญิงตั้งครรภ์"), LACT: t("breastfeeding", "หญิงให้นมบุตร"), CHILD: t("children", "เด็ก") };
  return groups[id] ?? id.replace(/^[A-Z]+:/, "").replace(/-/g, " ");
}

/** A statement: what it says, the sentence that says it, and where that stands. */
function Fact({ fact, where }: { fact: any; where: string }) {
  const { says, level, ...about } = fact.claim;
  const target = Object.values(about).filter((value) => typeof value === "string").map((value) => plain(value as string)).join(", ");
  const verbs: Record<string, string> = { holds: t("contains", "มีสาร"), warns: level ? levelName(level) : t("warns of", "เตือนเรื่อง"), used_for: t("is used for", "ใช้สำหรับ"), interacts_with: t("interacts with", "มีปฏิกิริยากับ") };
  return (
    <li class="row">
      <span class="grow"><b>{plain(fact.subject)}</b> · {verbs[says] ?? says} · {target}<br /><q>{fact.said.quote}</q><br /><span class="src">{where} · {t(`certainty ${fact.said.certainty} %`, `ความแน่ใจ ${fact.said.certainty} %`)}</span></span>
      <span class="badge">{fact.known ? t("known", "มีอยู่แล้ว") : t("new", "ใหม่")}</span>
    </li>
  );
}
