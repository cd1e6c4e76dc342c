// The learner: from an empty home to reviewed cards.
import { check, includes, same } from "./judge.mjs";

export async function studyFromNothing({ page, server, what, t, see }) {
  await page.goto(`${server.base}/study`);
  await page.getByText(t("There is no deck yet.", "ยังไม่มีสำรับ")).waitFor();
  await see("empty");
  await page.getByLabel(t("Name of the deck", "ชื่อสำรับ")).fill("Capitals");
  await page.keyboard.press("Enter");
  await page.getByText("Capitals", { exact: true }).waitFor();
  await page.getByRole("link", { name: t("Add cards", "เพิ่มบัตร") }).click();
  for (const [front, back] of [["Capital of Thailand", "Bangkok"], ["Capital of Laos", "Vientiane"]]) {
    await page.getByLabel(t("Front", "ด้านหน้า")).fill(front);
    await page.getByLabel(t("Back", "ด้านหลัง")).fill(back);
    await page.getByRole("button", { name: t("Add the card", "เพิ่มบัตร") }).click();
    await page.getByText(t("The card is in the deck.", "เพิ่มบัตรแล้ว")).waitFor();
    await page.waitForFunction(() => [...document.querySelectorAll("textarea")].every((area) => !area.value));
  }
  await see("add");
  // Keys alone: space shows the answer, 3 rates it, z takes the rating back.
  await page.locator('.sections a[href="#review"]').click();
  await page.getByRole("group", { name: t("Question", "คำถาม") }).waitFor();
  includes(await page.locator(".sheet").innerText(), "Capital of Thailand", `${what}: first card`);
  check(!(await page.locator(".sheet").innerText()).includes("Bangkok"), `${what}: the answer is hidden`);
  await page.keyboard.press("Space");
  await page.getByRole("group", { name: t("Answer", "คำตอบ"), exact: true }).waitFor();
  includes(await page.locator(".sheet").innerText(), "Bangkok", `${what}: answer`);
  await see("answer");
  await page.keyboard.press("3");
  await page.getByText("Capital of Laos").waitFor();
  const reviews = async () => (await server.call("get-stats", { days: 30 })).structuredContent.data.reviews;
  same(await reviews(), 1, `${what}: one review is recorded`);
  await page.keyboard.press("z");
  await page.getByText(t("0 done now", "ทำแล้วรอบนี้ 0")).waitFor();
  same(await reviews(), 0, `${what}: the review is undone`);
  for (let card = 0; card < 2; card += 1) {
    await page.getByRole("group", { name: t("Question", "คำถาม") }).waitFor();
    await page.keyboard.press("Space");
    await page.getByRole("group", { name: t("Answer", "คำตอบ"), exact: true }).waitFor();
    await page.keyboard.press("4");
  }
  await page.getByText(t("Done for now.", "เสร็จแล้วสำหรับตอนนี้")).waitFor();
  same(await reviews(), 2, `${what}: two reviews are recorded`);
  // The forecast is the tool's.
  await page.getByRole("link", { name: t("Forecast", "คาดการณ์") }).click();
  const { total } = (await server.call("forecast-reviews", { days: 30 })).structuredContent.data;
  await page.locator(".tiles").first().waitFor();
  includes(await page.locator("main").innerText(), String(total), `${what}: forecast`);
}

const DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGJg+M/A8B8ABQUBAs+g8tMAAAAASUVORK5CYII=";

export async function studyDraftsAndMedia({ page, server, what, t, see }) {
  const { decks } = (await server.call("list-decks", {})).structuredContent.data;
  const deckId = decks[0].deckId;
  await server.call("add-media", { name: "dot.png", contentBase64: DOT });
  await server.call("create-cards", { deckId, draft: true, notes: [
    { front: 'Which <b>colour</b>? <img src="dot.png"><script>document.title="bad"</script>', back: "red" },
    { front: "Type the capital of Vietnam", back: "Hanoi", form: "typed" },
    { front: "A card nobody wants", back: "x" },
  ] });
  await page.goto(`${server.base}/study#drafts`);
  await page.getByText("A card nobody wants").waitFor();
  same(await page.locator(".list .row").count(), 3, `${what}: three drafts`);
  await see("drafts");
  await page.getByRole("checkbox", { name: /A card nobody wants/ }).uncheck();
  await page.getByRole("button", { name: t("Approve 2", "อนุมัติ 2 ใบ") }).click();
  await page.getByText(t("2 cards approved.", "อนุมัติแล้ว 2 ใบ")).waitFor();
  await page.getByRole("button", { name: t("Delete 1", "ลบ 1 ใบ") }).click();
  await page.getByText(t("No drafts wait for you.", "ไม่มีฉบับร่างรออยู่")).waitFor();
  same((await server.call("list-decks", {})).structuredContent.data.total.drafts, 0, `${what}: no draft is left`);
  // The picture shows, the emphasis too, and nothing runs.
  await page.locator('.sections a[href="#review"]').click();
  await page.locator(".sheet img").waitFor();
  check(await page.locator(".sheet img").evaluate((image) => image.complete && image.naturalWidth === 1), `${what}: the picture is there`);
  same(await page.locator(".sheet b").innerText(), "colour", `${what}: emphasis`);
  same((await page.title()).includes("bad"), false, `${what}: no script of a card runs`);
  await see("picture");
  await page.getByRole("button", { name: t("Show the answer", "แสดงคำตอบ") }).click();
  await page.getByRole("button", { name: t("Easy", "ง่าย") }).click();
  await page.getByLabel(t("Type the answer", "พิมพ์คำตอบ")).fill("Hanoi");
  await page.keyboard.press("Enter");
  await page.getByText(t("What you typed is right.", "คำตอบที่พิมพ์ถูกต้อง")).waitFor();
}

