// Cards that a person keeps on this device, and the reviews made with them until they are sent.
// Nothing is kept unless the person asks for it.

import { clear, createStore, get, keys, set, update, UseStore } from "idb-keyval";
import { ask, resource } from "./client";

let opened: UseStore | null = null;
const store = (): UseStore => (opened ??= createStore("panoply-study", "offline"));
const CARDS = "cards";
const REVIEWS = "reviews";
const MEDIA = "media ";
/** Cards of one day; more would not be studied. */
const MOST_CARDS = 500;
const MOST_MEDIA_BYTES = 100 << 20;
/** Reviews in one call. */
const BATCH = 100;

export interface OfflineCard {
  cardId: string;
  front: string;
  frontHtml?: string;
  back: string;
  backHtml?: string;
  expected?: string;
  media?: any[];
  occlusion?: any;
  frontSpeech?: any[];
  backSpeech?: any[];
  previews: any[];
  token: string;
  /** How often it was rated since it was taken. */
  rated?: number;
}

export interface Kept {
  at: string;
  cards: OfflineCard[];
}

export interface Waiting {
  token: string;
  rating: string;
  at: string;
  takenMs: number;
  /** The card as it was, to take the review back. */
  card: OfflineCard;
}

export interface Sent {
  recorded: number;
  /** Why reviews could not be recorded. */
  failed: string[];
  /** Reviews of another person, who has to sign in to send them. */
  foreign: number;
}

/** `undefined` where nothing is kept, or the browser keeps nothing. */
export async function kept(): Promise<Kept | undefined> {
  return get<Kept>(CARDS, store()).catch(() => undefined);
}

export async function waiting(): Promise<Waiting[]> {
  return (await get<Waiting[]>(REVIEWS, store()).catch(() => undefined)) ?? [];
}

/** Takes today's cards with their media along, and lets the page open without a connection. */
export async function keep(progress: (done: number, all: number) => void = () => {}): Promise<Kept> {
  const cards: OfflineCard[] = [];
  for (let offset: number | undefined = 0; offset !== undefined && cards.length < MOST_CARDS; ) {
    const { data }: any = (await ask("prepare-offline-study", { limit: 50, offset })).data;
    cards.push(...data.cards);
    offset = data.nextOffset;
    progress(cards.length, data.total);
  }
  const taken: Kept = { at: new Date().toISOString(), cards };
  await keepMedia(cards);
  await set(CARDS, taken, store());
  await navigator.serviceWorker?.register("/sw.js");
  return taken;
}

async function keepMedia(cards: OfflineCard[]): Promise<void> {
  const there = new Set((await keys(store())).map(String));
  let left = MOST_MEDIA_BYTES;
  for (const file of cards.flatMap((card) => card.media ?? [])) {
    left -= file.bytes ?? 0;
    if (!file.uri || left < 0 || there.has(MEDIA + file.uri)) continue;
    there.add(MEDIA + file.uri);
    const content = await resource(file.uri).catch(() => null);
    if (content?.blob) await set(MEDIA + file.uri, { mimeType: content.mimeType, blob: content.blob }, store());
  }
}

/** A file of a card: from the server, else what is kept. */
export async function fileOf(uri: string): Promise<{ mimeType?: string; blob: string }> {
  try {
    return await resource(uri);
  } catch (error) {
    const content = await get<{ mimeType: string; blob: string }>(MEDIA + uri, store()).catch(() => undefined);
    if (content) return content;
    throw error;
  }
}

/** Removes cards and files from this device. Reviews that wait are sent first or lost: ask before. */
export async function remove(): Promise<void> {
  await clear(store());
  for (const registration of (await navigator.serviceWorker?.getRegistrations()) ?? []) await registration.unregister();
  for (const name of await caches.keys()) await caches.delete(name);
}

/** Records a rating on this device. A card in learning steps comes again at the end. */
export async function rate(card: OfflineCard, rating: string, takenMs: number): Promise<void> {
  const review: Waiting = { token: card.token, rating, at: new Date().toISOString(), takenMs: Math.min(takenMs, 3_600_000), card };
  const rated = (card.rated ?? 0) + 1;
  const comesAgain = rating === "again" || (rated === 1 && card.previews.find((preview) => preview.rating === rating)?.intervalDays === 0);
  // The review first: a card that is asked twice is better than a review that is lost. Each is one
  // transaction, so that two tabs lose nothing either.
  await update<Waiting[]>(REVIEWS, (old) => [...(old ?? []), review], store());
  await update<Kept>(CARDS, (old) => {
    const others = (old?.cards ?? []).filter((other) => other.cardId !== card.cardId);
    return { at: old?.at ?? review.at, cards: comesAgain ? [...others, { ...card, rated, previews: [] }] : others };
  }, store());
}

/** Takes the last review that was not sent back. */
export async function takeBack(): Promise<void> {
  let last: Waiting | undefined;
  await update<Waiting[]>(REVIEWS, (old) => {
    last = old?.at(-1);
    return (old ?? []).slice(0, -1);
  }, store());
  const card = last?.card;
  if (!card) return;
  await update<Kept>(CARDS, (old) => ({ at: old?.at ?? "", cards: [card, ...(old?.cards ?? []).filter((other) => other.cardId !== card.cardId)] }), store());
}

/** A card that was reviewed with a connection is not asked again without one. */
export async function drop(cardId: string): Promise<void> {
  if (!(await kept())) return;
  await update<Kept>(CARDS, (old) => ({ at: old?.at ?? "", cards: (old?.cards ?? []).filter((card) => card.cardId !== cardId) }), store());
}

let sending: Promise<Sent> | null = null;

/** Sends the reviews that wait. The server records each once, however often it is sent. */
export function send(): Promise<Sent> {
  sending ??= sendAll().finally(() => (sending = null));
  return sending;
}

async function sendAll(): Promise<Sent> {
  const sent: Sent = { recorded: 0, failed: [], foreign: 0 };
  const all = await waiting();
  for (let start = 0; start < all.length; start += BATCH) {
    const batch = all.slice(start, start + BATCH);
    const reviews = batch.map(({ token, rating, at, takenMs }) => ({ token, rating, at, takenMs }));
    const { data } = (await ask("submit-offline-reviews", { reviews, sentAt: new Date().toISOString() })).data;
    const isForeign = (place: number) => data.reviews[place]?.code === "BAD_TOKEN";
    sent.recorded += data.recorded;
    sent.foreign += batch.filter((_, place) => isForeign(place)).length;
    sent.failed.push(...data.reviews.filter((one: any, place: number) => one.outcome === "failed" && !isForeign(place)).map((one: any) => one.message));
    const done = new Set(batch.filter((_, place) => !isForeign(place)).map((review) => `${review.token} ${review.at}`));
    await update<Waiting[]>(REVIEWS, (old) => (old ?? []).filter((review) => !done.has(`${review.token} ${review.at}`)), store());
  }
  return sent;
}
