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
