// Elements without HTML: whatever comes from a reply is set as text.

type Child = Node | string | number | null | undefined | false;
type Props = Record<string, string | number | boolean | null | undefined | ((event: Event) => void)>;

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element. Properties starting with `on` are listeners, the rest attributes. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, props?: Props | null, ...children: (Child | Child[])[]): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), props, children);
}

/** An SVG element. */
export function s(tag: string, props?: Props | null, ...children: (Child | Child[])[]): SVGElement {
  return fill(document.createElementNS(SVG, tag) as SVGElement, props, children);
}

function fill<E extends Element>(element: E, props: Props | null | undefined, children: (Child | Child[])[]): E {
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    // The apps' policy allows no style attribute; the same through the object model is allowed.
    else if (name === "style") (element as unknown as ElementCSSInlineStyle).style.cssText = String(value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    element.append(typeof child === "number" ? String(child) : child);
  }
  return element;
}
