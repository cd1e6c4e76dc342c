// The two ways a host talks to a page: MCP Apps (JSON-RPC by postMessage, SEP-1865) and
// ChatGPT's `window.openai`. Pages see one `Host`.

/** A tool's reply as a page needs it. */
export interface Reply {
  /** `structuredContent`. */
  data: any;
  /** `_meta` of the result: dates, widget-only figures, hints, audit. */
  meta: any;
  /** The sentence for people. */
  text: string;
  isError: boolean;
  /** The tool, where the host or our own call says so. */
  tool?: string;
  /** What it was called with, as far as the host tells. */
  input: Record<string, any>;
}

export interface Settings {
  theme?: "light" | "dark";
  locale?: string;
  /** CSS variables of an MCP Apps host. */
  variables?: Record<string, string | undefined>;
}

export interface Listener {
  settings(settings: Settings): void;
  reply(reply: Reply): void;
  cancelled(): void;
}

export interface Host {
  call(tool: string, input: Record<string, unknown>): Promise<Reply>;
  open(url: string): void;
  resized(height: number): void;
}

const PROTOCOL = "2026-01-26";

export function connect(listener: Listener): Host {
  return (window as any).openai ? chatGpt(listener) : mcpApps(listener);
}

function chatGpt(listener: Listener): Host {
  const api = () => (window as any).openai;
  let shown: unknown;
  const read = () => {
    const { theme, locale, toolOutput, toolResponseMetadata, toolInput } = api();
    listener.settings({ theme, locale });
    if (toolOutput && toolOutput !== shown) {
      shown = toolOutput;
      listener.reply({ data: toolOutput, meta: toolResponseMetadata ?? {}, text: "", isError: false, input: toolInput ?? {} });
    }
  };
  window.addEventListener("openai:set_globals", read);
  queueMicrotask(read);
  return {
    async call(tool, input) {
      return replyOf(await api().callTool(tool, input), tool, input);
    },
    open: (url) => api().openExternal?.({ href: url }),
    resized: (height) => api().notifyIntrinsicHeight?.(height),
  };
}

function mcpApps(listener: Listener): Host {
  const waiting = new Map<number, { resolve: (value: any) => void; reject: (error: Error) => void }>();
  let last = 0;
  let input: Record<string, any> = {};
  let tool: string | undefined;
  const post = (message: object) => window.parent.postMessage({ jsonrpc: "2.0", ...message }, "*");
  const request = (method: string, params: object) =>
    new Promise<any>((resolve, reject) => {
      waiting.set(++last, { resolve, reject });
      post({ id: last, method, params });
    });
  const context = (told: any) => {
    tool = told?.toolInfo?.tool?.name ?? tool;
    listener.settings({ theme: told?.theme, locale: told?.locale, variables: told?.styles?.variables });
  };
  window.addEventListener("message", ({ source, data }) => {
    if (source !== window.parent || data?.jsonrpc !== "2.0") return;
    if (data.method === undefined) {
      const asked = waiting.get(data.id);
      waiting.delete(data.id);
      if (data.error) asked?.reject(new Error(data.error.message));
      else asked?.resolve(data.result);
    } else if (data.method === "ui/notifications/tool-input") input = data.params?.arguments ?? {};
    else if (data.method === "ui/notifications/tool-result") listener.reply(replyOf(data.params, tool, input));
    else if (data.method === "ui/notifications/tool-cancelled") listener.cancelled();
    else if (data.method === "ui/notifications/host-context-changed") context(data.params);
    else if (data.id !== undefined && (data.method === "ui/resource-teardown" || data.method === "ping")) post({ id: data.id, result: {} });
    else if (data.id !== undefined) post({ id: data.id, error: { code: -32601, message: `unknown method ${data.method}` } });
  });
  // Without a parent there is no host, and nobody to answer.
  if (window.parent !== window) {
    request("ui/initialize", { protocolVersion: PROTOCOL, appInfo: { name: "panoply", version: "1" }, appCapabilities: {} }).then((told) => {
      context(told?.hostContext);
      post({ method: "ui/notifications/initialized", params: {} });
    });
  }
  return {
    call: async (name, args) => replyOf(await request("tools/call", { name, arguments: args }), name, args),
    open: (url) => void request("ui/open-link", { url }).catch(() => {}),
    resized: (height) => post({ method: "ui/notifications/size-changed", params: { height } }),
  };
}

function replyOf(result: any, tool: string | undefined, input: Record<string, unknown>): Reply {
  const texts = (result?.content ?? []).filter((block: any) => block.type === "text").map((block: any) => block.text);
  return {
    data: result?.structuredContent ?? null,
    meta: result?._meta ?? {},
    text: texts.join("\n"),
    isError: result?.isError === true,
    tool,
    input,
  };
}
