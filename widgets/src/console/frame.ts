// The host of a page: the MCP Apps side of the bridge, with the page in a frame that has no
// rights but scripts.

import { h } from "../common/dom";
import { call, Refused } from "./api";
import { locale, theme } from "./settings";
import { t } from "./words";

const PROTOCOL = "2026-01-26";

export interface Frame {
  element: HTMLElement;
  /** Theme or language changed. */
  tell(): void;
  close(): void;
}

/** The page at `uri` (`ui://panoply/NAME-v1.html`), showing what `tool` replied to `input`. */
export function frame(uri: string, tool: string, input: object, result: any): Frame {
  const file = uri.split("/").pop() ?? "";
  const element = h("iframe", { class: "picture", title: t("picture"), sandbox: "allow-scripts", src: `/console/pages/${encodeURIComponent(file)}` });
  const post = (message: object) => element.contentWindow?.postMessage({ jsonrpc: "2.0", ...plain(message) }, "*");
  const context = () => ({ theme: theme(), locale: locale(), displayMode: "inline", platform: "web" });

  async function answer(method: string, params: any): Promise<object> {
    switch (method) {
      case "ui/initialize":
        return { protocolVersion: PROTOCOL, hostInfo: { name: "panoply-console", version: "1" }, hostCapabilities: { serverTools: {}, openLinks: {} }, hostContext: { ...context(), toolInfo: { tool: { name: tool, inputSchema: { type: "object" } } } } };
      case "tools/call":
        return (await call(params.name, params.arguments ?? {}, locale())).result;
      case "ui/open-link":
        // The page is ours; its addresses come from data.
        if (/^https:\/\//.test(params?.url)) window.open(params.url, "_blank", "noopener,noreferrer");
        return {};
      case "ping":
        return {};
      default:
        throw new Refused(`unknown method ${method}`, null);
    }
  }

  function heard({ source, data }: MessageEvent): void {
    if (source !== element.contentWindow || data?.jsonrpc !== "2.0") return;
    if (data.method === "ui/notifications/initialized") {
      post({ method: "ui/notifications/tool-input", params: { arguments: input } });
      post({ method: "ui/notifications/tool-result", params: result });
    } else if (data.method === "ui/notifications/size-changed") {
      const height = Number(data.params?.height);
      if (height > 0) element.height = String(Math.min(Math.ceil(height), 4000));
    } else if (data.id !== undefined && data.method) {
      answer(data.method, data.params).then(
        (told) => post({ id: data.id, result: told }),
        (error: Error) => post({ id: data.id, error: { code: -32603, message: error.message } }),
      );
    }
  }

  window.addEventListener("message", heard);
  return {
    element,
    tell: () => post({ method: "ui/notifications/host-context-changed", params: context() }),
    close: () => window.removeEventListener("message", heard),
  };
}

/** What can be sent to a frame: exact integers become what JSON makes of them. */
function plain(message: object): object {
  return JSON.parse(JSON.stringify(message));
}
