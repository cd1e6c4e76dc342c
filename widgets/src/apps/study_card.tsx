// One side of a card: its HTML reduced to an allow-list, with pictures and sounds in their place.

import { ComponentChildren, Fragment, h, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { resource } from "./client";
import { t } from "./state";

const ALLOWED = new Set(["b", "strong", "i", "em", "u", "s", "sub", "sup", "br", "hr", "p", "div", "span", "ul", "ol", "li", "ruby", "rt", "rp", "code", "pre", "table", "tbody", "thead", "tr", "td", "th", "blockquote"]);
/** Elements whose text is not for the reader. */
const DROPPED = new Set(["script", "style", "template", "iframe", "object", "noscript"]);

export interface Media {
  name: string;
  kind: string;
  mimeType: string;
  uri: string;
}

/** `html` where the reply has it, else `text`. */
export function Side({ text, html, media }: { text: string; html?: string | undefined; media?: Media[] | undefined }): JSX.Element {
  if (!html) return <div class="said">{withMedia(text, media ?? [])}</div>;
  // A parsed document is inert: it runs nothing and loads nothing.
  const parsed = new DOMParser().parseFromString(html, "text/html");
  return <div>{childrenOf(parsed.body, media ?? [])}</div>;
}

function childrenOf(node: Node, media: Media[]): ComponentChildren[] {
  return [...node.childNodes].map((child, place) => <Fragment key={place}>{safe(child, media)}</Fragment>);
}

function safe(node: Node, media: Media[]): ComponentChildren {
  if (node.nodeType === Node.TEXT_NODE) return withMedia(node.textContent ?? "", media);
  if (!(node instanceof Element)) return null;
  const tag = node.tagName.toLowerCase();
  if (DROPPED.has(tag)) return null;
  if (tag === "img") return <Medium name={node.getAttribute("src") ?? ""} alt={node.getAttribute("alt") ?? ""} media={media} />;
  const inner = childrenOf(node, media);
  if (tag === "br" || tag === "hr") return h(tag, null);
  return ALLOWED.has(tag) ? h(tag as "span", null, inner) : inner;
}

/** Anki's `[sound:a.mp3]`, and the marks of a reply in plain text. */
function withMedia(text: string, media: Media[]): ComponentChildren {
  const parts = text.split(/\[(?:sound:|audio: |image: |video: )([^\]]+)\]/);
  return parts.map((part, place) => (place % 2 ? <Medium key={place} name={part} alt="" media={media} /> : part));
}

function Medium({ name, alt, media }: { name: string; alt: string; media: Media[] }): JSX.Element {
  const found = media.find((one) => one.name === name || one.name === decode(name));
  const [url, set] = useState<string | null>(null);
  const [failed, fail] = useState(false);
  useEffect(() => {
    if (!found) return;
    resource(found.uri).then((content) => set(`data:${content.mimeType ?? found.mimeType};base64,${content.blob}`), () => fail(true));
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
