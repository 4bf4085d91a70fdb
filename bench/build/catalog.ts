import { createHash } from "node:crypto";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { expectedTypes, manifestsOf, revisionOf } from "./artifacts.ts";
import { notesYaml } from "./notes.ts";

/** A project whose releases are cut, and one release more that waits beside it. */
export interface Project {
  folder: string;
  releases: number;
  added: string;
}

const configuration = `product: Northgate Controller
base_url: https://downloads.example.com
artifact_url: "{base_url}/files/{version}/{file}"
require:
  store: [image]
  vendor: [image]
  attestation: [client, image]
  attestation_from: "16.01"
expected: [${expectedTypes.join(", ")}]
`;

/** Debs for two systems, rpms, and charts. */
const feeds = `feeds:
  apt: { suites: { focal: "20.04", jammy: "22.04" } }
  yum: {}
  helm: {}
`;

/** A catalog that these made is made again when one of them changes. */
const makers = ["artifacts.ts", "package-data.ts", "notes.ts", "catalog.ts"];

/**
 * A catalog of many releases, the same each time; the folder of an earlier run is taken when nothing changed.
 * @param relcat the path of relcat.mjs, which cuts the releases
 * @param hasFeeds whether its packages have metadata, and its site package feeds
 */
export async function makeProject(
  work: string,
  releases: number,
  relcat: string,
  hasFeeds = false,
): Promise<Project> {
  const folder = join(work, `catalog-${releases}${hasFeeds ? "-feeds" : ""}`);
  const project = { folder, releases, added: versionAt(releases, releases) };
  const made = join(folder, "made");
  const state = makerState();
  if (existsSync(made) && readFileSync(made, "utf8") === state) {
    withdrawAdded(project);
    return project;
  }
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, "releases"), { recursive: true });
  configure(folder, hasFeeds);
  for (let number = 0; number < releases; number++)
    writeRelease(folder, versionAt(number, releases), hasFeeds);
  await cut(project, relcat, "2026-01-01T06:00:00.000000Z", "before");
  writeRelease(folder, project.added, hasFeeds);
  await cut(project, relcat, "2026-01-02T06:00:00.000000Z", "after");
  renameSync(join(folder, "releases", project.added), join(folder, "added"));
  withdrawAdded(project);
  writeFileSync(made, state);
  return project;
}

/** Switches package feeds on or off. */
export const configure = (folder: string, hasFeeds: boolean): void =>
  writeFileSync(join(folder, "releases/catalog.yaml"), configuration + (hasFeeds ? feeds : ""));

function makerState(): string {
  const hash = createHash("sha256");
  for (const name of makers) hash.update(readFileSync(join(import.meta.dirname, name)));
  return hash.digest("hex");
}

/** Ten releases a month from January 2016; a hundred where there are so many that no century would have room. */
function versionAt(number: number, releases: number): string {
  const monthly = Math.max(10, releases / 100);
  const month = Math.floor(number / monthly);
  const sequence = String((number % monthly) + 1).padStart(3, "0");
  return `${16 + Math.floor(month / 12)}.${String((month % 12) + 1).padStart(2, "0")}.${sequence}`;
}

function writeRelease(folder: string, version: string, hasFeeds: boolean): void {
  mkdirSync(join(folder, "releases", version, "manifests"), { recursive: true });
  for (const [path, text] of Object.entries(releaseFiles(version, hasFeeds)))
    writeFileSync(join(folder, path), text);
}

/** The files of a release, by their paths in the project. */
export function releaseFiles(version: string, hasPackageData: boolean): Record<string, string> {
  const folder = `releases/${version}`;
  const [year, month] = version.split(".");
  const head = `version: ${version}\ndate: 20${year}-${month}-15\nrevs:\n  controller: ${revisionOf(version)}\n`;
  const manifests = manifestsOf(version, hasPackageData).map(({ name, text }) => [
    `${folder}/manifests/${name}`,
    text,
  ]);
  return { [`${folder}/release.yaml`]: head + notesYaml(version), ...Object.fromEntries(manifests) };
}

/** Cuts what is not cut, and keeps the ledger under a name. */
async function cut({ folder }: Project, relcat: string, at: string, name: string): Promise<void> {
  await execa(process.execPath, [relcat, "cut", "--all", "--now", at], { cwd: folder, timeout: 900_000 });
  copyFileSync(join(folder, "releases/ledger.jsonl"), join(folder, `${name}.jsonl`));
}

/** The waiting release is there, and cut. */
export function addRelease({ folder, added }: Project): void {
  cpSync(join(folder, "added"), join(folder, "releases", added), { recursive: true });
  copyFileSync(join(folder, "after.jsonl"), join(folder, "releases/ledger.jsonl"));
}

/** It is not there any more, nor is anything built. */
export function withdrawAdded({ folder, added }: Project): void {
  const built = ["dist", ".relcat-cache", join("releases", added)];
  for (const name of built) rmSync(join(folder, name), { recursive: true, force: true });
  copyFileSync(join(folder, "before.jsonl"), join(folder, "releases/ledger.jsonl"));
}
