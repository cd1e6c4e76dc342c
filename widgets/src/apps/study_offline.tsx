// What is kept on this device for study without a connection.

import { useEffect, useState } from "preact/hooks";
import { dateTime } from "../common/format";
import { isUnreachable } from "./client";
import { keep, Kept, kept, remove, send, Sent, waiting } from "./study_device";
import { Problem } from "./parts";
import { reader, t } from "./state";

/** Sends what waits and takes the cards of now along, if cards are kept here. */
export function useSync(): void {
  useEffect(() => {
    const sync = async () => {
      if ((await waiting()).length) await send();
      if (await kept()) await keep();
    };
    const quietly = () => void sync().catch(() => {});
    quietly();
    addEventListener("online", quietly);
    return () => removeEventListener("online", quietly);
  }, []);
}

export function OfflinePanel() {
  const [here, setHere] = useState<Kept | undefined>();
  const [queue, setQueue] = useState(0);
  const [progress, setProgress] = useState("");
  const [sent, setSent] = useState<Sent | null>(null);
  const [error, fail] = useState<Error | null>(null);
  const look = async () => {
    setHere(await kept());
    setQueue((await waiting()).length);
  };
  useEffect(() => void look(), []);
  const run = async (work: () => Promise<unknown>) => {
    fail(null);
    await work().catch(fail);
    setProgress("");
    await look();
  };
  const take = () => run(() => keep((done, all) => setProgress(t(`${done} of ${all} cards`, `${done} จาก ${all} ใบ`))));
  const sendNow = () => run(async () => setSent(await send()));
  const drop = () => {
    const question = t(`Reviews that were not sent and would be lost: ${queue}. Remove them all the same?`, `มีผลทบทวน ${queue} ครั้งที่ยังไม่ได้ส่งและจะหายไป ต้องการลบหรือไม่`);
    if (!queue || confirm(question)) void run(remove);
  };
  // Browsers keep nothing for pages that came over an open network.
  if (!isSecureContext || !("indexedDB" in window)) return null;
  return (
    <section class="card" aria-labelledby="offline">
      <h2 id="offline">{t("Without a connection", "ใช้งานแบบออฟไลน์")}</h2>
      {here ? (
        <p>{t(`Cards on this device: ${here.cards.length}, as of ${dateTime(here.at, reader())} UTC.`, `มีบัตร ${here.cards.length} ใบในเครื่องนี้ ณ ${dateTime(here.at, reader())} UTC`)}</p>
      ) : (
        <p>{t("Keep today's cards on this device, and study them on the train. Anyone who uses this browser can read them.", "เก็บบัตรของวันนี้ไว้ในเครื่อง เพื่อทบทวนเมื่อไม่มีอินเทอร์เน็ต ผู้ที่ใช้เบราว์เซอร์นี้จะอ่านบัตรได้")}</p>
      )}
      {queue > 0 && <p role="status">{t(`Reviews to send: ${queue}`, `ผลทบทวน ${queue} ครั้งรอส่ง`)}</p>}
      {sent && <p role="status">✓ {t(`Reviews sent: ${sent.recorded}`, `ส่งผลทบทวนแล้ว ${sent.recorded} ครั้ง`)}</p>}
      {sent && sent.foreign > 0 && <p role="alert">{t(`Reviews of another person, who has to sign in to send them: ${sent.foreign}`, `ผลทบทวน ${sent.foreign} ครั้งเป็นของผู้ใช้อื่น ให้ผู้นั้นลงชื่อเข้าใช้เพื่อส่ง`)}</p>}
      {sent?.failed.map((reason) => <p role="alert" class="down">{reason}</p>)}
      <p class="actions">
        {queue > 0 && <button type="button" class="strong" onClick={sendNow}>{t("Send now", "ส่งเดี๋ยวนี้")}</button>}
        {here && <button type="button" class={queue ? "" : "strong"} onClick={() => (location.hash = "review")}>{t("Review", "ทบทวน")}</button>}
        <button type="button" onClick={take}>{here ? t("Renew the cards", "ปรับบัตรให้เป็นปัจจุบัน") : t("Keep on this device", "เก็บไว้ในเครื่องนี้")}</button>
        {here && <button type="button" onClick={drop}>{t("Remove from this device", "ลบออกจากเครื่องนี้")}</button>}
        {progress && <span role="status">{progress}</span>}
      </p>
      {error && (isUnreachable(error) && here ? <p role="alert">{t("There is no connection now.", "ไม่มีการเชื่อมต่อในขณะนี้")}</p> : <Problem error={error} />)}
    </section>
  );
}
