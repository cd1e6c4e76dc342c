// TeX to MathML, which browsers set themselves: no fonts, no style sheet. Fetched when a card has a
// formula.

import temml from "temml";

/** Fills an element with a formula. What is no formula shows as it was written. */
export function typeset(source: string, display: boolean, element: HTMLElement): void {
  // `trust` stays false: no links, no pictures, no styles from a card.
  temml.render(source, element, { displayMode: display, throwOnError: false, errorColor: "inherit", maxSize: [20, 20], maxExpand: 500, trust: false });
  // A formula wider than the card scrolls, also by keys.
  if (element.scrollWidth > element.clientWidth) element.tabIndex = 0;
}
