// The service worker: keeps the files of Study, so that it opens without a connection. What tools
// reply never passes here.

const worker = self as unknown as WorkerScope;
const CACHE = "panoply-study-1";
const FILES = ["/study", "/app/app.css", "/app/app.js", "/app/app-study.js", "/app/app-math.js", "/app/icon.svg", "/manifest.webmanifest"];
/** A connection that does not answer is none. */
const TIMEOUT_MS = 4000;

/** The part of a worker's scope that is used; the library of TypeScript for it excludes that of pages. */
interface WorkerScope {
  location: Location;
  skipWaiting(): Promise<void>;
  clients: { claim(): Promise<void> };
  addEventListener(type: "install" | "activate", listener: (event: { waitUntil(work: Promise<unknown>): void }) => void): void;
  addEventListener(type: "fetch", listener: (event: { request: Request; respondWith(reply: Promise<Response>): void }) => void): void;
}

worker.addEventListener("install", (event) =>
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(FILES)).then(() => worker.skipWaiting())),
);

worker.addEventListener("activate", (event) =>
  event.waitUntil(
    caches.keys().then((names) => Promise.all(names.filter((name) => name !== CACHE).map((name) => caches.delete(name)))).then(() => worker.clients.claim()),
  ),
);

worker.addEventListener("fetch", (event) => {
  const { origin, pathname } = new URL(event.request.url);
  const path = pathname.replace(/\/+$/, "") || "/";
  if (event.request.method !== "GET" || origin !== worker.location.origin || !FILES.includes(path)) return;
  event.respondWith(newest(event.request, path));
});

/** From the server, so that a new release shows at once; else what is kept. */
async function newest(request: Request, path: string): Promise<Response> {
  const cache = await caches.open(CACHE);
  try {
    const reply = await fetch(request, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (reply.ok) await cache.put(path, reply.clone());
    return reply.ok ? reply : ((await cache.match(path)) ?? reply);
  } catch (error) {
    const kept = await cache.match(path);
    if (kept) return kept;
    throw error;
  }
}
