// Builds each page into one self-contained file in dist/, the console into three, the apps into a
// shell and one file per app, and puts GraphiQL beside them as its makers publish it.
//
//   node build.mjs           writes dist/
//   node build.mjs --check   fails when dist/ is not what the sources build
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const here = dirname(fileURLToPath(import.meta.url));
const dist = join(here, "dist");
/** A page is read by a model's host each time it is shown: small is polite. */
const LARGEST_PAGE = 150 * 1024;
/** Fetched only for a card with a formula. */
const LARGEST_FORMULAS = 220 * 1024;

const pages = readdirSync(join(here, "src/pages")).map((file) => file.replace(/\.ts$/, "")).sort();
const files = new Map();
for (const page of pages) files.set(`${page}.html`, await onePage(page));
for (const [name, text] of await theConsole()) files.set(name, text);
for (const [name, text] of await theApps()) files.set(name, text);
const small = new Set(files.keys());
for (const [name, text] of graphiql()) files.set(name, text);

const problems = [];
for (const [name, text] of files) {
  const bytes = Buffer.byteLength(text);
  const largest = name === "app-math.js" ? LARGEST_FORMULAS : LARGEST_PAGE;
  if (small.has(name) && bytes > largest) problems.push(`${name} has ${bytes} bytes, more than ${largest}`);
}
if (process.argv.includes("--check")) {
  const there = existsSync(dist) ? readdirSync(dist) : [];
  for (const name of there) if (!files.has(name)) problems.push(`dist/${name} has no source`);
  for (const [name, text] of files) {
    const path = join(dist, name);
    if (!existsSync(path) || readFileSync(path, "utf8") !== text) problems.push(`dist/${name} is not what the sources build`);
  }
} else if (!problems.length) {
  rmSync(dist, { recursive: true, force: true });
  mkdirSync(dist);
  for (const [name, text] of files) writeFileSync(join(dist, name), text);
}
for (const [name, text] of files) console.log(`${String(Buffer.byteLength(text)).padStart(7)} ${name}`);
for (const problem of problems) console.error(problem);
if (problems.length) console.error("run `npm run build` in widgets/ and commit dist/");
process.exit(problems.length ? 1 : 0);

/** One script with all it imports, or one style sheet. */
async function bundle(entry) {
  const isStyle = entry.endsWith(".css");
  const { output } = await build({
    root: here,
    configFile: false,
    logLevel: "error",
    // Text outside ASCII stays readable, and smaller: the pages say that they are UTF-8.
    esbuild: { charset: "utf8", legalComments: "none" },
    build: {
      write: false,
      target: "es2022",
      cssTarget: "es2022",
      minify: "esbuild",
      modulePreload: false,
      rollupOptions: {
        input: join(here, entry),
        // A style sheet that is part of a script would be put in by it.
        output: { format: isStyle ? "es" : "iife", inlineDynamicImports: true },
      },
    },
  });
  const made = output.find((file) => file.fileName.endsWith(isStyle ? ".css" : ".js"));
  return String(isStyle ? made.source : made.code).trim();
}

async function onePage(page) {
  const script = await bundle(`src/pages/${page}.ts`);
  const style = await bundle("src/common/page.css");
  // The HTML parser looks for the end tag inside of strings too.
  if (/<\/(script|style)/i.test(script + style)) throw new Error(`${page} contains an end tag`);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Panoply</title>
<style>${style}</style>
</head>
<body>
<main id="page"><noscript>This page needs scripts. The agent's answer says the same in words.</noscript></main>
<script>${script}</script>
</body>
</html>
`;
}

/** The console is served by our own server, under a policy that allows no inline script. */
async function theConsole() {
  if (!existsSync(join(here, "src/console"))) return [];
  return [
    ["console.html", readFileSync(join(here, "src/console/console.html"), "utf8")],
    ["console.js", (await bundle("src/console/main.ts")) + "\n"],
    ["console.css", (await bundle("src/console/console.css")) + "\n"],
  ];
}

/** The apps: `app.js` is the shell with Preact, `app-*.js` are fetched when an app is opened. */
async function theApps() {
  const { output } = await build({
    root: here,
    configFile: false,
    logLevel: "error",
    esbuild: { charset: "utf8", legalComments: "none", jsx: "automatic", jsxImportSource: "preact" },
    build: {
      write: false,
      target: "es2022",
      minify: "esbuild",
      modulePreload: false,
      rollupOptions: {
        input: join(here, "src/apps/main.tsx"),
        output: {
          format: "es",
          // Names without a hash: the server lists them, and `no-cache` makes browsers ask.
          entryFileNames: "app.js",
          chunkFileNames: "app-[name].js",
          manualChunks: (id) => /temml|apps\/math/.test(id) ? "math" : (/src\/apps\/(funds|tax|study|runs|herbs)/.exec(id)?.[1] ?? (/idb-keyval/.test(id) ? "study" : undefined) ?? (/src\/(rmf|cgt|ttm|noema|backtest)\//.test(id) ? undefined : "main")),
        },
      },
    },
  });
  return [
    ["app.html", readFileSync(join(here, "src/apps/app.html"), "utf8")],
    ["app.css", (await bundle("src/apps/apps.css")) + "\n"],
    ["icon.svg", readFileSync(join(here, "src/apps/icon.svg"), "utf8")],
    ["manifest.webmanifest", readFileSync(join(here, "src/apps/manifest.json"), "utf8")],
    ["sw.js", (await bundle("src/apps/worker.ts")) + "\n"],
    ...output.map((file) => [file.fileName, licence(file.fileName) + file.code.trim() + "\n"]),
  ];
}

/** The licence of what makes up most of a file. */
function licence(name) {
  if (name !== "app-math.js") return "";
  const folder = join(here, "node_modules/temml");
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return `/*!\ntemml ${version}\n\n${readFileSync(join(folder, "LICENSE"), "utf8").trim()}\n*/\n`;
}

/** GraphiQL, whole and unchanged, with React before it and its licences: it loads nothing. */
function graphiql() {
  const read = (path) => readFileSync(join(here, path), "utf8").replace(/\n?\/\/# sourceMappingURL=.*/g, "").trimEnd();
  const packages = ["react", "react-dom", "graphiql"];
  const licences = packages.map((name) => {
    const { version } = JSON.parse(read(`node_modules/${name}/package.json`));
    return `${name} ${version}\n\n${read(`node_modules/${name}/LICENSE`)}`;
  });
  const scripts = [
    "node_modules/react/umd/react.production.min.js",
    "node_modules/react-dom/umd/react-dom.production.min.js",
    "node_modules/graphiql/graphiql.min.js",
    "src/graphiql/main.js",
  ].map(read);
  return [
    ["graphiql.html", read("src/graphiql/graphiql.html") + "\n"],
    ["graphiql.js", [`/*!\n${licences.join("\n\n")}\n*/`, ...scripts].join("\n;\n") + "\n"],
    ["graphiql.css", read("node_modules/graphiql/graphiql.min.css") + "\n"],
  ];
}
