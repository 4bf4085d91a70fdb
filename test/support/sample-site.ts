import type { Browser } from "playwright-core";
import { afterAll, beforeAll } from "vitest";
import { sampleTree, startBrowser, type Visited, visit } from "./browser.ts";

/** Opens the sample in a browser before the tests of a file, and closes both after them. */
export function sampleInBrowser(): { browser: Browser; site: Visited } {
  const opened = {} as { browser: Browser; site: Visited };
  beforeAll(async () => {
    opened.browser = await startBrowser();
    opened.site = await visit(opened.browser, await sampleTree());
  });
  afterAll(async () => {
    await opened.site?.stop();
    await opened.browser?.close();
  });
  return opened;
}
