// All cards: Anki's search, and an editor for the card that was chosen.

import { useState } from "preact/hooks";
import { dateTime } from "../common/format";
import { ask } from "./client";
import { Choice, Empty, Field, Problem, useTool, Wait } from "./parts";
import { reader, t, useTab } from "./state";

export function Browser() {
  const [query, setQuery] = useTab<string>("study.query", "");
  const [typed, setTyped] = useState(query);
  const [order, setOrder] = useTab<string>("study.order", "created");
  const [chosen, choose] = useState<string | null>(null);
  const [limit, setLimit] = useState(50);
  const found = useTool("search-cards", { query, sortBy: order, limit });
  const search = (event: Event) => {
    event.preventDefault();
    setLimit(50);
    setQuery(typed.trim());
  };
  if (chosen) return <Editor key={chosen} id={chosen} close={() => { choose(null); found.again(); }} />;
  return (
    <>
      <form class="fields" onSubmit={search} role="search">
        <Field label={t("Search as in Anki", "ค้นหาแบบ Anki")} hint="deck:Thai tag:verb is:due -is:suspended prop:lapses>3">{(id) => <input id={id} type="search" maxLength={500} value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />}</Field>
        <Choice label={t("Order", "เรียงตาม")} value={order} choose={setOrder} options={[["created", t("Oldest first", "เก่าก่อน")], ["due", t("Due first", "ถึงกำหนดก่อน")], ["modified", t("Last changed", "แก้ไขล่าสุด")], ["difficulty", t("Hardest first", "ยากก่อน")], ["lapses", t("Most forgotten", "ลืมบ่อย")]]} />
        <p class="actions"><button type="submit" class="strong">{t("Search", "ค้นหา")}</button></p>
      </form>
      <Wait asked={found}>
        {({ data }) => {
          const cards: any[] = data.data.cards;
          if (!cards.length) return <Empty title={t("No card matches.", "ไม่พบบัตร")}><p>{t("An empty search shows every card.", "เว้นว่างเพื่อดูบัตรทั้งหมด")}</p></Empty>;
          return (
            <>
              <p class="quiet" role="status">{t(`${cards.length} of ${data.data.total} cards`, `${cards.length} จาก ${data.data.total} ใบ`)}</p>
              <ul class="list">
                {cards.map((card) => (
                  <li class="row" key={card.cardId}>
                    <div class="grow">
                      <b>{card.front}</b>
                      <div class="quiet">{[card.deck, stateName(card.schedule.state), ...card.tags.map((tag: string) => `#${tag}`)].join(" · ")}</div>
                    </div>
                    <button type="button" onClick={() => choose(card.cardId)} aria-label={t(`Edit ${card.front}`, `แก้ไข ${card.front}`)}>{t("Edit", "แก้ไข")}</button>
                  </li>
                ))}
              </ul>
              {cards.length < data.data.total && limit < 200 && <p class="actions"><button type="button" onClick={() => setLimit(limit + 50)}>{t("Show more", "แสดงเพิ่ม")}</button></p>}
            </>
          );
        }}
      </Wait>
    </>
  );
}

function Editor({ id, close }: { id: string; close: () => void }) {
  const card = useTool("get-card", { cardId: id });
  const [changed, setChanged] = useState<Record<string, string>>({});
  const [tags, setTags] = useState<string | null>(null);
  const [said, say] = useState("");
  const [error, fail] = useState<Error | null>(null);
  const act = (tool: string, input: Record<string, unknown>, words: string, leave = false) =>
    ask(tool, input).then(() => { fail(null); say(words); setChanged({}); setTags(null); if (leave) close(); else card.again(); }, (problem) => { say(""); fail(problem); });
  return (
    <>
      <button type="button" class="back" onClick={close}>‹ {t("All cards", "บัตรทั้งหมด")}</button>
      <Wait asked={card}>
        {({ data: { data } }) => {
          const save = (event: Event) => {
            event.preventDefault();
            const list = tags === null ? {} : { tags: tags.split(/[\s,]+/).filter(Boolean) };
            // The version that was read: what an agent changed meanwhile is not overwritten.
            void act("update-card", { cardId: id, version: data.version, ...(Object.keys(changed).length ? { fields: changed } : {}), ...list }, t("Saved.", "บันทึกแล้ว"));
          };
          const suspended = data.schedule.state === "suspended";
          return (
            <form onSubmit={save}>
              <p class="quiet">{data.deckName} · {data.noteType} · {stateName(data.schedule.state)}{data.schedule.due && ` · ${t("due", "ถึงกำหนด")} ${dateTime(data.schedule.due, reader())}`} · {t(`${data.schedule.reviews} reviews, ${data.schedule.lapses} forgotten`, `ทบทวน ${data.schedule.reviews} ครั้ง ลืม ${data.schedule.lapses} ครั้ง`)}</p>
              {Object.entries(data.fields as Record<string, string>).map(([name, value]) => (
                <Field key={name} label={name}>{(place) => <textarea id={place} rows={3} value={changed[name] ?? value} onInput={(event) => setChanged({ ...changed, [name]: event.currentTarget.value })} />}</Field>
              ))}
              <Field label={t("Tags, separated by spaces", "แท็ก คั่นด้วยช่องว่าง")}>{(place) => <input id={place} type="text" value={tags ?? data.tags.join(" ")} onInput={(event) => setTags(event.currentTarget.value)} />}</Field>
              <p class="actions">
                <button type="submit" class="strong" disabled={!Object.keys(changed).length && tags === null}>{t("Save", "บันทึก")}</button>
                <button type="button" onClick={() => act(suspended ? "unsuspend-cards" : "suspend-cards", { cardIds: [id] }, suspended ? t("The card is studied again.", "กลับมาทบทวนบัตรนี้แล้ว") : t("The card is suspended.", "พักบัตรนี้แล้ว"))}>{suspended ? t("Study it again", "กลับมาทบทวน") : t("Suspend", "พักไว้")}</button>
                <button type="button" onClick={() => act("delete-cards", { cardIds: [id] }, t("Deleted.", "ลบแล้ว"), true)}>{t("Delete", "ลบ")}</button>
              </p>
              <p role="status">{said}</p>
              {error && <Problem error={error} again={() => { setChanged({}); setTags(null); fail(null); card.again(); }} />}
              {data.source && <p class="quiet">{t("Source", "ที่มา")}: {data.source}</p>}
            </form>
          );
        }}
      </Wait>
    </>
  );
}

function stateName(state: string): string {
  const names: Record<string, string> = { new: t("new", "ใหม่"), learning: t("learning", "กำลังเรียน"), relearning: t("relearning", "เรียนซ้ำ"), review: t("review", "ทบทวน"), suspended: t("suspended", "พักไว้"), buried: t("buried", "ซ่อนไว้"), draft: t("draft", "ฉบับร่าง") };
  return names[state] ?? state;
}
