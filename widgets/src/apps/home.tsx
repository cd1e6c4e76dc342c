// The first page: five cards, and what was worked on last.

import { dateTime } from "../common/format";
import { language } from "../console/settings";
import { apps } from "./catalog";
import { reader, t, visits } from "./state";

export function Home({ connect }: { connect: () => void }) {
  const lang = language();
  const last = visits.all().flatMap((visit) => {
    const app = apps.find((one) => one.path === visit.app);
    return app ? [{ app, at: visit.at }] : [];
  });
  return (
    <>
      <h1>{t("What would you like to do?", "วันนี้อยากทำอะไร")}</h1>
      <p class="lead">{t("Everything is worked out on the machine that runs Panoply. What you enter goes nowhere else.", "ทุกอย่างคำนวณบนเครื่องที่เปิด Panoply ข้อมูลที่กรอกไม่ถูกส่งไปที่อื่น")}</p>
      <ul class="cards">
        {apps.map((app) => (
          <li class="card" key={app.path}>
            <h2><a href={app.path}>{app.name[lang]}</a></h2>
            <p>{app.can[lang]}</p>
            <p class="try"><a href={`${app.path}#${app.section}`}>{app.question[lang]}</a></p>
          </li>
        ))}
      </ul>
      {last.length > 0 && (
        <section aria-labelledby="last">
          <h2 id="last">{t("Where you were last", "ที่ใช้ล่าสุด")}</h2>
          <ul class="list">
            {last.map(({ app, at }) => <li class="row" key={app.path}><a class="grow" href={app.path}>{app.name[lang]}</a><span class="quiet">{dateTime(at, reader())} UTC</span></li>)}
          </ul>
        </section>
      )}
      <p><button type="button" onClick={connect}>{t("Connect an agent to these tools", "เชื่อมต่อเอเจนต์กับเครื่องมือเหล่านี้")}</button></p>
      <p class="quiet">{t("For developers: ", "สำหรับนักพัฒนา: ")}<a href="/console">{t("the console calls every tool", "คอนโซลเรียกใช้ได้ทุกเครื่องมือ")}</a></p>
    </>
  );
}
