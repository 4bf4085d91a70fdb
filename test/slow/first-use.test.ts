import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { execa } from "execa";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { blocksOf } from "../docs/live-site.ts";
import { aptClient } from "../support/apt-client.ts";
import { openContext, startBrowser } from "../support/browser.ts";
import { isNightly, often } from "../support/effort.ts";
import { freePort } from "../support/port.ts";
import { repository, temporaryFolder } from "../support/run.ts";

const guide = "docs/getting-started.md";
const blocks = blocksOf(guide).filter(({ language }) => language === "sh" || language === "console");
const section = ({ headings }: { headings: readonly string[] }) => headings[1] ?? "";
const scripts = blocks.filter(({ language }) => language === "sh");
const install = scripts.filter((block) => section(block) === section(scripts[0] ?? { headings: [] }));
const afterInstall = scripts.slice(install.length);

/** The guide's lines for customers. */
const customerLines = blocksOf(guide).find(({ text }) => text.includes("apt-get install"))?.text ?? "";

/** The guide's address of relcat's repository. */
const [origin = ""] = /https:\/\/\S+\.git/.exec(install[0]?.text ?? "") ?? [];

/** Each day has a project of its own, with its installation and two releases. */
const days: [name: string, today?: string][] = [
  ["today"],
  ["in the next year", "2027-02-01T09:00:00Z"],
  ["in the last minutes of a year", "2028-12-31T23:40:00Z"],
];

let home: string;
let environment: Record<string, string>;
let browser: Browser;

/** A repository with the files of this working tree, which git clones in place of the guide's address. */
beforeAll(async () => {
  home = temporaryFolder();
  const copy = join(home, "origin");
  const listed = await execa("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: repository,
  });
  for (const path of listed.stdout.split("\0").filter(Boolean)) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    cpSync(join(repository, path), join(copy, path), { force: true, verbatimSymlinks: true });
  }
  environment = {
    GIT_CONFIG_GLOBAL: join(home, "gitconfig"),
    GIT_CONFIG_NOSYSTEM: "1",
    CI: "",
    RELCAT_SITE: "",
  };
  writeFileSync(
    environment.GIT_CONFIG_GLOBAL ?? "",
    `[user]\nname = Ann\nemail = ann@example.com\n[url "${copy}"]\ninsteadOf = ${origin}\n`,
  );
  const git = (...args: string[]) => execa("git", args, { cwd: copy, env: environment });
  await git("init", "--quiet");
  await git("add", ".");
  await git("commit", "--quiet", "--message", "Start");
  writeFileSync(join(home, "clock.mjs"), clock);
  await sh(home, install.map(({ text }) => text).join("\n"));
  browser = await startBrowser();
});
afterAll(() => browser?.close());

/** Moves the clock of relcat, and of no other program: a registry's certificate is for today. */
const clock = `if (/relcat(\\.mjs)?$/.test(process.argv[1] ?? "") && process.env.TODAY) {
  const moved = Date.parse(process.env.TODAY) - Date.now();
  const { now } = Date;
  globalThis.Date = class extends Date {
    constructor(...args) { super(...(args.length > 0 ? args : [now() + moved])); }
    static now() { return now() + moved; }
  };
}
`;

async function sh(folder: string, script: string, env: Record<string, string> = {}) {
  const clockOption = `--import=${join(home, "clock.mjs")}`;
  const result = await execa("bash", ["-c", `set -euo pipefail\n${script}`], {
    cwd: folder,
    env: { ...environment, NODE_OPTIONS: clockOption, ...env },
    reject: false,
    all: true,
  });
  expect(result.exitCode, `${script}\n${result.all}`).toBe(0);
  return String(result.all);
}

