import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from "playwright-core";
import { startOrigin } from "../../service/catalog/node.ts";
import { copyProject, relcat, repository, temporaryFolder } from "./run.ts";
import { readTree, type Tree } from "./tree.ts";

const switches =
  "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync";

/** A machine that is busy elsewhere starts a browser slowly. */
const maxStartMilliseconds = 300_000;
/** Playwright waits this long for a missing label or address before the test fails. */
const maxStepMilliseconds = 30_000;

/** The headless shell opens a page in a third of the time of the whole browser, which has a window for each. */
export const startBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: "/usr/bin/chromium-headless-shell",
    args: switches.split(" "),
    timeout: maxStartMilliseconds,
  });

export async function openContext(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(maxStepMilliseconds);
  return context;
}

/** The repository's sample, built for a base path. */
export async function sampleTree(): Promise<Tree> {
  const folder = copyProject(".");
  const config = join(folder, "releases/catalog.yaml");
  const base = "base_url: https://downloads.example.com/some/base";
  writeFileSync(config, readFileSync(config, "utf8").replace(/^base_url: .*$/m, base));
  const { exitCode, stderr } = await relcat(folder, ["build"]);
  if (exitCode !== 0) throw new Error(stderr);
  return readTree(join(folder, "dist"));
}

export const onePageOfEachKind = [
  "",
  "page/26.08/",
  "releases/",
  "releases/26.08.001/",
  "changes/26.08.001/",
  "changes/?from=26.05.001&to=26.09.001",
  "platforms/",
  "platforms/Debian-and-Ubuntu/",
  "api/v1/package/",
  "search/?q=client",
  "api/reference/",
  "feeds/",
  "404.html",
];

/** Pages that move on, or that answer with an error; their errors are not collected. */
const otherPages = ["api/v1/package/page/26.08/", "releases/latest/", "api/v1/package/70/", "nowhere/"];
export const everyKindOfPage = [...onePageOfEachKind, ...otherPages];

/** A site in the browser. */
export interface Visited {
  url: string;
  /** Paths of its pages, except the redirect, which has a separate test. */
  pages: string[];
  /** Opens a page in a context for its options, and collects its errors. */
  open(path: string, options?: BrowserContextOptions): Promise<Visit>;
  /** Opens pages one after the other in one tab, which takes half the time of a tab for each. */
  openEach(
    paths: readonly string[],
    options: BrowserContextOptions,
    look: (page: Page, path: string, complaints: readonly string[]) => Promise<void>,
  ): Promise<void>;
  stop(): Promise<void>;
}

export interface Visit {
  page: Page;
  complaints: string[];
  close(): Promise<void>;
}

/**
 * Opens a site behind relcat's own server, with its headers.
 * @param base base path of the site
 */
export async function visit(browser: Browser, tree: Tree, base = "/some/base/"): Promise<Visited> {
  const folder = temporaryFolder();
  for (const [path, bytes] of tree) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), bytes);
  }
  const origin = await startOrigin({
    folder,
    host: "127.0.0.1",
    port: 0,
    clock: () => performance.now(),
    log: () => {},
  });
  const url = origin.url + base;
  const contexts = new Map<string, BrowserContext>();
  const tab = async (options: BrowserContextOptions): Promise<Visit> => {
    const key = JSON.stringify(options);
    const context = contexts.get(key) ?? (await openContext(browser, options));
    contexts.set(key, context);
    const page = await context.newPage();
    return { page, complaints: complaintsOf(page, url), close: () => page.close() };
  };
  const open: Visited["open"] = async (path, options = {}) => {
    const opened = await tab(options);
    await opened.page.goto(url + path);
    return opened;
  };
  const openEach: Visited["openEach"] = async (paths, options, look) => {
    const { page, complaints, close } = await tab(options);
    for (const path of paths) {
      await page.goto(url + path);
      await look(page, path, complaints);
    }
    await close();
  };
  const stop = async () => {
    for (const context of contexts.values()) await context.close();
    await origin.close();
  };
  const pages = [...tree.keys()]
    .filter((path) => path.endsWith(".html") && path !== "releases/latest/index.html")
    .map((path) => path.replace(/index\.html$/, ""));
  return { url, pages, open, openEach, stop };
}

/** Collects the errors of a page. */
export function complaintsOf(page: Page, url: string): string[] {
  const complaints: string[] = [];
  const complain = (text: string) => complaints.push(`${page.url()}: ${text}`);
  page.on("console", (message) => complain(message.text()));
  page.on("pageerror", (error) => complain(error.message));
  page.on("dialog", (dialog) => {
    complain(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("response", (response) => {
    if (response.status() >= 400) complain(`${response.status()} ${response.url()}`);
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(url)) complain(`asks ${request.url()}`);
  });
  return complaints;
}

const output = join(repository, "test/output");

/** Stores a screenshot in test/output/. @param fullPage also what has to be scrolled to */
export async function picture(page: Page, name: string, fullPage = false): Promise<void> {
  mkdirSync(output, { recursive: true });
  await page.screenshot({ path: join(output, `${name.replace(/\W+/g, "-")}.png`), fullPage });
}
