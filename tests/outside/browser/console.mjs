// The console: open, choose, fill, run, see, share, reload; with a key where one is asked for.
import { axeFinds } from "./hosts.mjs";
import { check, includes, same } from "./judge.mjs";

export async function judgeConsole(kit, server) {
  for (const [theme, lang] of [["light", "en"], ["dark", "th"]]) await oneReader(kit, server, theme, lang);
  await narrow(kit, server);
}

/** A tab that notes every request to somebody else and every complaint. */
export async function tab(kit, server, options) {
  const context = await kit.browser.newContext({ viewport: { width: 1180, height: 900 }, ...options });
  const page = await context.newPage();
  const seen = { strangers: [], complaints: [] };
  page.on("request", (request) => { if (!request.url().startsWith(`${server.base}/`) && !request.url().startsWith("data:")) seen.strangers.push(request.url()); });
  page.on("console", (message) => { if (message.type() === "error") seen.complaints.push(message.text()); });
  page.on("pageerror", (error) => seen.complaints.push(String(error)));
  return { context, page, seen };
}

async function oneReader(kit, server, theme, lang) {
  const what = `console, ${theme}, ${lang}`;
  const th = lang === "th";
  const { context, page, seen } = await tab(kit, server, { colorScheme: theme, locale: th ? "th-TH" : "en-GB" });
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  try {
    // Open.
    await page.goto(`${server.base}/console`);
    await page.locator(".cards section").first().waitFor();
    same(await page.evaluate(() => document.documentElement.dataset.theme), theme, `${what}: theme`);
    same(await page.evaluate(() => document.documentElement.lang), lang, `${what}: language`);
    const { tools } = await server.rpc("tools/list", {});
    same(await page.locator("nav.menu details.pack:not(.history) li").count(), tools.length, `${what}: every tool is listed`);
    for (const found of await axeFinds(kit, page)) check(false, `${what}, start: axe: ${found}`);
    // Choose, by searching.
    await page.getByRole("searchbox").fill("compare funds");
    await page.getByRole("link", { name: /compare_rmf_funds/ }).click();
    await page.getByRole("heading", { level: 1, name: "Compare RMF funds" }).waitFor();
    const tool = tools.find((one) => one.name === "compare_rmf_funds");
    includes(await page.locator("main").innerText(), tool.description.split(" Examples: ")[0].replaceAll("`", ""), `${what}: documentation`);
    // A tool that is not listed is found, and back.
    await page.getByRole("searchbox").fill("rank among peers");
    await page.getByRole("link", { name: /get_rmf_peer_rank/ }).waitFor();
    // Fill and run.
    await page.locator("#field-fundCodes").fill("ABAPAC-RMF\nB-ASIARMF");
    await page.getByRole("button", { name: th ? "เรียกใช้" : "Run", exact: true }).click();
    // See the picture, the data, the hints, the audit.
    const picture = page.frameLocator("iframe.picture");
    await picture.locator("thead th").nth(2).waitFor();
    const input = { fundCodes: ["ABAPAC-RMF", "B-ASIARMF"] };
    const reply = await server.call("compare_rmf_funds", input);
    for (const fund of reply.structuredContent.funds) includes(await picture.locator("main").innerText(), fund.symbol, `${what}: picture`);
    same(await picture.locator("html").getAttribute("data-theme"), theme, `${what}: the picture has the theme`);
    same(await picture.locator("html").getAttribute("lang"), lang, `${what}: the picture has the language`);
    await picture.getByRole("button", { name: "ABAPAC-RMF" }).click();
    await picture.locator("h2").first().waitFor();
    const choose = (name) => page.getByRole("tab", { name, exact: true }).click();
    await choose(th ? "ข้อมูล" : "Data");
    // The hints are in the language of the page, the reply here is in English.
    const figures = ({ hints, ...rest }) => JSON.stringify(rest);
    same(figures(JSON.parse(await page.locator("[role=tabpanel] pre").innerText())), figures(reply.structuredContent), `${what}: data`);
    await choose(th ? "บันทึก" : "Audit");
    const raw = await exactSeed(server, input);
    includes(await page.getByRole("tabpanel").innerText(), raw, `${what}: the seed of the audit, to the last digit`);
    includes(await page.getByRole("tabpanel").innerText(), reply._meta["panoply/audit"].in_hash, `${what}: hash of the input`);
    await choose(th ? "คำแนะนำ" : "Hints");
    includes(await page.getByRole("tabpanel").innerText(), reply._meta["panoply/agentHints"].suggestedNextActions[0].action, `${what}: what to call next`);
    for (const found of await axeFinds(kit, page, { exclude: ["iframe"] })) check(false, `${what}, reply: axe: ${found}`);
    // Share.
    await page.locator("details.share summary").click();
    const shared = await page.locator("details.share pre").allInnerTexts();
    same(shared[1], `panoply call compare_rmf_funds '${JSON.stringify(input)}'`, `${what}: command line`);
    same(JSON.parse(shared[2]).params.name, "compare_rmf_funds", `${what}: JSON-RPC`);
    const replayed = await fetch(`${server.base}/mcp`, { method: "POST", headers: { "content-type": "application/json", accept: "application/json, text/event-stream" }, body: shared[2] });
    same(JSON.stringify((await replayed.json()).result.structuredContent), JSON.stringify(reply.structuredContent), `${what}: the JSON-RPC works`);
    await page.locator("details.share .copy").first().click();
    same(await page.evaluate(() => navigator.clipboard.readText()), shared[0], `${what}: copied`);
    // The link and a reload show the same.
    for (const again of [() => page.reload(), () => page.goto(shared[0])]) {
      await again();
      await picture.locator("thead th").nth(2).waitFor();
    }
    // History.
    includes(await page.locator("details.history").textContent(), "compare_rmf_funds", `${what}: history`);
    // A mistake says what to do.
    await page.locator("#field-fundCodes").fill("NOPE-1\nNOPE-2");
    await page.getByRole("button", { name: th ? "เรียกใช้" : "Run", exact: true }).click();
    await page.getByRole("alert").waitFor();
    includes(await page.getByRole("alert").innerText(), "NOPE-1", `${what}: error`);
    includes(await page.getByRole("alert").innerText(), "search_rmf_funds", `${what}: hint`);
    // Client configuration.
    await page.getByRole("button", { name: th ? "เชื่อมต่อเอเจนต์" : "Connect an agent" }).click();
    same(JSON.parse(await page.locator("dialog pre").innerText()).mcpServers.panoply.url, `${server.base}/mcp`, `${what}: configuration`);
  } catch (error) {
    check(false, `${what}: ${String(error).slice(0, 600)}`);
  }
  same(seen.strangers.join(" "), "", `${what}: requests to strangers`);
  same(seen.complaints.join(" "), "", `${what}: complaints`);
  await context.close();
}

