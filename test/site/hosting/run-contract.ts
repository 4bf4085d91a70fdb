import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { askedInTurn, carelessCache } from "./careless-cache.ts";
import { addSecret, fileOf, type ServedSite, servedSite } from "./catalog.ts";
import { contract, type Exchange, type Part } from "./contract.ts";
import { send } from "./exchange.ts";
import { differences, type Expected } from "./expectation.ts";
import { hasPrograms, installers, runInstaller } from "./installers.ts";

/** A part of the contract that a home does not support, with the reason. */
export interface Exception {
  part: Part;
  /** Names of the exchanges; without any, all of the part. */
  exchanges?: readonly string[];
  reason: string;
  /** Its different answer; without it, any answer outside the contract. */
  instead?: Expected;
}

/** A server or host of a site. */
export interface Home {
  name: string;
  /** Base paths for the tests; default: the root and /some/base. */
  bases?: readonly string[];
  exceptions: readonly Exception[];
  /** Serves the site on 127.0.0.1. */
  start(site: ServedSite): Promise<RunningHome>;
}

export interface RunningHome {
  /** Origin of the base URL, without path and final slash. */
  origin: string;
  stop(): Promise<void> | void;
}

export const exceptionFor = ({ exceptions }: Pick<Home, "exceptions">, { part, name }: Exchange) =>
  exceptions.find((each) => each.part === part && (each.exchanges?.includes(name) ?? true));

const bases = ["", "/some/base"];

/** One test per exchange and base path. An unnecessary exception fails as well. */
export function runContract(home: Home): void {
  describe.each(home.bases ?? bases)(`${home.name} below "%s/"`, (base) => {
    let site: ServedSite;
    let running: RunningHome;
    beforeAll(async () => {
      site = await servedSite(base);
      addSecret(site.folder);
      running = await home.start(site);
    });
    afterAll(() => running?.stop());

    for (const [index, { part, name }] of exchanges.entries()) {
      // Clients ask for a registry at the root of its host only.
      if (part === "registry" && base !== "") continue;
      test(`${part}: ${name}`, async () => {
        const exchange = contract(site)[index] as Exchange;
        const found = await tried(exchange, running.origin + base, site);
        const exception = exceptionFor(home, exchange);
        if (!exception) return expect(found.join("\n")).toBe("");
        expect(found, `needs no exception any more: ${exception.reason}`).not.toEqual([]);
        if (!exception.instead) return;
        const { expected: _, again: __, ...request } = exchange;
        expect(await tried({ ...request, expected: exception.instead }, running.origin + base, site)).toEqual(
          [],
        );
      });
    }

    const choosesRendering = !home.exceptions.some(
      ({ part, exchanges }) => part === "rendering" && !exchanges,
    );

    test.runIf(choosesRendering)("representations have different validators", async () => {
      const tags = await etags(running.origin + base, home);
      expect(new Set(tags.values()).size, JSON.stringify([...tags])).toBe(tags.size);
    });

    test.runIf(choosesRendering)("installers get no page from a cache that ignores Vary", async () => {
      const cache = await carelessCache(running.origin);
      try {
        expect(await askedInTurn(`${cache.origin}${base}`)).toEqual([]);
      } finally {
        cache.stop();
      }
    });

    for (const [name, script] of Object.entries(installers)) {
      test.runIf(choosesRendering && hasPrograms)(`installer: ${name}`, async () => {
        expect(await runInstaller(script, running.origin + base)).toBe(fileOf(script.file));
      });
    }
  });
}

/** Parts and names of the exchanges, which are the same for every site. */
export const exchanges: readonly Exchange[] = contract({
  folder: "",
  base: "",
  tree: new Map([["api/v1/package/index.json", Buffer.from("[]")]]),
  ids: {} as never,
});

async function tried(exchange: Exchange, url: string, site: ServedSite): Promise<string[]> {
  const { method = "GET", path, headers = {}, expected, again } = exchange;
  const answer = await send(url + path, method, headers);
  const found = differences(answer, expected, site);
  if (found.length > 0 || !again) return found;
  const second = await send(url + path, method, { ...headers, "If-None-Match": answer.headers.etag ?? "" });
  return differences(second, again, site).map((each) => `the second time, ${each}`);
}

async function etags(url: string, home: Home): Promise<Map<string, string>> {
  const list = `${url}/api/v1/package/`;
  const compressed = home.exceptions.some(
    (each) => each.part === "encodings" && each.exchanges?.includes("brotli"),
  )
    ? []
    : ["br", "gzip"];
  const tags = new Map<string, string>();
  for (const encoding of ["identity", ...compressed]) {
    for (const query of ["", "?ordering=-id", "?format=api"]) {
      const { headers } = await send(list + query, "GET", { Accept: "*/*", "Accept-Encoding": encoding });
      tags.set(`${query} ${headers["content-encoding"] ?? "identity"}`, headers.etag ?? "");
    }
  }
  return tags;
}
