import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Live } from "../../support/live-catalog.ts";
import { type Files, type Project, project } from "../../support/project.ts";
import { repository } from "../../support/run.ts";

/** The messy catalog of test/fixtures/import, with every irregularity of real lists. */
export const messy = (): Live[] =>
  JSON.parse(readFileSync(join(repository, "test/fixtures/import/messy.json"), "utf8"));

/** An empty project with a list to import in live.json. */
export function liveProject(records: readonly unknown[] | string, files: Files = {}): Project {
  const made = project(files);
  setLive(made, records);
  return made;
}

export function setLive({ folder }: Project, records: readonly unknown[] | string): void {
  writeFileSync(join(folder, "live.json"), typeof records === "string" ? records : JSON.stringify(records));
}

/** The list the built site serves, ascending by id. */
export async function rebuilt(made: Project): Promise<Live[]> {
  await made.succeed("build", "--released");
  return byId(JSON.parse(made.read("dist/api/v1/package/index.json")));
}

export const byId = (records: readonly Live[]): Live[] => records.toSorted((a, b) => a.id - b.id);

export async function expectRebuilt(made: Project, records: readonly Live[]): Promise<void> {
  expect(await rebuilt(made)).toEqual(byId(records));
}

/** Problems of a failing command: severity, code and message, without hints. */
export function complaints(stderr: string): string[] {
  return stderr.split("\n").filter((line) => /^(?:\S+:\d+:\d+ )?(?:error|warning)\[/.test(line));
}

/** The lines of the ledger as values. */
export const ledgerOf = (made: Project): Record<string, unknown>[] =>
  made
    .read("releases/ledger.jsonl")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

/** An entry of import's own manifest. */
export const entryOf = (made: Project, version: string, name: string) =>
  JSON.parse(made.read(`releases/${version}/manifests/imported.json`)).artifacts.find(
    (entry: { name: string }) => entry.name === name,
  );
