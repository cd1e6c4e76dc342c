// The shell of the apps: which page the address names, language, theme, sign-in.

import { ComponentType, render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { applyTheme, language, setLanguage, setTheme, theme } from "../console/settings";
import { apps } from "./catalog";
import { key, onKeyNeeded, rpc } from "./client";
import { Connect } from "./connect";
import { Home } from "./home";
import { Loading, Problem } from "./parts";
import { reader, t, visits } from "./state";
import { Status } from "./status";

/** Each app is a file of its own, fetched when it is opened. */
const pages: Record<string, () => Promise<ComponentType>> = {
  "/rmf": async () => (await import("./funds")).Funds,
  "/cgt": async () => (await import("./tax")).Tax,
  "/study": async () => (await import("./study")).Study,
  "/runs": async () => (await import("./runs")).Runs,
  "/herbs": async () => (await import("./herbs")).Herbs,
};

const path = location.pathname.replace(/\/+$/, "") || "/";

function App() {
  const [, redraw] = useState(0);
  const [asking, setAsking] = useState(false);
  const [signedIn, setSignedIn] = useState(0);
  const [connecting, setConnecting] = useState(false);
  const lang = language();
  const app = apps.find((one) => one.path === path);
  useEffect(() => onKeyNeeded(() => setAsking(true)), []);
  useEffect(() => {
    document.documentElement.lang = lang;
    document.title = app ? `${app.name[lang]} · Panoply` : "Panoply";
  }, [lang]);
  const other = lang === "th" ? "en" : "th";
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById("main")?.focus(); }}>{t("Skip to content", "ข้ามไปเนื้อหา")}</a>
      <header class="bar">
        <a class="brand" href="/" aria-current={path === "/" ? "page" : undefined}>Panoply</a>
        <nav class="apps" aria-label={t("Apps", "แอป")}>
          {apps.map((one) => <a key={one.path} href={one.path} aria-current={one.path === path ? "page" : undefined}>{one.short[lang]}</a>)}
        </nav>
        <div class="choices">
          <button type="button" class="roomy" onClick={() => setConnecting(true)}>{t("Connect an agent", "เชื่อมต่อเอเจนต์")}</button>
          <button type="button" lang={other} onClick={() => { setLanguage(other); redraw((n) => n + 1); }}>{other === "th" ? "ไทย" : "English"}</button>
          <button type="button" onClick={() => { setTheme(theme() === "dark" ? "light" : "dark"); redraw((n) => n + 1); }}>{theme() === "dark" ? t("Light", "สว่าง") : t("Dark", "มืด")}</button>
        </div>
      </header>
      <main id="main" tabIndex={-1} key={signedIn}>{app ? <Lazy path={app.path} title={app.name[lang]} /> : <Home connect={() => setConnecting(true)} />}</main>
      <Status key={`status-${signedIn}`} withDates={!app} />
      {asking && <SignIn done={() => { setAsking(false); setSignedIn(signedIn + 1); }} close={() => setAsking(false)} />}
      {connecting && <Connect close={() => setConnecting(false)} />}
    </>
  );
}

function Lazy({ path, title }: { path: string; title: string }) {
  const [page, set] = useState<{ Page: ComponentType } | null>(null);
  const [error, fail] = useState<Error | null>(null);
  useEffect(() => {
    visits.add(path);
    pages[path]?.().then((Page) => set({ Page }), fail);
  }, []);
  return (
    <>
      <h1>{title}</h1>
      {error ? <Problem error={error} again={() => location.reload()} /> : page ? <page.Page /> : <Loading />}
    </>
  );
}

/** The key is kept until the tab is closed. */
function SignIn({ done, close }: { done: () => void; close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [wrong, setWrong] = useState(false);
  const [value, setValue] = useState("");
  useEffect(() => dialog.current?.showModal(), []);
  const submit = async (event: Event) => {
    event.preventDefault();
    key.set(value.trim());
    try {
      await rpc("tools/list", {});
      done();
    } catch {
      key.set("");
      setWrong(true);
    }
  };
  return (
    <dialog ref={dialog} aria-labelledby="sign-in" onClose={close}>
      <form onSubmit={submit}>
        <h2 id="sign-in">{t("This server asks for a key", "เซิร์ฟเวอร์นี้ต้องใช้คีย์")}</h2>
        <p>{t("Whoever runs the server makes one with `panoply keys create NAME`. It is kept until this tab is closed.", "ผู้ดูแลเซิร์ฟเวอร์สร้างได้ด้วย `panoply keys create NAME` คีย์จะเก็บไว้จนกว่าจะปิดแท็บนี้")}</p>
        <div class="field">
          <label for="key">{t("Key", "คีย์")}</label>
          <input id="key" type="password" autocomplete="off" required value={value} aria-invalid={wrong} aria-describedby={wrong ? "key-wrong" : undefined} onInput={(event) => setValue(event.currentTarget.value)} />
          {wrong && <p id="key-wrong" role="alert" class="down">{t("The server does not accept this key.", "เซิร์ฟเวอร์ไม่รับคีย์นี้")}</p>}
        </div>
        <p class="actions">
          <button type="submit" class="strong">{t("Sign in", "เข้าใช้")}</button>
          <button type="button" onClick={() => dialog.current?.close()}>{t("Cancel", "ยกเลิก")}</button>
        </p>
      </form>
    </dialog>
  );
}

applyTheme();
document.documentElement.lang = reader().lang;
render(<App />, document.getElementById("app") as HTMLElement);
