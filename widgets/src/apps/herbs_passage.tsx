// The passage behind a citation: what was quoted, and the whole entry that it comes from.

import { useEffect, useRef, useState } from "preact/hooks";
import { resource } from "./client";
import { Loading, Problem } from "./parts";
import { t } from "./state";

export function Passage({ citation, close }: { citation: any; close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [entry, setEntry] = useState<any>(null);
  const [error, fail] = useState<Error | null>(null);
  useEffect(() => {
    dialog.current?.showModal();
    resource(citation.uri).then((content) => setEntry(parse(content?.text)), fail);
  }, [citation.uri]);
  return (
    <dialog ref={dialog} class="broad" aria-labelledby="passage" onClose={close}>
      <h2 id="passage">{citation.title}</h2>
      {citation.span && <blockquote class="grey">{citation.span}</blockquote>}
      <p class="src">{(citation.sources ?? []).join(", ")} · {citation.verified ? t("verified against the source", "ตรวจสอบกับแหล่งแล้ว") : t("not verified", "ยังไม่ตรวจสอบ")}</p>
      {error ? <Problem error={error} /> : entry ? <Entry entry={entry} /> : <Loading />}
      <p class="actions"><button type="button" onClick={() => dialog.current?.close()}>{t("Close", "ปิด")}</button></p>
    </dialog>
  );
}

function parse(text: string | undefined): any {
  try {
    return JSON.parse(text ?? "");
  } catch {
    return { text };
  }
}

/** A herb, formulation, paper or document, in words where the field is known. */
function Entry({ entry }: { entry: any }) {
  const facts: [string, unknown][] = [
    [t("Thai name", "ชื่อไทย"), entry.names?.th],
    [t("English name", "ชื่ออังกฤษ"), entry.names?.en],
    [t("Scientific name", "ชื่อวิทยาศาสตร์"), entry.scientific],
    [t("Family", "วงศ์"), entry.family],
    [t("Also called", "ชื่ออื่น"), entry.synonyms],
    [t("Parts used", "ส่วนที่ใช้"), entry.parts],
    [t("Herbs", "สมุนไพร"), (entry.herbs ?? entry.ingredients)?.map((one: any) => one.name ?? one.id ?? one)],
    [t("Constituents", "สารสำคัญ"), entry.constituents?.map((one: any) => one.name)],
    [t("Used for", "ข้อบ่งใช้"), entry.indications?.map((one: any) => one.description ?? one.indication ?? one)],
    [t("Title", "ชื่อเรื่อง"), entry.title],
    [t("Journal", "วารสาร"), entry.journal],
    [t("Year", "ปี"), entry.year],
    [t("Abstract", "บทคัดย่อ"), entry.abstract ?? entry.text],
  ];
  const shown = facts.filter(([, value]) => value !== undefined && value !== null && value !== "" && !(Array.isArray(value) && !value.length));
  const dangers: any[] = entry.contraindications ?? [];
  return (
    <>
      {dangers.length > 0 && <h3>{t("Cautions", "ข้อห้ามและข้อควรระวัง")}</h3>}
      {dangers.map((one, place) => <div key={place} class={one.level === "contraindicated" ? "red" : "amber"}><p>{one.contraindication}</p><p class="src">{one.evidence}</p></div>)}
      <dl class="facts">{shown.map(([name, value]) => [<dt key={`${name}-t`}>{name}</dt>, <dd key={`${name}-d`}>{Array.isArray(value) ? value.map(String).join(" · ") : String(value)}</dd>])}</dl>
    </>
  );
}
