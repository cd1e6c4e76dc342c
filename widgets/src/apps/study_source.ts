// Where the cards of a review come from: the server, or this device while the server cannot be
// reached. Both give what `get-next-card` and `reveal-answer` reply.

import { ask, isUnreachable } from "./client";
import * as offline from "./study_device";

export interface Source {
  isOffline: boolean;
  /** The next front, or none, with counts. */
  next(): Promise<any>;
  /** The back of a front. */
  reveal(front: any, typed: string): Promise<any>;
  rate(front: any, back: any, rating: string, takenMs: number): Promise<void>;
  undo(): Promise<void>;
}

export function online(deck: string): Source {
  return {
    isOffline: false,
    next: async () => (await ask("get-next-card", deck ? { deckId: deck } : {})).data.data,
    reveal: async (front, typed) => {
      const { data, metadata } = (await ask("reveal-answer", { token: front.card.token, ...(typed ? { typed } : {}) })).data;
      return { ...data, asked: Date.parse(metadata.timestamp) };
    },
    rate: async (front, back, rating, takenMs) => {
      try {
        await ask("submit-review", { token: back.token, rating, takenMs });
        await offline.drop(back.cardId);
      } catch (error) {
        if (!isUnreachable(error) || !(await offline.kept())) throw error;
        // It may have arrived: its token tells the server when it is sent again.
        await offline.rate({ ...front.card, back: back.back, backHtml: back.backHtml, previews: back.previews, token: back.token }, rating, takenMs);
      }
    },
    undo: async () => void (await ask("undo-review", {})),
  };
}

export function onDevice(): Source {
  const sameAnswer = (one: string, other: string) => fold(one) === fold(other);
  let shown: offline.OfflineCard | undefined;
  return {
    isOffline: true,
    next: async () => {
      const cards = (await offline.kept())?.cards ?? [];
      shown = cards[0];
      const counts = { left: cards.length, waiting: (await offline.waiting()).length };
      if (!shown) return { card: null, cards: 1, ...counts };
      return { card: { ...shown, speech: shown.frontSpeech, typeAnswer: shown.expected !== undefined }, ...counts };
    },
    reveal: async (_, typed) => ({
      ...shown,
      speech: shown?.backSpeech,
      asked: Date.now(),
      ...(typed && shown?.expected !== undefined ? { typedRight: sameAnswer(shown.expected, typed) } : {}),
      // What a second rating would do is for the server to say.
      previews: shown?.previews.length ? shown.previews : RATINGS.map((rating) => ({ rating })),
    }),
    rate: async (_front, _back, rating, takenMs) => {
      if (shown) await offline.rate(shown, rating, takenMs);
    },
    undo: offline.takeBack,
  };
}

export const RATINGS = ["again", "hard", "good", "easy"];

const fold = (text: string): string => text.toLowerCase().split(/\s+/).filter(Boolean).join(" ");
