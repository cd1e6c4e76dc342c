// The first page, its budgets, sign-in, and a server that is gone.
import { tab } from "./console.mjs";
import { check, dateOf, includes, same, server as reach } from "./judge.mjs";

const FIRST_PAGE_BYTES = 150 * 1024;
const FIRST_PAGE_REQUESTS = 8;
/** Until the first page is shown, on a phone four times as slow as this machine. */
const INTERACTIVE_MS = 1_000;
const SLOWDOWN = 4;

export async function home({ page, server, lang, th, what, t, see }) {
  await page.goto(`${server.base}/`);
  same(await page.locator(".card").count(), 5, `${what}: five cards`);
  const funds = await server.call("get_rmf_funds", { pageSize: 1 });
  await page.getByText(dateOf(funds._meta.dataAsOf.nav, lang, th)).waitFor();
  includes(await page.locator("footer").innerText(), t("The server is healthy", "เซิร์ฟเวอร์พร้อมใช้งาน"), `${what}: health`);
  // Connect an agent: every client has a tab, reached by keys.
  await page.getByRole("button", { name: t("Connect an agent to these tools", "เชื่อมต่อเอเจนต์กับเครื่องมือเหล่านี้") }).click();
  await page.getByRole("tab", { name: "Claude Desktop" }).focus();
  const seen = new Set();
  for (let step = 0; step < 9; step += 1) {
    seen.add(await page.locator("dialog pre").first().innerText());
    await page.keyboard.press("ArrowRight");
  }
  same(seen.size, 9, `${what}: nine clients`);
  await page.getByRole("tab", { name: "Cursor" }).click();
  includes(await page.locator("dialog").innerText(), `${server.base}/mcp`, `${what}: address of this server`);
  const config = new URL(await page.locator("dialog a").getAttribute("href")).searchParams.get("config");
  same(JSON.parse(atob(config)).url, `${server.base}/mcp`, `${what}: the link installs this server`);
  await see("connect");
  await page.keyboard.press("Escape");
  // Theme and language stay, and the other language has the same page.
  const before = await page.evaluate(() => document.documentElement.dataset.theme);
  await page.getByRole("button", { name: before === "dark" ? t("Light", "สว่าง") : t("Dark", "มืด"), exact: true }).click();
  await page.getByRole("button", { name: t("ไทย", "English"), exact: true }).click();
  await page.reload();
  await page.getByRole("heading", { level: 1, name: t("วันนี้อยากทำอะไร", "What would you like to do?") }).waitFor();
  check((await page.evaluate(() => document.documentElement.dataset.theme)) !== before, `${what}: the theme is kept`);
  await see("other theme and language");
  await page.getByRole("button", { name: t("English", "ไทย"), exact: true }).click();
  // Each question leads to a section that answers it; the visit is remembered.
  for (const path of ["/rmf", "/cgt", "/study", "/runs", "/herbs"]) {
    await page.locator(`.card .try a[href^="${path}#"]`).click();
    await page.locator(".sections [aria-current]").waitFor();
    check(page.url().startsWith(`${server.base}${path}#`), `${what}: ${path} has its section`);
    await page.goto(`${server.base}/`);
  }
  same(await page.locator("section .row").count(), 3, `${what}: the last three visits`);
}

/** An app says what to do when the server does not answer, and goes on when it does. */
export async function unreachable({ page, server, what, t, seen }) {
  await page.route("**/mcp", (route) => route.abort());
  await page.goto(`${server.base}/runs`);
  await page.getByRole("alert").waitFor();
  includes(await page.getByRole("alert").innerText(), "panoply http", `${what}: what to do`);
  await page.unroute("**/mcp");
  await page.getByRole("button", { name: t("Try again", "ลองอีกครั้ง") }).click();
  await page.locator(".list .row").first().waitFor();
  seen.complaints.splice(0);
}

/** Bytes and requests of the first page, and what it costs the processor. */
export async function budgets(kit, base) {
  const { context, page } = await tab(kit, reach(base), {});
  const sizes = [];
  page.on("response", (response) => sizes.push(response.body().then((body) => [new URL(response.url()).pathname, body.length], () => ["", 0])));
  const session = await context.newCDPSession(page);
  // Time of the page's own thread: other work on the machine does not count.
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  await page.goto(`${base}/`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  const { metrics } = await session.send("Performance.getMetrics");
  const slow = Math.round((metrics.find((one) => one.name === "TaskDuration")?.value ?? Infinity) * 1_000 * SLOWDOWN);
  await page.waitForTimeout(500);
  const files = (await Promise.all(sizes)).filter(([path]) => path !== "/mcp");
  const bytes = files.reduce((sum, [, size]) => sum + size, 0);
  console.log(`first page: ${bytes} bytes before compression, ${sizes.length} requests, ${slow} ms of a slow processor`);
  check(bytes <= FIRST_PAGE_BYTES, `first page: ${bytes} bytes before compression, more than ${FIRST_PAGE_BYTES}`);
  check(sizes.length <= FIRST_PAGE_REQUESTS, `first page: ${sizes.length} requests, more than ${FIRST_PAGE_REQUESTS}`);
  check(slow > 0 && slow <= INTERACTIVE_MS, `first page: ${slow} ms on a slow processor, more than ${INTERACTIVE_MS}`);
  await context.close();
}

/** A server with keys asks for one, refuses a wrong one, and forgets it with the tab. */
export async function signIn(kit, base, key) {
  const { context, page } = await tab(kit, reach(base), { locale: "en-GB" });
  await page.goto(`${base}/study`);
  await page.getByRole("dialog").waitFor();
  await page.getByLabel("Key", { exact: true }).fill("wrong");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("The server does not accept this key.").waitFor();
  await page.getByLabel("Key", { exact: true }).fill(key);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByText("There is no deck yet.").waitFor();
  same(await page.evaluate((given) => Object.values(localStorage).some((value) => value.includes(given)), key), false, "sign-in: the key outlives the tab");
  await context.close();
}
