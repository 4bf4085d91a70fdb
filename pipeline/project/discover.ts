import type { Code, Problem } from "../../shared/errors.ts";
import { isVersion } from "../../shared/version.ts";
import { brandFolder, templateFolder } from "../documents/pages/page-templates.ts";
import { type AuthoredFiles, filesIn } from "./authored-files.ts";

/** Files of one release, relative to the releases folder, sorted. */
export interface ReleaseFiles {
  version: string;
  release: string | undefined;
  notes: string[];
  manifests: string[];
}

export interface Discovered {
  folder: string;
  config: string | undefined;
  exceptions: string | undefined;
  ledger: string | undefined;
  /** Ascending by version. */
  releases: ReleaseFiles[];
  next: string[];
  /** Fingerprints of OpenPGP certificates. */
  certificates: string[];
  templates: string[];
  problems: Problem[];
}

/** A file outside the layout is a problem, because a misplaced manifest would otherwise silently not ship. */
export async function discover(folder: string, files: AuthoredFiles = filesIn(folder)): Promise<Discovered> {
  const releases = new Map<string, ReleaseFiles>();
  const found: Discovered = {
    folder,
    config: undefined,
    exceptions: undefined,
    ledger: undefined,
    releases: [],
    next: [],
    certificates: [],
    templates: [],
    problems: [],
  };
  for (const path of await files.list()) {
    const [top = "", ...rest] = path.split("/");
    if (isIgnored(path) || (ownFiles.has(top) && rest.length > 0)) continue;
    if (rest.length === 0) placeTopLevel(found, top);
    else if (top === "next") placeNext(found, path, rest);
    else if (top === templateFolder && rest.length > 0) found.templates.push(rest.join("/"));
    else if (top === "trust") placeTrust(found, path, rest);
    else if (!releases.has(top) && !isVersion(top)) reportFolder(found, top);
    else placeInRelease(found, releaseOf(releases, top), path, rest);
  }
  for (const name of files.folders()) if (fileNames.includes(name)) reportFolder(found, name);
  found.releases = [...releases.values()];
  return found;
}

/** Folders whose files catalog.yaml names. */
const ownFiles = new Set(["signers", brandFolder]);

const fileNames = ["catalog.yaml", "exceptions.yaml", "ledger.jsonl"];

/** Dot files and readmes are allowed anywhere, for people and their tools. */
export const isIgnored = (path: string) => /(?:^|\/)(?:\.|README\.md$)/.test(path);

function releaseOf(releases: Map<string, ReleaseFiles>, version: string): ReleaseFiles {
  const release = releases.get(version) ?? { version, release: undefined, notes: [], manifests: [] };
  releases.set(version, release);
  return release;
}

function placeTopLevel(found: Discovered, name: string): void {
  if (name === "catalog.yaml") found.config = name;
  else if (name === "exceptions.yaml") found.exceptions = name;
  else if (name === "ledger.jsonl") found.ledger = name;
  else
    unexpected(
      found,
      name,
      "catalog.yaml, ledger.jsonl, exceptions.yaml, brand/, next/, signers/, templates/, trust/ and one folder per version",
    );
}

function placeNext(found: Discovered, path: string, rest: string[]): void {
  if (rest.length === 2 && rest[0] === "notes" && isYaml(path)) found.next.push(path);
  else unexpected(found, path, "next/notes/*.yaml");
}

function placeTrust(found: Discovered, path: string, [name = "", ...rest]: string[]): void {
  if (rest.length === 0 && /^(?:([1-9]\d*\.root|root\.pending|targets)\.json|packslip\.pub)$/.test(name))
    return;
  const [, isKeyFile, fingerprint] =
    /^openpgp\/(?:(keys\.json)|([0-9A-F]{40})\.asc)$/.exec([name, ...rest].join("/")) ?? [];
  if (fingerprint !== undefined) found.certificates.push(fingerprint);
  if (isKeyFile ?? fingerprint) return;
  unexpected(
    found,
    path,
    "trust/*.root.json, trust/targets.json, trust/packslip.pub, trust/openpgp/keys.json and trust/openpgp/FINGERPRINT.asc, as relcat trust writes them",
  );
}

function placeInRelease(found: Discovered, release: ReleaseFiles, path: string, rest: string[]): void {
  const [place = "", ...deeper] = rest;
  if (place === "release.yaml" && deeper.length === 0) release.release = path;
  else if (place === "notes" && deeper.length === 1 && isYaml(path)) release.notes.push(path);
  else if (place === "manifests" && deeper.length === 1 && (isYaml(path) || path.endsWith(".json")))
    release.manifests.push(path);
  else unexpected(found, path, "release.yaml, notes/*.yaml and manifests/*.json, *.yaml or *.yml");
}

const isYaml = (path: string) => /\.ya?ml$/.test(path);

function unexpected(found: Discovered, path: string, expected: string): void {
  const message = `the file has no place here, expected ${expected}`;
  report(found, "file-unexpected", path, message, "Move, rename or remove it.");
}

function reportFolder(found: Discovered, name: string): void {
  const file = `${found.folder}/${name}`;
  if (found.problems.some((problem) => problem.at?.file === file)) return;
  if (fileNames.includes(name)) {
    const hint = "Remove the folder and restore the file from version control.";
    report(found, "folder-name", name, `${name} is a folder, expected a file`, hint);
    return;
  }
  const message = `the folder ${JSON.stringify(name)} is not a version, expected YY.MM.NNN such as 26.08.002, or next`;
  report(found, "folder-name", name, message, "Rename it to the release's version.");
}

function report(found: Discovered, code: Code, path: string, message: string, hint: string): void {
  const at = { file: `${found.folder}/${path}`, line: 1, column: 1 };
  found.problems.push({ code, severity: "error", message, hint, at });
}