/** The commands that a reader types: settings of variables and the script in place of a build do not count. */
const commandsOf = (text: string): string[] =>
  text
    .replace(/^cat .*<<'END'\n[\s\S]*?^END$/gm, "")
    .split(/\n| && /)
    .map((line) => line.replace(/^\$ /, "").trim())
    .filter((line) => /^(?!\w+=|#|sh \.\.\/build\.sh|export )[a-z./]/.test(line));

const isAbout = (words: RegExp) => (block: { headings: readonly string[] }) => words.test(section(block));

describe("the tutorial", () => {
  test("leads from nothing to a served catalog with ten commands, and to a second release with four", () => {
    const end = blocks.findIndex(({ text }) => /^\$ npx relcat serve$/m.test(text));
    const first = blocks
      .slice(0, end)
      .map(({ text }) => text)
      .flatMap(commandsOf);
    expect(first.length, first.join("\n")).toBeGreaterThan(3);
    expect(first.length + 1, first.join("\n")).toBeLessThanOrEqual(10);
    const second = scripts.filter(isAbout(/second release/)).flatMap(({ text }) => commandsOf(text));
    expect(second.length).toBeGreaterThan(1);
    expect(second.length, second.join("\n")).toBeLessThanOrEqual(4);
  });

  test.each(days.slice(0, often(days.length, 1)))(
    "works %s, and ends with a site that a browser shows and apt installs from",
    async (name, today) => {
      const folder = join(home, name.replaceAll(" ", "-"));
      mkdirSync(folder);
      symlinkSync(join(home, "relcat"), join(folder, "relcat"));
      const env: Record<string, string> = today === undefined ? {} : { TODAY: today };
      await sh(folder, afterInstall.map(({ text }) => text).join("\n"), env);
      const project = join(folder, "downloads");
      const month = (today ?? new Date().toISOString()).slice(2, 7).replace("-", ".");
      const served = await serve(project, env);
      try {
        const context = await openContext(browser);
        const page = await context.newPage();
        const complaints: string[] = [];
        page.on("pageerror", ({ message }) => complaints.push(message));
        expect((await page.goto(served.url))?.status()).toBe(200);
        const text = await page.locator("body").innerText();
        for (const number of ["002", "003"]) expect(text).toContain(`${month}.${number}`);
        for (const file of ["hello_amd64.deb", "hello.x86_64.rpm", "hello.msi"]) expect(text).toContain(file);
        expect(complaints).toEqual([]);
        await context.close();
        const latest = await (await fetch(`${served.url}api/v1/latest.json`)).json();
        expect(latest).toMatchObject({ version: `${month}.003` });
      } finally {
        await served.stop();
      }
      // apt refuses what was signed in the future.
      if (today === undefined) await installs(join(folder, "public/current"), "1.0");
    },
  );
});

test("a project is upgraded, and goes back, as the guide says", async () => {
  const folder = join(home, "today");
  const project = join(folder, "downloads");
  const vendor = join(project, "vendor");
  const versionOf = async () => (await sh(project, "npx --no -- relcat --version")).trim();
  const [old = ""] = readdirSync(vendor);
  const before = await versionOf();
  await sh(project, "git init --quiet -b main && git add . && git commit --quiet --message Before");
  const clone = join(home, "relcat");
  const newer = "9.8.7";
  await sh(clone, `npm version --no-git-tag-version ${newer}`);
  const [pack = "", install = "", compare = ""] = blocksOf("docs/upgrading.md").map(({ text }) => text);
  // By day the clone keeps the modules that the tutorial's `npm ci` installed there.
  expect(pack).toContain("npm ci && ");
  await sh(clone, pack.replaceAll("PROJECT", project).replace(often("", "npm ci && "), ""));
  await sh(project, install.replace("VERSION", newer));
  rmSync(join(vendor, old));
  expect(await versionOf()).toBe(newer);
  const live = await serve(project, {});
  try {
    const said = await sh(project, compare.replace(/https:\S+/, live.url));
    expect(said).toContain("Nothing would change.");
  } finally {
    await live.stop();
  }
  await sh(project, "git add . && git commit --quiet --message Upgrade && npm ci");
  expect(await versionOf()).toBe(newer);
  await sh(project, "git revert --no-edit HEAD");
  await sh(project, "git diff --quiet HEAD~2");
  if (!isNightly) return;
  await sh(project, "npm ci");
  expect(await versionOf()).toBe(before);
});

/** Installs the tutorial's package with apt, from the published folder in place of the guide's address. */
async function installs(published: string, version: string): Promise<void> {
  const machine = aptClient();
  const [address = "", file = ""] = /(https:\/\/\S+)\/(\S+\.sources)/.exec(customerLines)?.slice(1) ?? [];
  const sources = readFileSync(join(published, file), "utf8");
  expect(sources).toContain(`URIs: ${address}`);
  machine.use(sources.replace(/^(URIs: ).*$/m, `$1file:${published}/`));
  const [, wanted = ""] = /apt-get install (\S+)/.exec(customerLines) ?? [];
  await machine.get("update");
  await machine.get("install", wanted);
  expect(await machine.installed(wanted)).toBe(version);
}

async function serve(folder: string, env: Record<string, string>) {
  const port = String(await freePort());
  const bin = join(folder, "node_modules/.bin");
  const running = execa(join(bin, "relcat"), ["serve", "--port", port], {
    cwd: folder,
    env: { ...environment, ...env, PATH: `${bin}:${process.env.PATH}` },
    reject: false,
  });
  const lines = createInterface({ input: running.stdout });
  const errors = createInterface({ input: running.stderr });
  const ready = await new Promise<string>((resolve, reject) => {
    for (const from of [lines, errors]) from.on("line", (line) => /http:\/\//.test(line) && resolve(line));
    running.then(({ stderr }) => reject(new Error(stderr)));
  });
  const [url = ""] = /http:\/\/[\d.]+:\d+/.exec(ready) ?? [];
  return {
    url: `${url}/`,
    async stop() {
      running.kill("SIGTERM");
      await running;
    },
  };
}
