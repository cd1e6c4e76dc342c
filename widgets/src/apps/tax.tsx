// Tax: brokers' files in, what was understood and what needs a decision, then years, gains with
// the matching explained, the boxes of SA108 and the estimate. All figures are the tools'.

import { useRef, useState } from "preact/hooks";
import { report } from "../cgt/report";
import { ask } from "./client";
import { csv, download, Empty, Field, Problem, Rows, Sections, Shown, useSection, useTool, Wait } from "./parts";
import { t, useTab } from "./state";
import { Boxes } from "./tax_boxes";
import { Explain } from "./tax_explain";
import { pounds } from "./tax_format";
import { Plan } from "./tax_plan";

interface BrokerFile {
  name: string;
  /** The bytes as they are: the tool knows UTF-16, Windows-1252 and .xlsx. */
  content_base64: string;
}

export interface Records {
  /** Transactions in the text format of the tools. */
  text: string;
  count: number;
  warnings: string[];
  duplicates: any[];
  skipped: any[];
}

const EXAMPLE = `2023-05-02 BUY DGE 100 @ 35.00 GBP
2024-06-03 SELL DGE 50 @ 27.00 GBP
2024-06-20 BUY DGE 10 @ 26.00 GBP
2025-01-10 SELL DGE 20 @ 40.00 GBP FEES 5.00`;

export function Tax() {
  const [section, go] = useSection(["files", "gains", "boxes", "plan", "explain"]);
  const [records, setRecords] = useTab<Records | null>("tax.records", null);
  const names: [string, string][] = [
    ["files", t("Files", "ไฟล์")],
    ["gains", t("Gains by year", "กำไรรายปี")],
    ["boxes", t("Tax return", "แบบภาษี")],
    ["plan", t("Before 5 April", "ก่อน 5 เมษายน")],
    ["explain", t("Why this match?", "เหตุผลการจับคู่")],
  ];
  const needed = section !== "files" && !records?.text;
  return (
    <>
      <Sections label={t("Tax", "ภาษี")} names={names} now={section} />
      {section === "files" && <Files records={records} setRecords={setRecords} done={() => go("gains")} />}
      {needed && <Empty title={t("There are no transactions yet.", "ยังไม่มีรายการซื้อขาย")}><p><a href="#files">{t("Give your brokers' files first", "เริ่มจากให้ไฟล์ของโบรกเกอร์")}</a></p></Empty>}
      {section === "gains" && records?.text && <Gains text={records.text} />}
      {section === "boxes" && records?.text && <Boxes text={records.text} />}
      {section === "plan" && records?.text && <Plan text={records.text} />}
      {section === "explain" && records?.text && <Explain text={records.text} />}
    </>
  );
}

