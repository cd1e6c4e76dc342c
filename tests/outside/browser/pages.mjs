// Every page under both bridges, in both themes and both languages, and in its bad moments.
import { axeFinds, inChatGpt, inMcpApps } from "./hosts.mjs";
import { check, dateOf, includes, same } from "./judge.mjs";
import { pages as others } from "./others.mjs";
import { pages as rmf } from "./rmf.mjs";

const HOSTILE = '<img src=x onerror="window.hacked=1">';

/** Both bridges, both themes, both languages; under the standard's bridge in every pairing. */
const SHOWS = [
  [inMcpApps, "light", "en"],
  [inMcpApps, "dark", "th"],
  [inMcpApps, "dark", "en"],
  [inMcpApps, "light", "th"],
  [inChatGpt, "light", "en"],
  [inChatGpt, "dark", "th"],
];

export async function judgePages(kit, server, only) {
  const kinds = [...rmf, ...others];
  const uris = new Map((await server.rpc("resources/list", {})).resources.map((resource) => [resource.name, resource]));
  const hostileDone = new Set();
  for (const kind of kinds.filter((one) => one.page.includes(only))) {
    const html = await htmlOf(server, uris, kind.page);
    await kind.prepare?.(server);
    let reply = await server.call(kind.tool, kind.input);
    for (const [open, theme, lang] of SHOWS) {
      // A page that changes something shows what is there now.
      if (kind.prepare) reply = await server.call(kind.tool, kind.input);
      // What a reader does after looking needs no second proof in another colour.
      await oneShow(kit, server, { kind, html, reply, open, theme, lang, acts: theme === (lang === "th" ? "dark" : "light") });
    }
    if (kind.tool === "get_rmf_fund_detail") await eras(kit, server, kind, html, reply);
    await widths(kit, server, kind, html, reply);
    if (!hostileDone.has(kind.page)) {
      hostileDone.add(kind.page);
      await hostile(kit, server, kind, html, reply);
      await badMoments(kit, server, kind, html);
    }
    console.log(`ok or told above: ${kind.page} with ${kind.tool}`);
  }
}

async function htmlOf(server, uris, page) {
  const resource = uris.get(`${page}-v1.html`);
  check(resource?.mimeType === "text/html;profile=mcp-app", `${page} is listed as a page of MCP Apps`);
  const [content] = (await server.rpc("resources/read", { uri: resource.uri })).contents;
  same(content.mimeType, "text/html;profile=mcp-app", `${page}: type`);
  check(content._meta.ui.csp.connectDomains.length === 0 && content._meta["openai/widgetCSP"].connect_domains.length === 0, `${page} asks for no network`);
  check(content.text.length <= 150 * 1024, `${page} is small`);
  return content.text;
}

function show(server, kind, html, result, theme, lang) {
  const answer = (name, input) => server.call(name, input).catch((error) => ({ isError: true, content: [{ type: "text", text: error.message }] }));
  return { html, tool: { name: kind.tool, inputSchema: { type: "object" } }, input: kind.input, result, theme, locale: lang === "th" ? "th-TH" : "en-GB", answer };
}

async function oneShow(kit, server, { kind, html, reply, open, theme, lang, acts }) {
  const shown = await open(kit, show(server, kind, html, reply, theme, lang));
  const { page, frame, seen, bridge } = shown;
  const what = `${kind.page} (${kind.tool}) in ${bridge}, ${theme}, ${lang}`;
  try {
    await frame.locator("h1").waitFor();
    same(await frame.evaluate(() => document.documentElement.lang), lang, `${what}: language`);
    same(await frame.evaluate(() => getComputedStyle(document.documentElement).colorScheme), theme, `${what}: theme`);
    await kind.expect({ page, frame, reply, lang, what, server });
    // The findings are the same under both bridges: it is the same page.
    const looked = bridge === "MCP Apps" && acts;
    if (looked) for (const found of await axeFinds(kit, frame)) check(false, `${what}: axe: ${found}`);
    if (acts && kind.then) {
      await kind.then({ page, frame, reply, lang, what, server });
      if (looked) for (const found of await axeFinds(kit, frame)) check(false, `${what}, after use: axe: ${found}`);
    }
    if (bridge === "MCP Apps") check((await page.evaluate(() => window.sizes.at(-1))) > 100, `${what}: tells its height`);
    else check((await page.evaluate(() => window.height)) > 100, `${what}: tells its height`);
  } catch (error) {
    check(false, `${what}: ${String(error).slice(0, 600)}`);
  }
  same(seen.requests.join(" "), "", `${what}: requests`);
  same(seen.complaints.join(" "), "", `${what}: complaints`);
  await page.close();
}

