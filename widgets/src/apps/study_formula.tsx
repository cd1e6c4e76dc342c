// Formulas of a card in the spellings of Anki: \(…\) and \[…\] of MathJax, [$]…[/$], [$$]…[/$$] and
// [latex]…[/latex].

import { ComponentChildren, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

const FORMULA = /\\\((.+?)\\\)|\\\[(.+?)\\\]|\[\$\](.+?)\[\/\$\]|\[\$\$\](.+?)\[\/\$\$\]|\[latex\](.+?)\[\/latex\]/gs;

/** A text with its formulas set; `plain` renders what is between them. */
export function withFormulas(text: string, plain: (part: string) => ComponentChildren): ComponentChildren {
  const parts: ComponentChildren[] = [];
  let end = 0;
  for (const found of text.matchAll(FORMULA)) {
    const [whole, inline, display, dollar, dollars, latex] = found;
    parts.push(plain(text.slice(end, found.index)));
    const source = inline ?? display ?? dollar ?? dollars ?? withoutFrame(latex ?? "");
    parts.push(<Formula key={`${found.index} ${whole}`} source={source} display={(display ?? dollars) !== undefined} />);
    end = found.index + whole.length;
  }
  if (!parts.length) return plain(text);
  return [...parts, plain(text.slice(end))];
}

/** `[latex]` holds text with formulas; most often one formula in dollars. */
function withoutFrame(latex: string): string {
  return latex.trim().replace(/^\$+|\$+$/g, "").replace(/^\\begin\{(displaymath|math)\}|\\end\{(displaymath|math)\}$/g, "");
}

function Formula({ source, display }: { source: string; display: boolean }): JSX.Element {
  const place = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    const element = place.current;
    // Offline or out of date: the source stays readable.
    if (element) import("./math").then(({ typeset }) => typeset(source, display, element), () => undefined);
  }, [source, display]);
  return <span class={display ? "formula display" : "formula"} ref={place}>{source}</span>;
}
