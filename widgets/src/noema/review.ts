// A review: the question, the answer, the rating, when it comes back. Cards are shown as text.

import { Reply } from "../common/bridge";
import { h } from "../common/dom";
import { dateTime, number } from "../common/format";
import { say, Text } from "../common/i18n";
import { Page, View } from "../common/page";

const own = {
  question: { en: "Question", th: "คำถาม" },
  answer: { en: "Answer", th: "คำตอบ" },
  left: { en: "{new} new · {learning} learning · {reviews} to review", th: "ใหม่ {new} · กำลังเรียน {learning} · ทบทวน {reviews}" },
  show: { en: "Show the answer", th: "แสดงคำตอบ" },
  type: { en: "Type the answer", th: "พิมพ์คำตอบ" },
  right: { en: "What you typed is right.", th: "คำตอบที่พิมพ์ถูกต้อง" },
  wrong: { en: "What you typed differs.", th: "คำตอบที่พิมพ์ไม่ตรง" },
  how: { en: "How well did you know it?", th: "จำได้ดีแค่ไหน" },
  again: { en: "Again", th: "อีกครั้ง" },
  hard: { en: "Hard", th: "ยาก" },
  good: { en: "Good", th: "ดี" },
  easy: { en: "Easy", th: "ง่าย" },
  done: { en: "Recorded: {rating}", th: "บันทึกแล้ว: {rating}" },
  back: { en: "It comes back", th: "จะกลับมาอีกครั้ง" },
  stability: { en: "Remembered for about", th: "จำได้ประมาณ" },
  difficulty: { en: "Difficulty", th: "ความยาก" },
  lapses: { en: "Times forgotten", th: "จำนวนครั้งที่ลืม" },
  days: { en: "{n} days", th: "{n} วัน" },
  minutes: { en: "{n} min", th: "{n} นาที" },
  hours: { en: "{n} h", th: "{n} ชม." },
  leech: { en: "This card keeps being forgotten. Rewriting it may help.", th: "บัตรนี้ถูกลืมบ่อย ลองเขียนใหม่" },
  next: { en: "Next card", th: "บัตรถัดไป" },
  nothing: { en: "Nothing is left to review.", th: "ไม่มีบัตรให้ทบทวนแล้ว" },
  nextAt: { en: "The next card comes {at}.", th: "บัตรถัดไปมาถึงเมื่อ {at}" },
} satisfies Record<string, Text>;

type Rating = "again" | "hard" | "good" | "easy";

/** The deck that is being reviewed, as far as the host told it with the first question. */
let deck: Record<string, unknown> = {};

export const question: View = {
  draw(reply, page) {
    const data = reply.data?.data;
    if (!data) return null;
    if (reply.input["deckId"] || reply.input["sessionId"]) deck = reply.input;
    return data.card ? asked(data, page) : rest(data, page);
  },
  empty: own.nothing,
  dated: false,
};

export const answer: View = {
  draw: (reply, page) => (reply.data?.data?.token ? answered(reply, page) : null),
  dated: false,
};

export const reviewed: View = {
  draw: (reply, page) => (reply.data?.data?.rating ? recorded(reply.data.data, page) : null),
};

function asked(data: any, page: Page): (Node | null)[] {
  const { card } = data;
  const typed = card.typeAnswer ? h("input", { type: "text", id: "typed", autocomplete: "off", "data-focus": "main" }) : null;
  const show = () => void page.replace("reveal-answer", { token: card.token, ...(typed?.value ? { typed: typed.value } : {}) });
  // No form: a host's frame need not allow them.
  typed?.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.isComposing) show();
  });
  return [
    h("header", null, h("h1", { tabindex: -1 }, page.t(own.question)), h("p", { class: "quiet" }, h("b", null, card.deck), ` · ${say(page.t(own.left), { new: data.new, learning: data.learning, reviews: data.reviews })}`)),
    h("div", { class: "sheet" }, card.front),
    typed && h("p", null, h("label", { for: "typed" }, page.t(own.type)), typed),
    h("p", { class: "actions" }, h("button", { type: "button", class: "strong", "data-focus": typed ? "show" : "main", onclick: show }, page.t(own.show))),
  ];
}

function rest(data: any, page: Page): Node[] {
  return [h("header", null, h("h1", { tabindex: -1 }, page.t(own.nothing)), data.nextAt && h("p", { class: "quiet" }, say(page.t(own.nextAt), { at: dateTime(data.nextAt, page.reader) })))];
}

function answered(reply: Reply, page: Page): (Node | null)[] {
  const { data } = reply.data;
  const from = Date.parse(reply.data.metadata?.timestamp ?? "") || Date.now();
  const rate = (rating: Rating) => void page.replace("submit-review", { token: data.token, rating });
  const button = (preview: any) =>
    h(
      "button",
      { type: "button", "data-focus": preview.rating === "good" ? "main" : `rate-${preview.rating}`, onclick: () => rate(preview.rating) },
      h("b", null, page.t(own[preview.rating as Rating])),
      h("small", null, untilOf(preview, from, page)),
    );
  return [
    h("header", null, h("h1", { tabindex: -1 }, page.t(own.answer))),
    h("div", { class: "sheet" }, data.back),
    data.typedRight === null || data.typedRight === undefined ? null : h("p", { class: data.typedRight ? "up" : "down" }, `${data.typedRight ? "✓" : "✗"} ${page.t(data.typedRight ? own.right : own.wrong)}`),
    h("h2", { id: "how" }, page.t(own.how)),
    h("div", { class: "ratings", role: "group", "aria-labelledby": "how" }, data.previews.map(button)),
  ];
}

/** In how long a card would come back. */
function untilOf(preview: any, from: number, page: Page): string {
  if (preview.intervalDays > 0) return say(page.t(own.days), { n: number(preview.intervalDays, page.reader, 0) });
  const minutes = Math.max(1, Math.round((Date.parse(preview.due) - from) / 60_000));
  return minutes < 90 ? say(page.t(own.minutes), { n: minutes }) : say(page.t(own.hours), { n: Math.round(minutes / 60) });
}

function recorded(data: any, page: Page): (Node | null)[] {
  const tiles: [Text, string][] = [
    [own.back, dateTime(data.due, page.reader)],
    [own.stability, say(page.t(own.days), { n: number(data.stabilityDays, page.reader, 1) })],
    [own.difficulty, `${number(data.difficulty, page.reader, 1)} / 10`],
    [own.lapses, number(data.lapses, page.reader, 0)],
  ];
  return [
    h("header", null, h("h1", { tabindex: -1 }, say(page.t(own.done), { rating: page.t(own[data.rating as Rating]) }))),
    h("dl", { class: "tiles" }, tiles.map(([name, value]) => h("div", null, h("dt", null, page.t(name)), h("dd", null, value)))),
    data.leech ? h("p", { class: "note" }, page.t(own.leech)) : null,
    h("p", { class: "actions" }, h("button", { type: "button", class: "strong", "data-focus": "main", onclick: () => void page.replace("get-next-card", deck) }, page.t(own.next))),
  ];
}