/** Years of the Buddhist era for Thai readers unless they choose otherwise, and where the locale asks for them. */
async function eras(kit, server, kind, html, reply) {
  const { nav_date: day } = reply.structuredContent.fund;
  if (!day) return;
  const { page, frame } = await inMcpApps(kit, show(server, kind, html, reply, "light", "th"));
  await frame.locator("h1").waitFor();
  includes(await frame.locator("footer").innerText(), dateOf(day, "th", true), `${kind.page}: the Buddhist era for Thai readers`);
  await frame.getByRole("checkbox").uncheck();
  includes(await frame.locator("footer").innerText(), dateOf(day, "th", false), `${kind.page}: the common era on request`);
  await page.evaluate(() => window.bridge.setHostContext({ theme: "dark", locale: "th-TH" }));
  await frame.locator("html[data-theme=dark]").waitFor();
  includes(await frame.locator("footer").innerText(), dateOf(day, "th", false), `${kind.page}: the reader's choice outlives a change of theme`);
  await page.evaluate(() => window.bridge.setHostContext({ theme: "dark", locale: "en-GB-u-ca-buddhist" }));
  await frame.locator("html[lang=en][data-theme=dark]").waitFor();
  includes(await frame.locator("footer").innerText(), dateOf(day, "en", true), `${kind.page}: the Buddhist era by locale, and a host that changes its mind`);
  await page.close();
}

/** Nothing is cut off from 360 to 1024 pixels. */
async function widths(kit, server, kind, html, reply) {
  const { page, frame } = await inMcpApps(kit, show(server, kind, html, reply, "light", "th"));
  await frame.locator("h1").waitFor();
  for (const width of [360, 560, 768, 1024]) {
    await page.setViewportSize({ width, height: 900 });
    await page.waitForTimeout(30);
    const wide = await frame.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    check(wide <= 0, `${kind.page} (${kind.tool}) at ${width} pixels is ${wide} too wide`);
  }
  await page.close();
}

/** Every text of a reply becomes an attack; none of them may come alive. */
async function hostile(kit, server, kind, html, reply) {
  let poisoned = 0;
  const poison = (value, name) => {
    if (Array.isArray(value)) return value.map((inner) => poison(inner, name));
    if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, poison(inner, key)]));
    if (typeof value === "string" && !/date|time|url|_at$|begins|number/i.test(name) && Number.isNaN(Number(value)) && Number.isNaN(Date.parse(value))) {
      poisoned += 1;
      return HOSTILE;
    }
    return value;
  };
  const result = { ...reply, structuredContent: poison(reply.structuredContent, "") };
  for (const open of [inMcpApps, inChatGpt]) {
    const { page, frame, seen, bridge } = await open(kit, show(server, kind, html, result, "light", "en"));
    await frame.locator("main :not(p, div, i)").first().waitFor();
    await page.waitForTimeout(60);
    same(await frame.locator("img, main script").count(), 0, `${kind.page} in ${bridge}: elements made from names`);
    same(await frame.evaluate(() => window.hacked), undefined, `${kind.page} in ${bridge}: a name ran as a script`);
    if (poisoned && !kind.wordless) includes(await frame.locator("main").innerText(), HOSTILE, `${kind.page} in ${bridge}: the name is text`);
    same(seen.requests.join(" "), "", `${kind.page} in ${bridge}, hostile: requests`);
    await page.close();
  }
}

/** Waiting, nothing, failure, cancellation, and a reader who wants no motion. */
async function badMoments(kit, server, kind, html) {
  const waiting = await inMcpApps(kit, show(server, kind, html, {}, "light", "en"), { silent: true, reducedMotion: "reduce" });
  same(await waiting.frame.locator("[role=status]").first().innerText(), "Loading…", `${kind.page}: says that it is loading`);
  same(await waiting.frame.locator(".skeleton i").first().evaluate((element) => getComputedStyle(element).animationName), "none", `${kind.page}: no motion for those who want none`);
  await waiting.page.evaluate(() => window.bridge.sendToolCancelled({ reason: "user" }));
  await waiting.frame.getByText("cancelled").waitFor();
  const error = { error: { code: "NOT_FOUND", message: `no ${HOSTILE}`, actionableHint: "look elsewhere", hint: "look elsewhere" } };
  await waiting.page.evaluate((failed) => window.bridge.sendToolResult(failed), { isError: true, content: [{ type: "text", text: JSON.stringify(error) }], _meta: { "panoply/error": error } });
  await waiting.frame.getByRole("alert").waitFor();
  const alert = await waiting.frame.getByRole("alert").innerText();
  includes(alert, `no ${HOSTILE}`, `${kind.page}: says what failed`);
  includes(alert, "look elsewhere", `${kind.page}: says what to do`);
  for (const found of await axeFinds(kit, waiting.frame)) check(false, `${kind.page}, failed: axe: ${found}`);
  await waiting.page.evaluate(() => window.bridge.sendToolResult({ content: [], structuredContent: {} }));
  await waiting.frame.locator(".state").waitFor();
  check((await waiting.frame.locator(".state").innerText()).length > 5, `${kind.page}: says that there is nothing`);
  same(waiting.seen.complaints.join(" "), "", `${kind.page}, in bad moments: complaints`);
  await waiting.page.close();
}