/** JSON.parse would round it. */
async function exactSeed(server, input) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "compare_rmf_funds", arguments: input } });
  const response = await fetch(`${server.base}/mcp`, { method: "POST", headers: { "content-type": "application/json", accept: "application/json, text/event-stream" }, body });
  return /"seed":(\d+)/.exec(await response.text())[1];
}

async function narrow(kit, server) {
  const { context, page } = await tab(kit, server, { viewport: { width: 360, height: 740 }, locale: "th-TH" });
  for (const address of ["/console", `/console#get_rmf_funds=${encodeURIComponent('{"pageSize":3}')}`]) {
    await page.goto(server.base + address);
    await page.reload();
    await page.locator("h1").waitFor();
    if (address !== "/console") await page.frameLocator("iframe.picture").locator("tbody tr").first().waitFor();
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    check(wide <= 0, `console at 360 pixels, ${address}: ${wide} too wide`);
  }
  await context.close();
}

/** A server with keys: nothing without one, a wrong one is refused, the right one opens. */
export async function judgeKeys(kit, base, key) {
  const { context, page, seen } = await tab(kit, { base }, { locale: "en-GB" });
  await page.goto(`${base}/console`);
  await page.getByRole("heading", { name: "This server asks for a key" }).waitFor();
  same(await page.locator("nav.menu li").count(), 0, "console with keys: nothing is listed without one");
  await page.locator("#key").fill("not-a-key");
  await page.getByRole("button", { name: "Use it" }).click();
  await page.getByText("does not accept this key").waitFor();
  await page.locator("#key").fill(key);
  await page.getByRole("button", { name: "Use it" }).click();
  await page.locator(".cards section").first().waitFor();
  await page.getByRole("link", { name: "List RMF funds" }).first().click();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.frameLocator("iframe.picture").locator("tbody tr").first().waitFor();
  await page.getByRole("button", { name: "Connect an agent" }).click();
  includes(await page.locator("dialog pre").innerText(), "Bearer YOUR_KEY", "console with keys: configuration");
  check(!(await page.locator("dialog pre").innerText()).includes(key), "console with keys: the key itself is not shown");
  same(seen.strangers.join(" "), "", "console with keys: requests to strangers");
  await context.close();
}