function Files({ records, setRecords, done }: { records: Records | null; setRecords: (records: Records | null) => void; done: () => void }) {
  const [files, setFiles] = useState<BrokerFile[]>([]);
  const [typed, setTyped] = useState(records?.text ?? "");
  const [error, fail] = useState<Error | null>(null);
  const [busy, setBusy] = useState(false);
  const [over, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);

  const read = async (all: BrokerFile[]) => {
    setFiles(all);
    setBusy(true);
    fail(null);
    try {
      const found = all.length ? await importAll(all) : null;
      setRecords(found);
      setTyped(found?.text ?? "");
    } catch (problem) {
      fail(problem as Error);
    }
    setBusy(false);
  };
  const add = async (list: FileList | null | undefined) => {
    const given = await Promise.all([...(list ?? [])].map(async (file) => ({ name: file.name, content_base64: await base64(file) })));
    const names = new Set(given.map((file) => file.name));
    if (given.length) await read([...files.filter((file) => !names.has(file.name)), ...given]);
  };
  const useTyped = async (text: string) => {
    fail(null);
    try {
      const { data } = await ask("parse_transactions", { cgt_content: text, limit: 1 });
      setRecords({ text, count: data.page?.total ?? data.count ?? text.split("\n").length, warnings: data.warnings ?? [], duplicates: [], skipped: [] });
      setTyped(text);
      return true;
    } catch (problem) {
      fail(problem as Error);
      return false;
    }
  };
  return (
    <>
      <div class={`drop${over ? " over" : ""}`} onDragOver={(event) => { event.preventDefault(); setOver(true); }} onDragLeave={() => setOver(false)} onDrop={(event) => { event.preventDefault(); setOver(false); void add(event.dataTransfer?.files); }}>
        <p><b>{t("Drop your brokers' files here", "วางไฟล์ของโบรกเกอร์ที่นี่")}</b></p>
        <p class="quiet">{t("CSV or Excel files of Schwab, Trading 212, Interactive Brokers, Freetrade, Vanguard, Hargreaves Lansdown and others; several files, in any order. They stay on this machine and this server.", "ไฟล์ CSV หรือ Excel ของ Schwab, Trading 212, Interactive Brokers, Freetrade, Vanguard, Hargreaves Lansdown และอื่น ๆ หลายไฟล์ ลำดับใดก็ได้ ไฟล์อยู่บนเครื่องนี้และเซิร์ฟเวอร์นี้เท่านั้น")}</p>
        <label class="unseen" for="files">{t("Choose files", "เลือกไฟล์")}</label>
        <input id="files" ref={input} type="file" multiple accept=".csv,.txt,.json,.xlsx,text/csv,text/plain" onChange={() => void add(input.current?.files)} />
      </div>
      {busy && <p role="status">{t("Reading the files…", "กำลังอ่านไฟล์…")}</p>}
      {files.length > 0 && (
        <ul class="list">
          {files.map((file) => (
            <li class="row" key={file.name}>
              <span class="grow">{file.name}</span>
              <button type="button" onClick={() => void read(files.filter((other) => other !== file))} aria-label={t(`Remove ${file.name}`, `นำออก ${file.name}`)}>{t("Remove", "นำออก")}</button>
            </li>
          ))}
        </ul>
      )}
      {error && <Problem error={error} />}
      {records && <Understood records={records} done={done} />}
      <details open={!records && !files.length}>
        <summary>{t("Or type the transactions", "หรือพิมพ์รายการ")}</summary>
        <form onSubmit={async (event) => { event.preventDefault(); if (await useTyped(typed)) done(); }}>
          <Field label={t("One transaction per line", "บรรทัดละหนึ่งรายการ")} hint={t("Date, BUY or SELL, share, quantity, @ price, currency, FEES", "วันที่ BUY หรือ SELL ชื่อหุ้น จำนวน @ ราคา สกุลเงิน FEES")}>{(id) => <textarea id={id} rows={6} spellcheck={false} value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />}</Field>
          <p class="actions">
            <button type="submit" class="strong" disabled={!typed.trim()}>{t("Work out the gains", "คำนวณกำไร")}</button>
            <button type="button" onClick={() => void useTyped(EXAMPLE)}>{t("Use an example", "ใช้ตัวอย่าง")}</button>
            {records && <button type="button" onClick={() => { setRecords(null); setFiles([]); setTyped(""); }}>{t("Start over", "เริ่มใหม่")}</button>}
          </p>
        </form>
      </details>
    </>
  );
}

async function base64(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  // In pieces: a call takes only so many arguments.
  for (let start = 0; start < bytes.length; start += 0x8000) text += String.fromCharCode(...bytes.subarray(start, start + 0x8000));
  return btoa(text);
}

/** All pages of an import, as one text. */
async function importAll(files: BrokerFile[]): Promise<Records> {
  const all: Records = { text: "", count: 0, warnings: [], duplicates: [], skipped: [] };
  let offset: number | null = 0;
  while (offset !== null) {
    const { data }: { data: any } = await ask("import_transactions", { files, ...(offset ? { offset } : {}) });
    all.text += (all.text ? "\n" : "") + data.cgt_content;
    all.count = data.count;
    if (offset === 0) Object.assign(all, { warnings: data.warnings, duplicates: data.duplicates, skipped: data.skipped });
    offset = data.page.next_offset;
  }
  return all;
}

