import { lstatSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type AptClient, aptClient } from "../support/apt-client.ts";
import { type AptSite, aptSite } from "../support/apt-site.ts";
import { slowLines } from "../support/slow-lines.ts";

const minutes = 60_000;
const rounds = 100;
const clientsOfEachLine = 4;
/** Enough for each round to list another choice of them. */
const names = Array.from({ length: 7 }, (_, index) => `part-${index}`);

/** Milliseconds since 1970, and what apt-get printed. */
interface Update {
  from: number;
  to: number;
  output: string;
}

test(
  "a publish during an update breaks it neither at the site nor behind a cache",
  async () => {
    const site = await newSite();
    const { origin } = new URL(site.url);
    const { direct, cached } = await slowLines(origin);
    const sources = site.read("acme-stable.sources");
    const lines = [direct, cached].map((line) =>
      Array.from({ length: clientsOfEachLine }, () => {
        const client = aptClient();
        client.use(sources.replace(origin, line));
        return client;
      }),
    );
    const switches: number[] = [];
    const published = publishOften(site, switches);
    const updates = await Promise.all(
      lines.map((clients) => Promise.all(clients.map((client) => updateUntil(published, client)))),
    );
    await published;

    const all = updates.flat(2);
    expect(all.map(({ output }) => output).filter((output) => /^(?:Err|W|E):/m.test(output))).toEqual([]);
    const interrupted = switches.filter((at) => all.some(({ from, to }) => from < at && at < to));
    expect(interrupted.length).toBeGreaterThanOrEqual(30);
    // Both lines showed new indexes again and again.
    for (const line of updates)
      expect(line.flat().filter(({ output }) => /^Get:.* Packages /m.test(output)).length).toBeGreaterThan(
        10,
      );
  },
  10 * minutes,
);

async function newSite(): Promise<AptSite> {
  const site = await aptSite(["live"], { feeds: { apt: {} } });
  const debs = names.map((name) => ({ name, version: "1.0", set: ["min_os_version=22.04"] }));
  await site.release("26.08.001", debs);
  await site.run("cut", "--all");
  await site.publish("live");
  return site;
}

/** @param switches receives the times at which a build became live */
async function publishOften(site: AptSite, switches: number[]): Promise<void> {
  const config = JSON.parse(site.project.read("releases/catalog.yaml"));
  for (let round = 1; round <= rounds; round++) {
    const chosen = names.filter((_, index) => (round >> index) & 1);
    const feeds = { apt: { suites: { stable: { match: `{${chosen.join()},none}_*` } } } };
    site.project.write("releases/catalog.yaml", { ...config, feeds });
    await site.publish("live");
    switches.push(lstatSync(join(site.folder, "live/current")).ctimeMs);
  }
}

/** Updates one after the other. */
async function updateUntil(end: Promise<void>, client: AptClient): Promise<Update[]> {
  const updates: Update[] = [];
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  end.then(over, over);
  while (!isOver) {
    const from = Date.now();
    const { output } = await client.run("apt-get", "update");
    updates.push({ from, to: Date.now(), output });
  }
  return updates;
}