/** A picture of 160 × 80 pixels. */
const CHART = "iVBORw0KGgoAAAANSUhEUgAAAKAAAABQCAIAAAARP+ljAAABzUlEQVR42u3RCTKCYQCAYefsJMpSSiGh0F9UlqxlyRJCoYiO5Zv3Fs28M88NnplYNIs4EpjDPBawiCRSWEIaGSwjixxWsIo15LEeTKICNrCJLRRRwjZ2sIsyIlRQxR72UUMdDRzgMIhFRzhGEyc4xRnOcYFLtNDGFa5xg1t0cId7POAxmERdPOEZL+jhFW94Rx8DfOATXxhihG/8YIxf/AUzBhtssMEGG2ywwQYbbLDBBhtssMEGG2ywwQYbbLDBBhtssMEGG2ywwQYbbLDBBhtssMEGG2ywwQYbbLDBBhtssMEGG2ywwQYbbLDBBhtssMEGG2ywwQYbbLDBUxo8iWYRRwJzmMcCFpFECktII4NlZJHDClaxhjzCbjguYAOb2EIRJWxjB7soI0IFVexhHzXU0cABwm44PsIxmjjBKc5wjgtcooU2rnCNG9yigzvc4wFhNxx38YRnvKCHV7zhHX0M8IFPfGGIEb7xgzF+8Rcz2GCDDTbYYIMNNthggw022GCDDTbYYIMNNthggw022GCDDTbYYIMNNthggw022GCDDTbYYIMNNthggw022GCDDTbYYIMNNthggw022GCDDTbYYIMNNthggw2e2uB/fjfKKTUU6VAAAAAASUVORK5CYII=";

export async function studyFormulasAndMasks({ page, server, what, t, see }) {
  const { deckId } = (await server.call("create-deck", { name: "Formulas" })).structuredContent.data.deck;
  await server.call("add-media", { name: "heart.png", contentBase64: CHART });
  await server.call("create-card", { deckId, draft: false, front: 'Solve \\(x^2 = \\frac{1}{4}\\) <img src="heart.png"> and \\(\\href{javascript:document.title="bad"}{y}\\)', back: "\\[x = \\pm\\tfrac12\\] but not \\(\\nonsense{\\)" });
  await server.call("create-occlusion", { deckId, draft: false, image: "heart.png", header: "Name it", regions: [{ left: 0.25, top: 0.5, width: 0.25, height: 0.5 }, { left: 0.5, top: 0, width: 0.5, height: 0.5, shape: "ellipse" }], hideAll: true });
  await page.goto(`${server.base}/study#decks`);
  await page.getByRole("button", { name: t("Review Formulas", "ทบทวน Formulas") }).click();
  // A formula is set as MathML, and runs nothing.
  await page.locator(".sheet math mfrac").waitFor();
  check(!(await page.locator(".sheet").innerText()).includes("\\frac"), `${what}: no TeX is left`);
  same(await page.locator(".sheet a, .sheet [href]").count(), 0, `${what}: no link of a formula`);
  await see("formula");
  await page.keyboard.press("Space");
  await page.locator('.sheet math[display="block"]').waitFor();
  // The answer repeats the front: its picture is there again, and what is no formula can be read.
  same(await page.locator(".sheet img").count(), 1, `${what}: the picture of the front on the back`);
  includes(await page.locator(".sheet").innerText(), "nonsense", `${what}: a broken formula`);
  await page.keyboard.press("4");
  // Both regions are covered; the answer uncovers the one that was asked for.
  await page.locator(".masked img").waitFor();
  const picture = await page.locator(".masked img").boundingBox();
  const covered = async (name) => {
    const box = await page.locator(`.masked ${name}`).boundingBox();
    return [(box.x - picture.x) / picture.width, (box.y - picture.y) / picture.height, box.width / picture.width, box.height / picture.height].map((share) => Math.round(share * 20) / 20);
  };
  same(JSON.stringify(await covered("rect.asked")), "[0.25,0.5,0.25,0.5]", `${what}: the asked region is covered`);
  same(JSON.stringify(await covered("ellipse.other")), "[0.5,0,0.5,0.5]", `${what}: the other region is covered`);
  const fill = (name) => page.locator(`.masked ${name}`).evaluate((shape) => getComputedStyle(shape).fill);
  check((await fill("rect.asked")) !== "none", `${what}: the mask is opaque`);
  await see("occlusion");
  await page.keyboard.press("Space");
  await page.getByRole("group", { name: t("Answer", "คำตอบ"), exact: true }).waitFor();
  same(await fill("rect.asked"), "none", `${what}: the answer uncovers the region`);
  check((await fill("ellipse.other")) !== "none", `${what}: the other one stays covered`);
}

