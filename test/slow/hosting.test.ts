import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { nginxFiles } from "../../pipeline/site/hosting/nginx.ts";
import type { HostSources } from "../../pipeline/site/hosting/sources.ts";
import { servedSite } from "../site/hosting/catalog.ts";
import { send } from "../site/hosting/exchange.ts";
import { apache } from "../site/hosting/homes/apache.ts";
import { caddy } from "../site/hosting/homes/caddy.ts";
import { cloudfrontInNjs } from "../site/hosting/homes/cloudfront.ts";
import { nginx, startNginx } from "../site/hosting/homes/nginx.ts";
import { runContract } from "../site/hosting/run-contract.ts";
import { temporaryFolder } from "../support/run.ts";

/** Real servers from Debian's packages, each with the configuration that relcat wrote for it. */
runContract(nginx);
runContract(caddy);
runContract(apache);
runContract(cloudfrontInNjs);

test.each([nginx, caddy, apache])("$name redirects to no other host", async ({ start }) => {
  const { origin, stop } = await start(await servedSite(""));
  for (const path of [
    "//releases",
    "/%2Freleases",
    "//api/v1/package",
    "/api/v1/package%0A",
    "/%5Creleases/404.html/",
  ]) {
    const { headers } = await send(origin + path, "GET", {});
    expect.soft(new URL(headers.location ?? "", origin).origin, path).toBe(origin);
  }
  await stop();
});

test.each([
  ["a large catalog with long names", 20_000, 2000, 90],
  ["some hundred names", 100, 400, 18],
])("nginx takes the tables of %s without a warning", async (_, count, types, length) => {
  const folder = temporaryFolder();
  // Digests, because names that only differ in a number fill a hash table evenly.
  const type = (index: number) =>
    createHash("sha256").update(String(index)).digest("hex").repeat(2).slice(0, length);
  const numbers = (length: number) => Array.from({ length }, (_, index) => index);
  const sources: HostSources = {
    routing: {
      base: "",
      values: {
        system: [["^&$", ""]],
        type: numbers(types).map((index) => [`^${index}$`, type(index)]),
        min: [],
        max: [],
      },
      scopes: new Map(numbers(types).map((index) => [`|${type(index)}`, `type/${type(index)}`])),
      otherScopes: [["^", "none"]],
      lists: new Map(),
      otherLists: [["^", "unready"]],
      downloads: new Map(numbers(count).map((index) => [index, `26.08.001 https://example.com/${index}`])),
      gone: new Map(),
      latest: new Map(
        numbers(types).map((index) => [
          `type/${type(index)}|-|-|-|-`,
          `302 https://example.com/${type(index)}`,
        ]),
      ),
      otherLatest: [["^", "404"]],
    },
    encodings: new Set(["gz", "br"]),
    feeds: [],
    hasWellKnown: false,
    tags: new Map(),
    templates: new Map(),
  };
  for (const { path, chunks } of nginxFiles(sources)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), Buffer.concat([...chunks]));
  }
  const { origin, stop } = await startNginx(folder, join(folder, "hosting"));
  try {
    const locationOf = async (path: string) =>
      (await send(`${origin}/api/v1/package/${path}`, "GET", {})).headers.location;
    expect(await locationOf(`${count - 1}/download/`)).toBe(`https://example.com/${count - 1}`);
    expect(
      await locationOf(
        `latest/?package_type=${types - 1}&min_os_version=x&max_os_version=x&gui_only=x&headless=x`,
      ),
    ).toBe(`https://example.com/${type(types - 1)}`);
  } finally {
    stop();
  }
});