/** What was read, and row by row what needs a decision. */
function Understood({ records, done }: { records: Records; done: () => void }) {
  const open = records.warnings.length + records.duplicates.length;
  const described = (one: any): string => (typeof one === "string" ? one : Object.entries(one).map(([name, value]) => `${name}: ${typeof value === "object" ? JSON.stringify(value) : value}`).join(" · "));
  return (
    <section aria-label={t("What was understood", "สิ่งที่อ่านได้")}>
      <h2 role="status">{t(`${records.count} transactions were understood`, `อ่านได้ ${records.count} รายการ`)}{open > 0 && ` · ${t(`to decide: ${open}`, `ต้องตัดสินใจ ${open} รายการ`)}`}</h2>
      {records.warnings.map((warning, place) => <div class="amber" key={place}><b>{t("Left out or unclear", "ไม่ได้นำเข้าหรือไม่ชัดเจน")}</b><p>{warning}</p></div>)}
      {records.duplicates.map((one, place) => <div class="amber" key={place}><b>{t("Stands in two files, counted once", "ซ้ำในสองไฟล์ นับครั้งเดียว")}</b><p>{described(one)}</p></div>)}
      {records.skipped.length > 0 && <details><summary>{t(`${records.skipped.length} kinds of rows have no effect on gains`, `${records.skipped.length} ชนิดแถวไม่มีผลต่อกำไร`)}</summary><ul>{records.skipped.map((one, place) => <li key={place}>{described(one)}</li>)}</ul></details>}
      {records.warnings.length > 0 && <p class="quiet">{t("Correct such rows below under “type the transactions”, or go on without them.", "แก้แถวเหล่านี้ด้านล่างใน “พิมพ์รายการ” หรือดำเนินการต่อโดยไม่รวม")}</p>}
      <p class="actions">
        <button type="button" class="strong" onClick={done}>{t("Show the gains", "แสดงกำไร")}</button>
        <button type="button" onClick={() => download("transactions.txt", records.text, "text/plain;charset=utf-8")}>{t("Save the transactions", "บันทึกรายการ")}</button>
      </p>
    </section>
  );
}

function Gains({ text }: { text: string }) {
  const whole = useTool("calculate_report", { cgt_content: text, detail: "summary" });
  const [error, fail] = useState<Error | null>(null);
  const save = async () => {
    try {
      const rows: any[] = [];
      let offset: number | null = 0;
      while (offset !== null) {
        const { data }: { data: any } = await ask("calculate_report", { cgt_content: text, offset });
        for (const year of data.tax_years) for (const sale of year.disposals ?? []) for (const match of sale.matches) rows.push([year.period, sale.date, sale.ticker, sale.quantity, sale.proceeds, match.rule, match.acquisition_date, match.quantity, match.allowable_cost, match.gain_or_loss]);
        offset = data.page?.next_offset ?? null;
      }
      download("capital-gains.csv", csv([["tax year", "sold", "share", "quantity", "proceeds GBP", "rule", "bought", "matched quantity", "allowable cost GBP", "gain or loss GBP"], ...rows]));
    } catch (problem) {
      fail(problem as Error);
    }
  };
  return (
    <>
      <Wait asked={whole}>
        {({ data }) => (
          <>
            <Rows
              caption={t("Tax years", "ปีภาษี")}
              unseenCaption={false}
              rows={data.tax_years}
              columns={[
                { name: t("Tax year", "ปีภาษี"), heads: true, cell: (year: any) => year.period },
                { name: t("Sales", "การขาย"), figure: true, cell: (year: any) => String(year.disposal_count) },
                { name: t("Gains", "กำไร"), figure: true, cell: (year: any) => pounds(year.total_gain) },
                { name: t("Losses", "ขาดทุน"), figure: true, cell: (year: any) => pounds(year.total_loss) },
                { name: t("Net gain", "กำไรสุทธิ"), figure: true, cell: (year: any) => pounds(year.net_gain) },
                { name: t("Taxable gain", "กำไรที่ต้องเสียภาษี"), figure: true, cell: (year: any) => pounds(year.taxable_gain) },
              ]}
            />
            {data.tax_years.length === 0 && <Empty title={t("Nothing was sold, so there is no gain yet.", "ยังไม่มีการขาย จึงยังไม่มีกำไร")} />}
            <p class="actions noprint"><button type="button" onClick={save}>{t("Download CSV", "ดาวน์โหลด CSV")}</button><button type="button" onClick={() => print()}>{t("Print or save as PDF", "พิมพ์หรือบันทึกเป็น PDF")}</button></p>
          </>
        )}
      </Wait>
      {error && <Problem error={error} />}
      <Shown views={{ calculate_report: report }} tool="calculate_report" input={{ cgt_content: text }} />
    </>
  );
}
