// Counts what holds and what does not.
export const failures = [];
let held = 0;

export function check(condition, what) {
  if (condition) held += 1;
  else {
    failures.push(what);
    console.log(`FAILED: ${what}`);
  }
}

export function same(actual, expected, what) {
  check(actual === expected, `${what}: expected ${JSON.stringify(expected)}, found ${JSON.stringify(actual)}`);
}

export function includes(text, part, what) {
  check(text.includes(part), `${what}: ${JSON.stringify(part)} is missing in ${JSON.stringify(text.slice(0, 400))}`);
}

export function told() {
  return `${held} held, ${failures.length} failed`;
}

/** The server under judgement. */
export function server(base) {
  let last = 0;
  const rpc = async (method, params) => {
    const response = await fetch(`${base}/mcp`, { method: "POST", headers: { "content-type": "application/json", accept: "application/json, text/event-stream" }, body: JSON.stringify({ jsonrpc: "2.0", id: ++last, method, params }) });
    const reply = await response.json();
    if (reply.error) throw new Error(`${method} ${JSON.stringify(params).slice(0, 200)}: ${reply.error.message}`);
    return reply.result;
  };
  return { base, rpc, call: (name, input) => rpc("tools/call", { name, arguments: input }) };
}

/** A figure as people write it, made without the code under judgement: half a unit goes up, by
 * the digits of the reply and not by those of the nearest double. */
export function written(value, digits, sign = false) {
  const [whole, part = ""] = String(Math.abs(value)).split(".");
  const kept = BigInt(whole + part.slice(0, digits).padEnd(digits, "0")) + (Number(part[digits] ?? 0) >= 5 ? 1n : 0n);
  const text = String(kept).padStart(digits + 1, "0");
  const front = text.slice(0, text.length - digits).replace(/\B(?=(\d{3})+$)/g, ",");
  const mark = value < 0 ? "−" : sign && kept > 0n ? "+" : "";
  return mark + front + (digits ? `.${text.slice(-digits)}` : "");
}

const MONTHS = { en: "Jan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec".split(" "), th: "ม.ค. ก.พ. มี.ค. เม.ย. พ.ค. มิ.ย. ก.ค. ส.ค. ก.ย. ต.ค. พ.ย. ธ.ค.".split(" ") };
/** Thai readers count years of the Buddhist era; the other era of a language is named. */
export function dateOf(iso, lang, buddhist = lang === "th") {
  const [year, month, day] = iso.slice(0, 10).split("-").map(Number);
  const years = { en: [`${year}`, `${year + 543} BE`], th: [`ค.ศ. ${year}`, `${year + 543}`] };
  return `${day} ${MONTHS[lang][month - 1]} ${years[lang][Number(buddhist)]}`;
}
