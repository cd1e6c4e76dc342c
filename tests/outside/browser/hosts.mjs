// Shows a page as a host would: under the official bridge of MCP Apps, or as ChatGPT does.
// Whatever leaves the page, and whatever it complains about, is written down.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const HOST = "http://host.test/";
const CHATGPT = "http://chatgpt.test/";
/** What the standard gives a page that asks for nothing: inline code and no network. */
const POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:";

export async function prepare(folder) {
  const nodeFolder = resolve(folder);
  const require = createRequire(join(nodeFolder, "package.json"));
  const { chromium } = require("playwright-core");
  const esbuild = require("esbuild");
  const bundled = await esbuild.build({
    entryPoints: [join(here, "host.entry.mjs")],
    nodePaths: [join(nodeFolder, "node_modules")],
    bundle: true, write: false, format: "iife", charset: "utf8", logLevel: "error",
  });
  const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
  const browser = await chromium.launch({ executablePath: chromiumPath(), args: ["--no-sandbox", "--force-color-profile=srgb", "--font-render-hinting=none"] });
  return { browser, axe, host: bundled.outputFiles[0].text };
}

function chromiumPath() {
  return process.env.CHROMIUM ?? "/usr/bin/chromium";
}

/** A tab in which nothing goes unnoticed. */
async function watched(kit, { width = 800, height = 900, reducedMotion = "no-preference" } = {}) {
  const page = await kit.browser.newPage({ viewport: { width, height }, reducedMotion });
  const seen = { requests: [], complaints: [] };
  page.on("request", (request) => {
    const url = request.url();
    if (url !== HOST && url !== CHATGPT && !url.startsWith("data:") && url !== "about:srcdoc") seen.requests.push(url);
  });
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) seen.complaints.push(message.text()); });
  page.on("pageerror", (error) => seen.complaints.push(String(error)));
  return { page, seen };
}

/** `show` is { html, tool, input, result, theme, locale, answer }. */
export async function inMcpApps(kit, show, options = {}) {
  const { page, seen } = await watched(kit, options);
  await page.route(HOST, (route) => route.fulfill({ contentType: "text/html", headers: { "content-security-policy": POLICY }, body: `<!doctype html><html lang="en"><title>host</title><style>body{margin:0;background:${show.theme === "dark" ? "#1a1d21" : "#fff"}}iframe{border:0;width:100%;height:300px;display:block}</style><script>${kit.host.replaceAll("</script", "<\\/script")}</script>` }));
  await page.exposeFunction("answer", show.answer);
  await page.goto(HOST);
  const { answer: _, ...told } = show;
  await page.evaluate((given) => window.startHost(given), { ...told, silent: options.silent });
  const frame = page.frames().find((one) => one !== page.mainFrame());
  return { page, frame, seen, bridge: "MCP Apps" };
}

export async function inChatGpt(kit, show, options = {}) {
  const { page, seen } = await watched(kit, options);
  await page.exposeFunction("answer", show.answer);
  await page.addInitScript(({ result, input, theme, locale }) => {
    window.links = [];
    window.openai = {
      theme, locale, toolInput: input, toolOutput: result.structuredContent, toolResponseMetadata: result._meta, widgetState: null,
      callTool: (name, args) => window.answer(name, args),
      openExternal: ({ href }) => window.links.push(href),
      notifyIntrinsicHeight: (height) => { window.height = height; },
      setWidgetState() {},
    };
  }, { result: show.result, input: show.input, theme: show.theme, locale: show.locale });
  await page.route(CHATGPT, (route) => route.fulfill({ contentType: "text/html", headers: { "content-security-policy": POLICY }, body: show.html }));
  await page.goto(CHATGPT);
  return { page, frame: page.mainFrame(), seen, bridge: "ChatGPT" };
}

/** What axe finds that is serious or worse. */
export async function axeFinds(kit, frame, options = {}) {
  await frame.evaluate(kit.axe);
  const { violations } = await frame.evaluate((given) => window.axe.run(document, given), options);
  return violations.filter(({ impact }) => impact === "serious" || impact === "critical").map(({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.html.slice(0, 120)} ${node.any[0]?.message ?? ""}`).slice(0, 3).join(" | ")}`);
}
