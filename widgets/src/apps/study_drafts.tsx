// Cards that an agent drafted: approve or delete them.

import { useState } from "preact/hooks";
import { ask } from "./client";
import { Empty, Problem, useTool, Wait } from "./parts";
import { t } from "./state";

export function Drafts() {
  const drafts = useTool("search-cards", { query: "is:draft", limit: 50 });
  const [left, setLeft] = useState<Set<string>>(new Set());
  const [said, say] = useState("");
  const [error, fail] = useState<Error | null>(null);
  const act = async (tool: string, cardIds: string[], words: string) => {
    await ask(tool, { cardIds }).then(() => { fail(null); setLeft(new Set()); say(words); drafts.again(); }, fail);
  };
  return (
    <>
      <p class="lead">{t("Agents make drafts. A card is studied only after you approve it.", "เอเจนต์สร้างเป็นฉบับร่าง บัตรจะถูกทบทวนเมื่อคุณอนุมัติแล้วเท่านั้น")}</p>
      <p role="status">{said}</p>
      {error && <Problem error={error} />}
      <Wait asked={drafts}>
        {({ data }) => {
          const cards: any[] = data.data.cards;
          if (!cards.length) return <Empty title={t("No drafts wait for you.", "ไม่มีฉบับร่างรออยู่")}><p>{t("Ask an agent to make cards, then look here.", "สั่งเอเจนต์ให้ทำบัตร แล้วกลับมาดูที่นี่")}</p></Empty>;
          const chosen = cards.map((card) => card.cardId).filter((id) => !left.has(id));
          return (
            <>
              <p class="actions">
                <button type="button" class="strong" disabled={!chosen.length} onClick={() => act("approve-drafts", chosen, t(`${chosen.length} cards approved.`, `อนุมัติแล้ว ${chosen.length} ใบ`))}>{t(`Approve ${chosen.length}`, `อนุมัติ ${chosen.length} ใบ`)}</button>
                <button type="button" disabled={!chosen.length} onClick={() => act("delete-cards", chosen, t(`${chosen.length} drafts deleted.`, `ลบแล้ว ${chosen.length} ใบ`))}>{t(`Delete ${chosen.length}`, `ลบ ${chosen.length} ใบ`)}</button>
              </p>
              <ul class="list">
                {cards.map((card) => <Draft key={card.cardId} card={card} chosen={!left.has(card.cardId)} toggle={() => { const next = new Set(left); if (!next.delete(card.cardId)) next.add(card.cardId); setLeft(next); }} />)}
              </ul>
              {data.data.total > cards.length && <p class="quiet">{t(`The first ${cards.length} of ${data.data.total} drafts.`, `${cards.length} ใบแรกจาก ${data.data.total} ใบ`)}</p>}
            </>
          );
        }}
      </Wait>
    </>
  );
}

function Draft({ card, chosen, toggle }: { card: any; chosen: boolean; toggle: () => void }) {
  const whole = useTool("get-card", { cardId: card.cardId });
  // The back repeats the front, as the card is shown.
  const back = String(whole.reply?.data.data.back ?? "").replace(card.front, "").trim();
  return (
    <li class="row">
      <label class="check grow"><input type="checkbox" checked={chosen} onChange={toggle} /><span><b>{card.front}</b>{back && <span class="quiet"> — {back}</span>}<br /><small class="quiet">{card.deck}</small></span></label>
    </li>
  );
}
