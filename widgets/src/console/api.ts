// The way to the server: JSON-RPC to /mcp, with the key where the server asks for one.

export interface Tool {
  name: string;
  title: string;
  description: string;
  inputSchema: any;
  mutates: boolean;
  pack: string;
  version: string;
}

/** The server wants a key, or another one. */
export class KeyNeeded extends Error {}

/** The server refused the call itself. */
export class Refused extends Error {
  constructor(message: string, readonly data: unknown) {
    super(message);
  }
}

export interface Answer {
  /** The result of `tools/call`. */
  result: any;
  /** How long it took from here, in milliseconds. */
  took: number;
}

const KEY = "panoply.key";
let last = 0;

/** The key lives as long as the tab. */
export const key = {
  get: (): string => read(KEY),
  set(value: string): void {
    try {
      sessionStorage.setItem(KEY, value);
    } catch {
      // A browser without storage asks again.
    }
  },
};

export async function rpc(method: string, params: object): Promise<any> {
  const headers: Record<string, string> = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  if (key.get()) headers["authorization"] = `Bearer ${key.get()}`;
  const response = await fetch("/mcp", { method: "POST", headers, body: JSON.stringify({ jsonrpc: "2.0", id: ++last, method, params }) });
  if (response.status === 401) throw new KeyNeeded();
  const reply = parse(bodyOf(response.headers.get("content-type") ?? "", await response.text()));
  if (reply?.error) throw new Refused(reply.error.message, reply.error.data);
  if (!response.ok || !reply) throw new Refused(`HTTP ${response.status}`, null);
  return reply.result;
}

export async function call(name: string, input: object, locale: string): Promise<Answer> {
  const started = performance.now();
  const result = await rpc("tools/call", { name, arguments: input, _meta: { "openai/locale": locale } });
  return { result, took: performance.now() - started };
}

export async function tools(): Promise<Tool[]> {
  const { tools } = await rpc("tools/list", {});
  return tools.map((tool: any) => ({
    name: tool.name,
    title: tool.title ?? tool.name,
    description: tool.description ?? "",
    inputSchema: tool.inputSchema,
    mutates: tool.annotations?.readOnlyHint === false,
    pack: tool._meta?.["panoply/pack"] ?? "",
    version: tool._meta?.["panoply/version"] ?? "",
  }));
}

/** What a tool says of itself: examples, aliases, permissions. Also for tools that are not listed. */
export async function describe(name: string): Promise<any | null> {
  try {
    return (await rpc("tools/call", { name: "describe-tool", arguments: { name } })).structuredContent?.data ?? null;
  } catch (error) {
    if (error instanceof KeyNeeded) throw error;
    return null;
  }
}

/** Tools that the words find, listed or not. */
export async function find(query: string): Promise<{ name: string; title: string; pack: string }[]> {
  try {
    return (await rpc("tools/call", { name: "search-tools", arguments: { query, limit: 50 } })).structuredContent?.data?.matches ?? [];
  } catch (error) {
    if (error instanceof KeyNeeded) throw error;
    return [];
  }
}

/** The message itself, also when a reply that reports progress comes as an event stream. */
function bodyOf(type: string, text: string): string {
  if (!type.startsWith("text/event-stream")) return text;
  const data = text.split(/\r?\n/).filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trim());
  return data.reverse().find((line) => /"id"\s*:/.test(line)) ?? "null";
}

/** Keeps integers that a double cannot hold, such as the audit's seed, as they were written. */
function parse(text: string): any {
  const exact = (JSON as any).rawJSON as ((source: string) => unknown) | undefined;
  const reviver = (_: string, value: unknown, context?: { source?: string }) => {
    const source = context?.source;
    const isLost = typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value);
    return isLost && exact && source && /^-?\d+$/.test(source) ? exact(source) : value;
  };
  try {
    return JSON.parse(text, reviver as any);
  } catch {
    return null;
  }
}

function read(name: string): string {
  try {
    return sessionStorage.getItem(name) ?? "";
  } catch {
    return "";
  }
}
