// The taxpayer: brokers' files in, gains, boxes, reasons and a file out.
import { readFileSync } from "node:fs";
import { check, dateOf, includes, same, written } from "./judge.mjs";

const SCHWAB = `Date,Action,Symbol,Description,Quantity,Price,Fees & Comm,Amount
03/15/2024,Buy,AAPL,APPLE INC,10,$170.00,$1.00,-$1701.00
06/20/2024,Sell,AAPL,APPLE INC,4,$210.00,$1.00,$839.00
07/01/2024,Frobnicate,AAPL,APPLE INC,4,$210.00,$1.00,$839.00
`;
const TRADING212 = `Action,Time,ISIN,Ticker,Name,No. of shares,Price / share,Currency (Price / share),Exchange rate,Result,Currency (Result),Total,Currency (Total)
Market buy,2023-05-02 10:00:00,GB0002374006,DGE,Diageo,100,35.00,GBP,1,,GBP,3500.00,GBP
Market sell,2024-06-03 10:00:00,GB0002374006,DGE,Diageo,50,27.00,GBP,1,-400,GBP,1350.00,GBP
Market buy,2024-06-20 10:00:00,GB0002374006,DGE,Diageo,10,26.00,GBP,1,,GBP,260.00,GBP
`;
const FILES = [{ name: "schwab.csv", content: SCHWAB }, { name: "t212.csv", content: TRADING212 }];

const pounds = (text) => (Number(text) < 0 ? "−" : "") + `£${written(Math.abs(Number(text)), 2)}`;

/** Drops both files and goes to the gains. */
async function given({ page, server, t }) {
  await page.goto(`${server.base}/cgt`);
  const files = FILES.map(({ name, content }) => ({ name, mimeType: "text/csv", buffer: Buffer.from(content) }));
  await page.getByLabel(t("Choose files", "เลือกไฟล์")).setInputFiles(files);
  await page.getByRole("region", { name: t("What was understood", "สิ่งที่อ่านได้") }).waitFor();
  return (await server.call("import_transactions", { files: FILES })).structuredContent;
}

export async function taxFilesAndGains(kit) {
  const { page, server, what, t, see } = kit;
  const read = await given(kit);
  const text = await page.getByRole("region", { name: t("What was understood", "สิ่งที่อ่านได้") }).innerText();
  includes(text, t(`${read.count} transactions were understood`, `อ่านได้ ${read.count} รายการ`), `${what}: count`);
  same(read.warnings.length, 1, `${what}: the tool leaves one row out`);
  for (const warning of read.warnings) includes(text, warning, `${what}: row to decide`);
  await see("files");
  await page.getByRole("button", { name: t("Show the gains", "แสดงกำไร") }).click();
  await page.locator("main dl.tiles").first().waitFor();
  const report = (await server.call("calculate_report", { cgt_content: read.cgt_content })).structuredContent;
  const shown = await page.locator("main").innerText();
  for (const year of report.tax_years) {
    includes(shown, year.period, `${what}: year`);
    for (const figure of [year.total_gain, year.total_loss, year.net_gain, year.taxable_gain, year.gross_proceeds, year.total_allowable_cost]) includes(shown, pounds(figure), `${what}: ${year.period}`);
  }
  await see("gains");
  // The file has one row for each match, with the tool's amounts.
  const waiting = page.waitForEvent("download");
  await page.getByRole("button", { name: t("Download CSV", "ดาวน์โหลด CSV") }).click();
  const rows = readFileSync(await (await waiting).path(), "utf8").replace("\ufeff", "").trim().split("\r\n");
  const matches = report.tax_years.flatMap((year) => year.disposals.flatMap((sale) => sale.matches.map((match) => [year.period, sale.date, sale.ticker, sale.quantity, sale.proceeds, match.rule, match.acquisition_date ?? "", match.quantity, match.allowable_cost, match.gain_or_loss].join(","))));
  same(rows.slice(1).join("\n"), matches.join("\n"), `${what}: rows of the file`);
}

