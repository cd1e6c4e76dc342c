// Calls of the apps: the console's way to `/mcp`, with errors in one form and a list of what was
// worked on last.

import { call as callTool, key, KeyNeeded, Refused, rpc } from "../console/api";
import { locale } from "../console/settings";
import type { Reply } from "../common/bridge";

export { key, KeyNeeded, rpc };

/** A call that failed: the tool's message and what to do next. */
export class Failed extends Error {
  constructor(message: string, readonly hint: string, readonly code: string) {
    super(message);
  }
}

export const isUnreachable = (error: unknown): boolean => error instanceof Failed && error.code === "UNREACHABLE";

let whenKeyNeeded = () => {};

/** Called when the server asks for a key. */
export function onKeyNeeded(listener: () => void): void {
  whenKeyNeeded = listener;
}

/** The reply of a tool; throws `Failed`. */
export async function ask(tool: string, input: Record<string, unknown>): Promise<Reply> {
  try {
    const { result } = await callTool(tool, input, locale());
    const texts = (result.content ?? []).filter((block: any) => block.type === "text").map((block: any) => block.text);
    if (result.isError) throw failed(result._meta?.["panoply/error"]?.error ?? errorIn(texts[0]), texts[0] ?? tool);
    return { data: result.structuredContent ?? null, meta: result._meta ?? {}, text: texts[0] ?? "", isError: false, tool, input };
  } catch (error) {
    throw known(error);
  }
}

/** The JSON text of a resource. */
export async function resource(uri: string): Promise<any> {
  try {
    const { contents } = await rpc("resources/read", { uri });
    return contents?.[0] ?? null;
  } catch (error) {
    throw known(error);
  }
}

/** Values that the server proposes for the start of a word. */
export async function complete(uri: string, name: string, value: string): Promise<string[]> {
  try {
    return (await rpc("completion/complete", { ref: { type: "ref/resource", uri }, argument: { name, value } })).completion?.values ?? [];
  } catch {
    return [];
  }
}

function known(error: unknown): Error {
  if (error instanceof KeyNeeded) whenKeyNeeded();
  // Of a proxy before a server that is down.
  if (error instanceof Refused && /^HTTP 50[234]$/.test(error.message)) return new Failed("", "", "UNREACHABLE");
  if (error instanceof Refused) return failed(error.data, error.message);
  if (error instanceof TypeError) return new Failed("", "", "UNREACHABLE");
  return error as Error;
}

function failed(body: any, message: string): Failed {
  const hint = body?.actionableHint ?? body?.hint ?? body?.details?.hint ?? "";
  return new Failed(body?.message ?? message, hint, body?.code ?? "");
}

/** Packs whose errors are text carry them as JSON. */
function errorIn(text: string | undefined): any {
  try {
    return JSON.parse(text ?? "").error ?? null;
  } catch {
    return null;
  }
}
