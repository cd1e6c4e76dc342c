// The saver: find, compare, plan, hold, simulate.
import { check, dateOf, includes, same, written } from "./judge.mjs";

export async function fundsFindAndCompare({ page, server, what, t, see }) {
  await page.goto(`${server.base}/rmf`);
  await page.locator("tbody tr").first().waitFor();
  await page.getByLabel(t("Highest risk", "ความเสี่ยงสูงสุด")).selectOption("5");
  await page.getByLabel(t("Return over", "ผลตอบแทนช่วง")).selectOption("3y");
  await page.getByRole("button", { name: t("Show funds", "แสดงกองทุน") }).click();
  const reply = (await server.call("screen_rmf_funds", { maxRiskLevel: 5, returnPeriod: "3y", sortBy: "3y", limit: 20 })).structuredContent;
  await page.getByText(t(`${reply.totalFunds} funds`, `${reply.totalFunds} กองทุน`), { exact: false }).first().waitFor();
  const codes = await page.locator("tbody th button").allInnerTexts();
  same(codes.join(), reply.funds.map((fund) => fund.symbol).join(), `${what}: the tool's funds in its order`);
  const returns = await page.locator("tbody tr td:nth-child(3)").allInnerTexts();
  reply.funds.forEach((fund, place) => same(returns[place], fund.returns["3y"] === undefined ? "–" : `${written(fund.returns["3y"], 2, true)}%`, `${what}: ${fund.symbol}`));
  await see("screener");
  const [one, other] = codes;
  for (const code of [one, other]) await page.getByLabel(t(`${code} in my list`, `${code} ในรายการของฉัน`)).check();
  await page.getByRole("button", { name: one, exact: true }).click();
  await page.getByRole("button", { name: t("✓ In my list", "✓ อยู่ในรายการของฉัน") }).waitFor();
  const { fund } = (await server.call("get_rmf_fund_detail", { fundCode: one })).structuredContent;
  await page.locator("main header h1").waitFor();
  includes(await page.locator("main").innerText(), written(fund.nav_value, 4), `${what}: price of the unit`);
  await see("fund");
  // The list is kept, and compared.
  await page.goto(`${server.base}/rmf#compare`);
  const compared = (await server.call("compare_rmf_funds", { fundCodes: [one, other] })).structuredContent;
  await page.locator("main table").waitFor();
  const text = await page.locator("main").innerText();
  for (const each of compared.funds) for (const figure of [each.perf_ytd, each.perf_1y]) if (figure !== null) includes(text, `${written(figure, 2, true)}%`, `${what}: ${each.symbol}`);
}

export async function fundsPlanner({ page, server, what, t, see }) {
  // What is being typed outlives a reply that arrives meanwhile.
  let release;
  const typed = new Promise((resolve) => (release = resolve));
  await page.route("**/mcp", (route) => typed.then(() => route.continue()));
  await page.goto(`${server.base}/rmf#planner`);
  const income = page.getByLabel(t("Income of the year", "เงินได้ทั้งปี"), { exact: true });
  await income.fill("2345678");
  release();
  await page.locator(".big").waitFor();
  same(await income.inputValue(), "2345678", `${what}: typed while a reply arrived`);
  const plan = { annualIncome: 2_400_000, age: 40, providentFund: 100_000, pensionInsurance: 0, thaiEsg: 0, alreadyBought: 0, plannedPurchase: 450_000 };
  await income.fill(String(plan.annualIncome));
  await page.getByLabel(t("Paid into a provident fund", "กองทุนสำรองเลี้ยงชีพ"), { exact: true }).fill(String(plan.providentFund));
  await page.getByLabel(t("RMF you plan to buy", "RMF ที่จะซื้อ"), { exact: true }).fill(String(plan.plannedPurchase));
  await page.keyboard.press("Tab");
  const reply = (await server.call("calc_rmf_tax_benefit", plan)).structuredContent;
  const baht = (value) => `${written(value, Number.isInteger(value) ? 0 : 2)} ${t("baht", "บาท")}`;
  await page.locator(".big", { hasText: baht(reply.taxSaved) }).waitFor();
  check(reply.excess > 0, `${what}: more is planned than counts`);
  const result = page.getByRole("region", { name: t("Result", "ผลลัพธ์") });
  // Another income may save as much tax: the reply to the last input has this tax, too.
  await result.filter({ hasText: baht(reply.taxBefore) }).filter({ hasText: baht(reply.taxAfter) }).waitFor();
  const text = await result.innerText();
  for (const figure of [reply.deductible, reply.roomLeft, reply.excess, reply.taxBefore, reply.taxAfter, ...reply.bandsAfter.map((band) => band.tax)]) includes(text, baht(figure), `${what}: figure`);
  // The slider moves with the keys.
  await page.getByRole("slider", { name: new RegExp(t("Income of the year", "เงินได้ทั้งปี")) }).focus();
  await page.keyboard.press("ArrowRight");
  const more = (await server.call("calc_rmf_tax_benefit", { ...plan, annualIncome: plan.annualIncome + 10_000 })).structuredContent;
  await page.locator(".big", { hasText: baht(more.taxSaved) }).waitFor();
  await see("planner");
}

export async function fundsHolding({ page, server, lang, th, what, t }) {
  await page.goto(`${server.base}/rmf#holding`);
  await page.getByLabel(t("Date of birth", "วันเกิด")).fill("1975-05-01");
  await page.getByLabel(t("Purchase 1: date", "ซื้อครั้งที่ 1: วันที่")).fill("2020-01-05");
  await page.getByLabel(t("Amount, baht", "จำนวนเงิน (บาท)")).fill("100000");
  await page.keyboard.press("Tab");
  const reply = (await server.call("check_rmf_holding", { birthDate: "1975-05-01", purchases: [{ date: "2020-01-05", amount: 100000 }] })).structuredContent;
  const result = page.getByRole("region", { name: t("Dates that matter", "วันที่สำคัญ") });
  await result.getByText(dateOf(reply.earliestDate, lang, th)).first().waitFor();
  for (const day of [reply.age55Date, reply.held5YearsDate]) includes(await result.innerText(), dateOf(day, lang, th), `${what}: date`);
  same(reply.mayRedeem, false, `${what}: too early`);
  includes(await result.innerText(), t("Selling now would break the conditions.", "ขายตอนนี้จะผิดเงื่อนไข"), `${what}: verdict`);
}

export async function fundsSimulation({ page, server, what, t, see }) {
  await page.goto(`${server.base}/rmf#simulation`);
  const fund = "B-ASEANRMF";
  await page.getByLabel(t("Fund code", "รหัสกองทุน")).fill(fund);
  await page.getByLabel(t("For", "เป็นเวลา"), { exact: true }).fill("12");
  await page.keyboard.press("Enter");
  const reply = (await server.call("simulate_rmf_plan", { fundCode: fund, monthly: 5000, years: 12 })).structuredContent;
  await page.getByRole("heading", { name: fund }).waitFor();
  const text = await page.getByRole("region", { name: t("Result", "ผลลัพธ์") }).innerText();
  for (const figure of [reply.paid, reply.low, reply.median, reply.medianReal, reply.high]) includes(text, written(Math.round(figure), 0), `${what}: figure`);
  // The chart says the same as a table.
  await page.getByText(t("Figures as a table", "ดูตัวเลขเป็นตาราง")).click();
  await page.locator("details table tbody tr").first().waitFor();
  same(await page.locator("details table tbody tr").count(), reply.byYear.length, `${what}: a row for each year`);
  await see("simulation");
}
