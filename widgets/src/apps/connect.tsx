// How to connect an agent: a tab per client, in the forms that `panoply setup` writes, and for
// clients that take an address the address of this server.

import { useEffect, useRef, useState } from "preact/hooks";
import { key } from "./client";
import { t } from "./state";

interface Client {
  id: string;
  name: string;
  /** Configuration or command for this server's address. */
  http?: (url: string, headers: Record<string, string>) => string;
  /** Where it goes. */
  file?: string;
  /** A link that installs it. */
  link?: (url: string, headers: Record<string, string>) => string;
}

const json = (value: unknown) => JSON.stringify(value, null, 2);
const given = (headers: Record<string, string>) => (Object.keys(headers).length ? { headers } : {});

export const clients: Client[] = [
  { id: "claude", name: "Claude Desktop" },
  {
    id: "claude-code",
    name: "Claude Code",
    http: (url, headers) => `claude mcp add --transport http panoply ${url}${Object.entries(headers).map(([name, value]) => ` --header "${name}: ${value}"`).join("")}`,
  },
  {
    id: "cursor",
    name: "Cursor",
    file: "~/.cursor/mcp.json",
    http: (url, headers) => json({ mcpServers: { panoply: { url, ...given(headers) } } }),
    link: (url, headers) => `cursor://anysphere.cursor-deeplink/mcp/install?name=panoply&config=${encodeURIComponent(btoa(JSON.stringify({ url, ...given(headers) })))}`,
  },
  {
    id: "vscode",
    name: "VS Code",
    file: "mcp.json (MCP: Open User Configuration)",
    http: (url, headers) => json({ servers: { panoply: { type: "http", url, ...given(headers) } } }),
    link: (url, headers) => `vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name: "panoply", type: "http", url, ...given(headers) }))}`,
  },
  { id: "codex", name: "Codex", file: "~/.codex/config.toml", http: (url) => `[mcp_servers.panoply]\nurl = "${url}"` },
  { id: "gemini", name: "Gemini CLI", http: (url, headers) => `gemini mcp add --transport http panoply ${url}${Object.entries(headers).map(([name, value]) => ` --header "${name}: ${value}"`).join("")}` },
  { id: "windsurf", name: "Windsurf", file: "~/.codeium/windsurf/mcp_config.json", http: (url, headers) => json({ mcpServers: { panoply: { serverUrl: url, ...given(headers) } } }) },
  { id: "zed", name: "Zed" },
  { id: "lm-studio", name: "LM Studio", file: "~/.lmstudio/mcp.json", http: (url, headers) => json({ mcpServers: { panoply: { url, ...given(headers) } } }) },
];

export function Connect({ close }: { close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [now, choose] = useState(0);
  useEffect(() => dialog.current?.showModal(), []);
  const client = clients[now] as Client;
  const url = `${location.origin}/mcp`;
  const headers: Record<string, string> = key.get() ? { Authorization: "Bearer YOUR_KEY" } : {};
  const move = (event: KeyboardEvent) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!step) return;
    const next = (now + step + clients.length) % clients.length;
    choose(next);
    document.getElementById(`client-${next}`)?.focus();
  };
  return (
    <dialog ref={dialog} class="broad" aria-labelledby="connect" onClose={close}>
      <h2 id="connect">{t("Connect an agent", "เชื่อมต่อเอเจนต์")}</h2>
      <p>{t("The agent gets the same tools as these pages.", "เอเจนต์จะใช้เครื่องมือชุดเดียวกับหน้าเหล่านี้")}</p>
      <div class="tabs" role="tablist" aria-label={t("Client", "ไคลเอนต์")} onKeyDown={move}>
        {clients.map((one, place) => <button key={one.id} id={`client-${place}`} type="button" role="tab" aria-selected={place === now} aria-controls="client-panel" tabIndex={place === now ? 0 : -1} onClick={() => choose(place)}>{one.name}</button>)}
      </div>
      <div id="client-panel" role="tabpanel" aria-labelledby={`client-${now}`} tabIndex={0}>
        <h3>{t("On the machine where the agent runs", "บนเครื่องที่เอเจนต์ทำงาน")}</h3>
        <Code text={`panoply setup ${client.id} --write`} />
        {client.http && (
          <>
            <h3>{client.file ? t(`By the address of this server, in ${client.file}`, `ใช้ที่อยู่ของเซิร์ฟเวอร์นี้ ใน ${client.file}`) : t("By the address of this server", "ใช้ที่อยู่ของเซิร์ฟเวอร์นี้")}</h3>
            <Code text={client.http(url, headers)} />
          </>
        )}
        {client.link && <p><a href={client.link(url, headers)}>{t(`Install in ${client.name}`, `ติดตั้งใน ${client.name}`)}</a></p>}
      </div>
      <p class="actions"><button type="button" onClick={() => dialog.current?.close()}>{t("Close", "ปิด")}</button></p>
    </dialog>
  );
}

function Code({ text }: { text: string }) {
  const [copied, set] = useState(false);
  const pre = useRef<HTMLPreElement>(null);
  const copy = async () => {
    // Over plain HTTP from another machine a browser gives no clipboard: mark the text instead.
    await navigator.clipboard?.writeText(text).then(() => set(true), () => pre.current && getSelection()?.selectAllChildren(pre.current));
    setTimeout(() => set(false), 1500);
  };
  return <div class="code"><pre ref={pre} tabIndex={0}><code>{text}</code></pre><button type="button" onClick={copy}>{copied ? t("Copied", "คัดลอกแล้ว") : t("Copy", "คัดลอก")}</button></div>;
}
