// One call in the forms people pass on: a link, a command line, JSON-RPC.

export type Input = Record<string, unknown>;

/** What stands behind `#` in the address of a call. */
export function hashOf(tool: string, input: Input): string {
  const given = Object.keys(input).length ? `=${encodeURIComponent(JSON.stringify(input))}` : "";
  return `#${encodeURIComponent(tool)}${given}`;
}

export function fromHash(hash: string): { tool: string; input: Input } | null {
  const [tool, given] = hash.replace(/^#/, "").split(/=(.*)/s);
  if (!tool) return null;
  try {
    const input = given ? JSON.parse(decodeURIComponent(given)) : {};
    return { tool: decodeURIComponent(tool), input: input && typeof input === "object" && !Array.isArray(input) ? input : {} };
  } catch {
    return { tool: tool.replace(/[^\w.-]/g, ""), input: {} };
  }
}

export function link(tool: string, input: Input): string {
  return `${location.origin}${location.pathname}${hashOf(tool, input)}`;
}

/** Quoted for a shell: nothing inside of single quotes means anything but their end. */
export function commandLine(tool: string, input: Input): string {
  const given = Object.keys(input).length ? ` '${JSON.stringify(input).replace(/'/g, "'\\''")}'` : "";
  return `panoply call ${tool}${given}`;
}

export function jsonRpc(tool: string, input: Input): string {
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool, arguments: input } }, null, 2);
}

/** What Cursor, Claude Code and others take; VS Code calls the same `servers`. */
export function configuration(keyNeeded: boolean): string {
  const entry: Record<string, unknown> = { type: "http", url: `${location.origin}/mcp` };
  if (keyNeeded) entry["headers"] = { Authorization: "Bearer YOUR_KEY" };
  return JSON.stringify({ mcpServers: { panoply: entry } }, null, 2);
}
