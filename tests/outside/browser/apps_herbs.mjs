// The pharmacist: a cited answer, an emergency, a safety check, relations.
import { check, includes, same } from "./judge.mjs";

/** The first question reads the data, which a debug build on a busy machine may not do in time. */
async function warm(server) {
  for (let round = 0; round < 6; round += 1) {
    const reply = await server.call("rag_answer", { question: "What is ginger used for?", lang: "en" });
    if (!reply.isError) return;
  }
}

export async function herbsAnswer({ page, server, lang, what, t, see }) {
  await warm(server);
  const question = t("May turmeric be taken with warfarin?", "ขมิ้นชันกินกับวาร์ฟารินได้ไหม");
  await page.goto(`${server.base}/herbs`);
  await page.getByRole("button", { name: question }).click();
  await page.locator("section.answer").waitFor();
  const answer = (await server.call("rag_answer", { question, lang })).structuredContent;
  const text = await page.locator("section.answer").innerText();
  for (const sentence of answer.sentences.filter((one) => one.role !== "danger")) includes(text, sentence.text.slice(0, 60), `${what}: answer`);
  for (const danger of answer.dangers) includes(text, danger.span.slice(0, 60), `${what}: danger`);
  same(await page.locator(".answer .red").count(), answer.dangers.filter((one) => one.level === "contraindicated").length, `${what}: what must not be used is red`);
  const first = await page.locator("section.answer h2").first().innerText();
  same(first, t("Dangers", "อันตรายและข้อควรระวัง"), `${what}: dangers come first`);
  includes(text, answer.notice[lang], `${what}: notice`);
  await see("answer");
  // A citation opens the entry it comes from.
  await page.locator("button.cite").first().click();
  const { contents } = await server.rpc("resources/read", { uri: answer.citations[0].uri });
  await page.locator("dialog dl").waitFor();
  includes(await page.locator("dialog").innerText(), JSON.parse(contents[0].text).scientific ?? JSON.parse(contents[0].text).names.th, `${what}: passage`);
  await see("passage");
}

export async function herbsEmergency({ page, server, what, t }) {
  await page.goto(`${server.base}/herbs`);
  await page.getByLabel(t("Your question", "คำถามของคุณ")).fill(t("chest pain and vomiting blood, what herb?", "เจ็บหน้าอกมาก กินสมุนไพรอะไรดี"));
  await page.keyboard.press("Enter");
  await page.getByRole("alert").waitFor();
  includes(await page.getByRole("alert").innerText(), "1669", `${what}: number to call`);
  const order = await page.locator("section.answer").evaluate((section) => section.firstElementChild.getAttribute("role"));
  same(order, "alert", `${what}: the emergency comes first`);
}

export async function herbsSafety({ page, server, lang, what, t, see }) {
  const herb = t("turmeric", "ขมิ้นชัน");
  await page.goto(`${server.base}/herbs#safety`);
  for (const [label, value] of [[t("Herbs", "สมุนไพร"), herb], [t("Medicines", "ยาที่ใช้อยู่"), "warfarin"]]) {
    await page.getByRole("textbox", { name: label }).or(page.getByRole("combobox", { name: label })).fill(value);
    await page.keyboard.press("Enter");
  }
  await page.getByLabel(t("Pregnant", "ตั้งครรภ์")).check();
  await page.getByRole("button", { name: t("Check", "ตรวจสอบ"), exact: true }).click();
  const result = page.getByRole("region", { name: t("Result of the check", "ผลการตรวจ") });
  await result.waitFor();
  const reply = (await server.call("find_contraindications", { herb_ids: [herb], drugs: ["warfarin"], pregnancy: true, limit: 100, lang })).structuredContent;
  const text = await result.innerText();
  const mine = reply.results.filter((one) => one.asked);
  check(mine.length > 0, `${what}: the tool knows the pair`);
  for (const one of mine) includes(text, one.contraindication.slice(0, 60), `${what}: record`);
  const level = (one) => (one.level === "contraindicated" ? "red" : ["caution", "precaution"].includes(one.level) ? "amber" : "grey");
  for (const colour of ["red", "amber"]) same(await result.locator(`.${colour}`).count(), reply.results.filter((one) => level(one) === colour).length, `${what}: ${colour}`);
  includes(text, t("No record does not mean safe", "ไม่มีบันทึกไม่ได้แปลว่าปลอดภัย"), `${what}: silence is not safety`);
  includes(text, reply.notice[lang], `${what}: notice`);
  await see("result");
  // An unknown herb is named in the error.
  await page.getByRole("button", { name: t("Clear", "ล้าง") }).click();
  await page.getByRole("combobox", { name: t("Herbs", "สมุนไพร") }).or(page.getByRole("textbox", { name: t("Herbs", "สมุนไพร") })).fill("nonsenseherb");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: t("Check", "ตรวจสอบ"), exact: true }).click();
  includes(await page.getByRole("alert").innerText(), "nonsenseherb", `${what}: unknown herb`);
}

export async function herbsRelations({ page, server, lang, what, t, see }) {
  await page.goto(`${server.base}/herbs#graph`);
  await page.getByLabel(t("Name", "ชื่อ"), { exact: true }).fill(t("turmeric", "ขมิ้นชัน"));
  await page.getByRole("button", { name: t("Show relations", "แสดงความสัมพันธ์") }).click();
  const reply = (await server.call("query_kg", { start: { type: "herb", id: "H:turmeric" }, pattern: "herb--constituent", filters: { lang } })).structuredContent;
  await page.locator("table tbody tr").first().waitFor();
  check(reply.paths.length > 0, `${what}: the tool has paths`);
  for (const path of reply.paths) includes(await page.locator("main").innerText(), path.at(-1).label, `${what}: constituent`);
  await see("graph");
}