export async function studyBrowseAndPlan({ page, server, what, t, see }) {
  const { deckId } = (await server.call("create-deck", { name: "Rivers" })).structuredContent.data.deck;
  await server.call("create-cards", { deckId, draft: false, notes: [
    { front: "Longest river of Thailand", back: "Chi", tags: ["asia"] },
    { front: "Longest river of Egypt", back: "Nile", tags: ["africa"] },
  ] });
  await page.goto(`${server.base}/study#browse`);
  const search = async (words) => {
    await page.getByLabel(t("Search as in Anki", "ค้นหาแบบ Anki")).fill(words);
    await page.keyboard.press("Enter");
  };
  await search("deck:Rivers -tag:africa");
  await page.getByText(t("1 of 1 cards", "1 จาก 1 ใบ")).waitFor();
  await see("found");
  await page.getByRole("button", { name: t("Edit Longest river of Thailand", "แก้ไข Longest river of Thailand") }).click();
  await page.getByLabel("Back").fill("Chi <b>River</b>");
  await page.getByLabel(t("Tags, separated by spaces", "แท็ก คั่นด้วยช่องว่าง")).fill("asia long");
  await page.getByRole("button", { name: t("Save", "บันทึก"), exact: true }).click();
  await page.getByText(t("Saved.", "บันทึกแล้ว")).waitFor();
  const found = (await server.call("search-cards", { query: "tag:long" })).structuredContent.data.cards;
  same(found.length, 1, `${what}: the tag is saved`);
  const { cardId } = found[0];
  const stored = async () => (await server.call("get-card", { cardId })).structuredContent.data;
  same((await stored()).fields.Back, "Chi <b>River</b>", `${what}: the field is saved`);
  // What an agent changed meanwhile is not overwritten.
  await server.call("update-card", { cardId, fields: { Back: "Mun" } });
  await page.getByLabel("Back").fill("Ping");
  await page.getByRole("button", { name: t("Save", "บันทึก"), exact: true }).click();
  await page.getByRole("alert").waitFor();
  same((await stored()).fields.Back, "Mun", `${what}: the agent's change stays`);
  await page.getByRole("button", { name: t("Try again", "ลองอีกครั้ง") }).click();
  await page.getByRole("alert").waitFor({ state: "detached" });
  await page.waitForFunction(() => [...document.querySelectorAll("textarea")].some((area) => area.value === "Mun"));
  await page.getByRole("button", { name: t("Suspend", "พักไว้") }).click();
  await page.getByRole("button", { name: t("Study it again", "กลับมาทบทวน") }).waitFor();
  same((await server.call("search-cards", { query: "is:suspended deck:Rivers" })).structuredContent.data.total, 1, `${what}: the card is suspended`);
  await see("editor");
  await page.getByRole("button", { name: t("All cards", "บัตรทั้งหมด") }).click();
  await search("prop:nonsense");
  await page.getByRole("alert").waitFor();
  // A plan for an exam is the tool's, and is applied to the deck.
  await page.getByRole("link", { name: t("Exam", "แผนสอบ") }).click();
  await page.getByLabel(t("Deck", "สำรับ")).selectOption(deckId);
  const day = new Date(Date.now() + 40 * 86_400_000).toISOString().slice(0, 10);
  await page.getByLabel(t("Day of the exam", "วันสอบ"), { exact: true }).fill(day);
  await page.getByText(t("You will remember", "น่าจะจำได้"), { exact: true }).waitFor();
  const plan = (await server.call("plan-exam", { deckId, date: day, minutesPerDay: 20, targetRecall: 0.9 })).structuredContent.data;
  includes(await page.locator(".tiles").innerText(), `${Math.round(plan.expectedRecall * 100)} %`, `${what}: expected recall`);
  same(await page.locator("tbody tr").count(), plan.weeks.length, `${what}: weeks of the plan`);
  await see("exam");
  await page.getByRole("button", { name: t("Use this plan", "ใช้แผนนี้") }).click();
  await page.getByText(t("The deck follows the plan now.", "สำรับใช้แผนนี้แล้ว")).waitFor();
  const { options } = (await server.call("get-deck", { deckId })).structuredContent.data;
  same(options.desiredRetention, plan.desiredRetention, `${what}: the deck follows the plan`);
}
