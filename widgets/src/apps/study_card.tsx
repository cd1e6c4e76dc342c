// One side of a card: its HTML reduced to an allow-list, with pictures, sounds, masks and formulas in
// their place.

import { ComponentChildren, Fragment, h, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { fileOf } from "./study_device";
import { t } from "./state";
import { withFormulas } from "./study_formula";
import { Masked, Occlusion } from "./study_occlusion";

const ALLOWED = new Set(["b", "strong", "i", "em", "u", "s", "sub", "sup", "br", "hr", "p", "div", "span", "ul", "ol", "li", "ruby", "rt", "rp", "code", "pre", "table", "tbody", "thead", "tr", "td", "th", "blockquote"]);
/** Elements whose text is not for the reader. */
const DROPPED = new Set(["script", "style", "template", "iframe", "object", "noscript"]);

export interface Media {
  name: string;
  kind: string;
  mimeType: string;
  uri: string;
}

/** What a side needs besides its text. */
interface Parts {
  media: Media[];
  occlusion?: Occlusion | undefined;
  answer: boolean;
}

interface SideProps {
  text: string;
  html?: string | undefined;
  media: (Media[] | undefined)[];
  occlusion?: Occlusion | undefined;
  answer?: boolean;
}

/** `html` where the reply has it, else `text`. The back shows the media of the front too. */
export function Side({ text, html, media, occlusion, answer = false }: SideProps): JSX.Element {
  const parts = { media: media.flatMap((some) => some ?? []), occlusion, answer };
  if (!html) return <div class="said">{textOf(text, parts)}</div>;
  // A parsed document is inert: it runs nothing and loads nothing.
  const parsed = new DOMParser().parseFromString(html, "text/html");
  return <div>{childrenOf(parsed.body, parts)}</div>;
}

function childrenOf(node: Node, parts: Parts): ComponentChildren[] {
  return [...node.childNodes].map((child, place) => <Fragment key={place}>{safe(child, parts)}</Fragment>);
}

function textOf(text: string, parts: Parts): ComponentChildren {
  return withFormulas(text, (part) => withMedia(part, parts));
}

function safe(node: Node, parts: Parts): ComponentChildren {
  if (node.nodeType === Node.TEXT_NODE) return textOf(node.textContent ?? "", parts);
  if (!(node instanceof Element)) return null;
  const tag = node.tagName.toLowerCase();
  if (DROPPED.has(tag)) return null;
  if (tag === "img") return medium(node.getAttribute("src") ?? "", node.getAttribute("alt") ?? "", parts);
  const inner = childrenOf(node, parts);
  if (tag === "br" || tag === "hr") return h(tag, null);
  return ALLOWED.has(tag) ? h(tag as "span", null, inner) : inner;
}

/** Anki's `[sound:a.mp3]`, and the marks of a reply in plain text. */
function withMedia(text: string, parts: Parts): ComponentChildren {
  const pieces = text.split(/\[(?:sound:|audio: |image: |video: )([^\]]+)\]/);
  return pieces.map((piece, place) => (place % 2 ? <Fragment key={place}>{medium(piece, "", parts)}</Fragment> : piece));
}

function medium(name: string, alt: string, { media, occlusion, answer }: Parts): JSX.Element {
  const shown = <Medium name={name} alt={alt} media={media} />;
  const isMasked = occlusion && (name === occlusion.image || decode(name) === occlusion.image);
  return isMasked ? <Masked occlusion={occlusion} answer={answer} picture={shown} /> : shown;
}

function Medium({ name, alt, media }: { name: string; alt: string; media: Media[] }): JSX.Element {
  const found = media.find((one) => one.name === name || one.name === decode(name));
  const [url, set] = useState<string | null>(null);
  const [failed, fail] = useState(false);
  useEffect(() => {
    if (!found) return;
    fileOf(found.uri).then((content) => set(`data:${content.mimeType ?? found.mimeType};base64,${content.blob}`), () => fail(true));
  }, [found?.uri]);
  if (!found || failed) return <span class="quiet">[{t("missing file", "ไม่พบไฟล์")}: {name}]</span>;
  if (!url) return <span class="quiet">…</span>;
  if (found.kind === "image") return <img src={url} alt={alt || t("Picture of the card", "ภาพในบัตร")} />;
  return found.kind === "audio" ? <audio controls src={url} aria-label={name} /> : <video controls src={url} aria-label={name} />;
}

function decode(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
