// The learner on the train: cards kept on the device, reviews sent when it is back, another device
// in between.
import { check, includes, same } from "./judge.mjs";

const DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGJg+M/A8B8ABQUBAs+g8tMAAAAASUVORK5CYII=";

export async function offlineStudy({ page, context, server, what, t, see, seen }) {
  const data = async (tool, input = {}) => (await server.call(tool, input)).structuredContent.data;
  const reviews = async () => (await data("get-stats", { days: 30 })).reviews;
  const { deckId } = (await data("create-deck", { name: "Train" })).deck;
  await server.call("add-media", { name: "train.png", contentBase64: DOT });
  await server.call("create-cards", { deckId, draft: false, notes: [
    { front: 'A picture <img src="train.png">', back: "a dot" },
    { front: "Type the capital of Nepal", back: "Kathmandu", form: "typed" },
    { front: "Capital of Bhutan", back: "Thimphu" },
  ] });
  const before = await reviews();
  const { total } = await data("prepare-offline-study");
  await page.goto(`${server.base}/study`);
  await page.getByRole("button", { name: t("Keep on this device", "เก็บไว้ในเครื่องนี้") }).click();
  await page.getByText(t(`Cards on this device: ${total}`, `มีบัตร ${total} ใบในเครื่องนี้`)).waitFor();
  await see("kept");
  const session = await context.newCDPSession(page);
  const { installabilityErrors } = await session.send("Page.getInstallabilityErrors");
  // A window without history cannot install anything.
  same(installabilityErrors.map((one) => one.errorId).filter((id) => id !== "in-incognito").join(), "", `${what}: can be installed`);
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  await page.waitForFunction(async () => (await caches.match("/app/app-study.js")) !== undefined);

  await context.setOffline(true);
  await page.reload();
  await page.getByText(t("The server does not answer.", "เซิร์ฟเวอร์ไม่ตอบสนอง")).first().waitFor();
  await page.locator('.sections a[href="#review"]').click();
  const left = (cards, waiting) => page.getByText(t(`cards on this device: ${cards} · reviews to send: ${waiting}`, `มีบัตรในเครื่อง ${cards} ใบ · ผลทบทวนรอส่ง ${waiting} ครั้ง`)).waitFor();
  await left(total, 0);
  await see("offline");
  /** Shows the answer; a card may ask for a typed one, and cards of other journeys are among them. */
  const turn = async (front) => {
    const field = page.getByLabel(t("Type the answer", "พิมพ์คำตอบ"));
    if (await field.count()) {
      await field.fill(front.includes("Nepal") ? " kathmandu " : "?");
      await page.keyboard.press("Enter");
    } else await page.keyboard.press("Space");
    await page.getByRole("group", { name: t("Answer", "คำตอบ"), exact: true }).waitFor();
    if (front.includes("Nepal")) await page.getByText(t("What you typed is right.", "คำตอบที่พิมพ์ถูกต้อง")).waitFor();
  };
  const reviewed = [];
  for (let done = 0; done < total; done += 1) {
    await page.getByRole("group", { name: t("Question", "คำถาม") }).waitFor();
    const front = await page.locator(".sheet").innerText();
    reviewed.push(front);
    if (front.includes("A picture")) check(await page.locator(".sheet img").evaluate((image) => image.decode().then(() => image.naturalWidth === 1)), `${what}: the picture is kept`);
    await turn(front);
    await page.getByRole("button", { name: t("Easy", "ง่าย") }).click();
    await left(total - done - 1, done + 1).catch(() => page.getByText(t("Done for now.", "เสร็จแล้วสำหรับตอนนี้")).waitFor());
    if (done > 0) continue;
    // The first rating is taken back and given again.
    await page.getByRole("button", { name: t("Undo the last review", "ยกเลิกการทบทวนล่าสุด") }).click();
    await left(total, 0);
    same((await page.locator(".sheet").innerText()).trim(), front.trim(), `${what}: the card is back`);
    await turn(front);
    await page.keyboard.press("4");
    await left(total - 1, 1);
  }
  includes(reviewed.join("\n"), "Bhutan", `${what}: every card is asked`);
  same(await reviews(), before, `${what}: nothing was sent yet`);

  // Another device reviews one of the cards meanwhile.
  const { cards } = await data("search-cards", { query: "Bhutan" });
  const { card } = await data("get-next-card", { deckId });
  const { token } = await data("reveal-answer", { token: card.token });
  await data("submit-review", { token, rating: "good" });

  await page.reload();
  await page.locator('.sections a[href="#decks"]').click();
  await page.getByText(t("The server does not answer.", "เซิร์ฟเวอร์ไม่ตอบสนอง")).first().waitFor();
  await page.getByText(t(`Reviews to send: ${total}`, `ผลทบทวน ${total} ครั้งรอส่ง`)).waitFor();
  await context.setOffline(false);
  await page.getByRole("button", { name: t("Send now", "ส่งเดี๋ยวนี้") }).click({ timeout: 5000 }).catch(() => {});
  const deadline = Date.now() + 20_000;
  while ((await reviews()) !== before + total + 1 && Date.now() < deadline) await page.waitForTimeout(200);
  same(await reviews(), before + total + 1, `${what}: every review is recorded once`);
  same((await data("get-card", { cardId: card.cardId })).schedule.reviews, 2, `${what}: the reviews of both devices count`);
  same((await data("get-card", { cardId: cards[0].cardId })).schedule.state, "review", `${what}: the card is scheduled`);

  await page.reload();
  await page.getByRole("button", { name: t("Remove from this device", "ลบออกจากเครื่องนี้") }).click();
  await page.getByRole("button", { name: t("Keep on this device", "เก็บไว้ในเครื่องนี้") }).waitFor();
  const rest = await page.evaluate(async () => [(await navigator.serviceWorker.getRegistrations()).length, (await caches.keys()).length]);
  same(rest.join(), "0,0", `${what}: nothing is left on the device`);
  seen.complaints.splice(0);
}