export async function taxReturn(kit) {
  const { page, server, lang, th, what, t, see } = kit;
  const read = await given(kit);
  await page.getByRole("link", { name: t("Tax return", "แบบภาษี") }).click();
  await page.getByLabel(t("Taxable income of that year, £", "เงินได้สุทธิของปีนั้น (£)")).fill("45000");
  await page.keyboard.press("Tab");
  const input = { cgt_content: read.cgt_content, year: "2024/25", taxable_income: "45000" };
  const boxes = (await server.call("sa108_summary", input)).structuredContent;
  const estimate = (await server.call("estimate_tax", input)).structuredContent;
  await page.locator("main table tbody tr").nth(boxes.boxes.length - 1).waitFor();
  const cells = await page.locator("main table tbody tr").evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)));
  same(JSON.stringify(cells.map(([number, , entry]) => [number, entry.replaceAll(",", "")])), JSON.stringify(boxes.boxes.map((box) => [box.number, box.entry])), `${what}: boxes`);
  const text = await page.locator("main").innerText();
  includes(text, pounds(estimate.tax_due), `${what}: tax due`);
  includes(text, dateOf(estimate.payment_due, lang, th), `${what}: pay by`);
  await see("boxes");
  await page.emulateMedia({ media: "print" });
  same(await page.locator("header.bar").isVisible(), false, `${what}: the bar is not printed`);
  same(await page.locator("main table").isVisible(), true, `${what}: the boxes are printed`);
  await page.emulateMedia({ media: "screen" });
}

export async function taxReasons(kit) {
  const { page, server, what, t, see } = kit;
  const read = await given(kit);
  await page.getByRole("link", { name: t("Why this match?", "เหตุผลการจับคู่") }).click();
  await page.getByLabel(t("Sale", "การขาย")).selectOption("2024-06-03 DGE");
  const reply = (await server.call("explain_matching", { cgt_content: read.cgt_content, disposal_date: "2024-06-03", ticker: "DGE" })).structuredContent;
  same(reply.matches.length, 2, `${what}: thirty days, then the pool`);
  await page.getByText(reply.matches[0].law).waitFor();
  const text = await page.locator("main").innerText();
  for (const match of reply.matches) for (const part of [match.explanation, match.law, pounds(match.gain_or_loss)]) includes(text, part, `${what}: match`);
  includes(text, pounds(reply.total_gain_or_loss), `${what}: total`);
  await see("reasons");
}

export async function taxMistake({ page, server, what, t, see }) {
  await page.goto(`${server.base}/cgt#gains`);
  await page.getByText(t("There are no transactions yet.", "ยังไม่มีรายการซื้อขาย")).waitFor();
  await see("empty");
  await page.getByRole("link", { name: t("Give your brokers' files first", "เริ่มจากให้ไฟล์ของโบรกเกอร์") }).click();
  await page.getByLabel(t("One transaction per line", "บรรทัดละหนึ่งรายการ")).fill("2024-05-01 BOUGHT ACME 1 @ 1 GBP");
  await page.getByRole("button", { name: t("Work out the gains", "คำนวณกำไร") }).click();
  await page.getByRole("alert").waitFor();
  includes(await page.getByRole("alert").innerText(), "BOUGHT", `${what}: the word that is wrong`);
  await page.getByRole("button", { name: t("Use an example", "ใช้ตัวอย่าง") }).click();
  await page.getByRole("button", { name: t("Show the gains", "แสดงกำไร") }).click();
  await page.getByText("2024/25").first().waitFor();
  check(!page.url().includes("DGE"), `${what}: trades stay out of the address`);
}

export async function taxBeforeApril(kit) {
  const { page, server, lang, th, what, t, see } = kit;
  const read = await given(kit);
  await page.getByRole("link", { name: t("Before 5 April", "ก่อน 5 เมษายน") }).click();
  const price = (ticker) => page.getByLabel(t(`Price of ${ticker}, £`, `ราคา ${ticker} (£)`));
  await price("DGE").fill("60");
  await page.keyboard.press("Tab");
  await price("AAPL").fill("100");
  await page.keyboard.press("Tab");
  // The tax year that runs today starts on 6 April.
  const now = new Date(), year = now.getUTCFullYear() - (now.toISOString().slice(5, 10) < "04-06" ? 1 : 0);
  const prices = [{ ticker: "AAPL", price: "100" }, { ticker: "DGE", price: "60" }];
  const plan = (await server.call("plan_disposals", { cgt_content: read.cgt_content, year: String(year), taxable_income: "30000", prices })).structuredContent;
  check(plan.sales.length > 0, `${what}: the tool plans a sale`);
  const rows = page.getByRole("region", { name: t("Plan", "แผน") }).locator("tbody tr");
  await rows.nth(plan.sales.length - 1).waitFor();
  await page.waitForFunction((count) => document.querySelectorAll("main tbody tr").length === count, plan.sales.length);
  const cells = await rows.evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
  same(JSON.stringify(cells.map(([ticker, quantity, gain]) => [ticker, quantity, gain])), JSON.stringify(plan.sales.map((sale) => [sale.ticker, sale.quantity, pounds(sale.expected_gain)])), `${what}: sales`);
  includes(await page.locator("main dl.tiles").innerText(), dateOf(plan.first_safe_repurchase, lang, th), `${what}: when to buy back`);
  await see("plan");
}
