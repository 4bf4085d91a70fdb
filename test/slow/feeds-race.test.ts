import { cpSync, lstatSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { aptClient } from "../support/apt-client.ts";
import { type AptSite, aptSite } from "../support/apt-site.ts";
import { often } from "../support/effort.ts";
import { buildRpm } from "../support/rpm-builds.ts";
import { temporaryFolder } from "../support/run.ts";
import { slowLines } from "../support/slow-lines.ts";
import { dnfClient } from "../support/yum-clients.ts";

const minutes = 60_000;
const rounds = often(100, 10);
const aptClientsOfEachLine = 4;
const version = "26.08.001";
/** Enough for each round to list another choice of them. */
const names = Array.from({ length: 7 }, (_, index) => `part-${index}`);

/** The exit code of a client, and what it printed. */
interface Outcome {
  exitCode: number;
  output: string;
}

/** Times are in milliseconds since 1970. */
interface Update extends Outcome {
  from: number;
  to: number;
}

test(
  "a publish during an update breaks it neither at the site nor behind a cache",
  async () => {
    const site = await newSite();
    const { origin } = new URL(site.url);
    const { direct, cached } = await slowLines(origin);
    const sources = site.read("acme-stable.sources");
    const repository = site.read("acme-stable.repo");
    const lines = [direct, cached].map((line) => ({
      apt: Array.from({ length: aptClientsOfEachLine }, () => {
        const client = aptClient();
        client.use(sources.replace(origin, line));
        return () => client.run("apt-get", "update");
      }),
      dnf: [dnfAt(repository.replaceAll(origin, line))],
    }));
    const switches: number[] = [];
    const published = publishOften(site, switches);
    const untilThen = (clients: readonly (() => Promise<Outcome>)[]) =>
      Promise.all(clients.map((update) => updateUntil(published, update)));
    const updates = await Promise.all(
      lines.map(async ({ apt, dnf }) => {
        const [ofApt, ofDnf] = await Promise.all([untilThen(apt), untilThen(dnf)]);
        return { apt: ofApt.flat(), dnf: ofDnf.flat() };
      }),
    );
    await published;

    const apt = updates.flatMap((line) => line.apt);
    const dnf = updates.flatMap((line) => line.dnf);
    expect(apt.map(({ output }) => output).filter((output) => /^(?:Err|W|E):/m.test(output))).toEqual([]);
    expect(dnf.filter(({ exitCode, output }) => exitCode !== 0 || /error|warning/i.test(output))).toEqual([]);
    const interrupted = (all: readonly Update[]) =>
      switches.filter((at) => all.some(({ from, to }) => from < at && at < to)).length;
    expect(interrupted(apt)).toBeGreaterThanOrEqual(rounds * 0.3);
    expect(interrupted(dnf)).toBeGreaterThanOrEqual(rounds * 0.3);
    // Both lines showed new indexes again and again.
    for (const line of updates)
      expect(line.apt.filter(({ output }) => /^Get:.* Packages /m.test(output)).length).toBeGreaterThan(
        rounds / 4,
      );
  },
  20 * minutes,
);

async function newSite(): Promise<AptSite> {
  const site = await aptSite(["live"], { feeds: { apt: {}, yum: {} } });
  const debs = names.map((name) => ({ name, version: "1.0", set: ["min_os_version=22.04"] }));
  await site.release(version, debs);
  const rpms = await Promise.all(
    names.map((name) =>
      buildRpm(temporaryFolder(), {
        name,
        version: "1.0",
        arch: "noarch",
        files: { [`/opt/${name}`]: name },
      }),
    ),
  );
  await site.run("ingest", "--release", version, "--job", "rpms", ...rpms);
  for (const path of rpms) cpSync(path, join(site.folder, "live/files", version, basename(path)));
  await site.run("cut", "--all");
  await site.publish("live");
  return site;
}

/** @param switches receives the times at which a build became live */
async function publishOften(site: AptSite, switches: number[]): Promise<void> {
  const config = JSON.parse(site.project.read("releases/catalog.yaml"));
  for (let round = 1; round <= rounds; round++) {
    const chosen = names.filter((_, index) => (round >> index) & 1);
    const listed = `{${chosen.join()},none}`;
    const feeds = {
      apt: { suites: { stable: { match: `${listed}_*` } } },
      yum: { repos: { stable: { match: `${listed}-*` } } },
    };
    site.project.write("releases/catalog.yaml", { ...config, feeds });
    await site.publish("live");
    switches.push(lstatSync(join(site.folder, "live/current")).ctimeMs);
  }
}

function dnfAt(repository: string): () => Promise<Outcome> {
  const client = dnfClient();
  client.use(repository);
  return () => client.run(...client.refresh);
}

/** Updates one after the other. */
async function updateUntil(end: Promise<void>, update: () => Promise<Outcome>): Promise<Update[]> {
  const updates: Update[] = [];
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  end.then(over, over);
  while (!isOver) {
    const from = Date.now();
    const outcome = await update();
    updates.push({ from, to: Date.now(), ...outcome });
  }
  return updates;
}
