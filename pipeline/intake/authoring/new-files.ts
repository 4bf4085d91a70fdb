import { join } from "node:path";
import { failure } from "../../errors.ts";
import { readLedgerNow } from "../../ledger/ledger-file.ts";
import { loadConfig } from "../../project/configuration.ts";
import { discover } from "../../project/discover.ts";
import { eventTime } from "../../project/event-time.ts";
import { requireVersions } from "../../project/known-versions.ts";
import { createFile, exists, requireFolder } from "../../system/files.ts";
import { listFolders, moveFile } from "../../system/folders.ts";
import { withLock } from "../../system/lock.ts";
import type { Surroundings } from "../../system/surroundings.ts";
import { composeNote, type NewNote } from "./note-fragment.ts";
import { decideOpening, type Opening, type OpenReleaseOptions } from "./open-release.ts";
import { type StarterFile, starterFiles } from "./starter.ts";

/**
 * Opens the next release of a month and moves the waiting notes into it. release.yaml is written last: if the
 * run is killed, each note is in one of the two folders, and `check` reports the release as unfinished.
 * @throws RelcatError sequence-full, usage; see decideOpening
 */
export async function openRelease(
  folder: string,
  options: OpenReleaseOptions,
  surroundings: Surroundings,
): Promise<Opening> {
  requireFolder(folder);
  return withLock(folder, surroundings.pid, surroundings.onWait, async () => {
    const { next } = await discover(folder);
    const versions = [...listFolders(folder), ...readLedgerNow(folder).versions];
    const nextNotes = next.map((path) => path.slice("next/notes/".length));
    const opening = decideOpening(
      { versions, nextNotes },
      options,
      now(surroundings),
      schemasSeenFrom(folder),
    );
    // git does not store empty folders, so a placeholder keeps the folder for the next note.
    if (!exists(`${folder}/next/notes/.gitkeep`)) createFile(`${folder}/next/notes/.gitkeep`, "");
    for (const note of opening.notes) {
      // biome-ignore lint/plugin: note names listed from the folder, and a validated version.
      moveFile(`${folder}/next/notes/${note}`, `${folder}/${opening.version}/notes/${note}`);
    }
    // biome-ignore lint/plugin: a validated version.
    createFile(`${folder}/${opening.version}/release.yaml`, opening.releaseYaml);
    return opening;
  });
}

/**
 * Writes a note fragment to an unused file name.
 * @param version the release it belongs to; undefined: the next one
 * @returns the file's path
 * @throws RelcatError version-unknown, usage; see composeNote
 */
export async function addNote(
  folder: string,
  note: NewNote,
  version: string | undefined,
  surroundings: Surroundings,
): Promise<string> {
  requireFolder(folder);
  if (version !== undefined) requireVersions(folder, [version]);
  const { slug, text } = composeNote(note, await loadConfig(folder), schemasSeenFrom(folder));
  return withLock(folder, surroundings.pid, surroundings.onWait, () => {
    const path = (number: number) =>
      `${folder}/${version ?? "next"}/notes/${number === 1 ? slug : `${slug}-${number}`}.yaml`;
    let number = 1;
    while (exists(path(number))) number++;
    createFile(path(number), text);
    return path(number);
  });
}

/**
 * Creates a project in a folder.
 * @param relcat the version to pin
 * @throws RelcatError file-exists, naming every existing file; then nothing is written
 */
export async function init(
  folder: string,
  relcat: string,
  surroundings: Surroundings,
): Promise<StarterFile[]> {
  const files = starterFiles({ opened: now(surroundings), relcat });
  refuseExisting(folder, files);
  return withLock(join(folder, "releases"), surroundings.pid, surroundings.onWait, () => {
    refuseExisting(folder, files);
    // biome-ignore lint/plugin: relcat chose these file names.
    for (const { path, text } of files) createFile(join(folder, path), text);
    return files;
  });
}

function refuseExisting(folder: string, files: readonly StarterFile[]): void {
  // biome-ignore lint/plugin: relcat chose these file names.
  const taken = files.map(({ path }) => join(folder, path)).filter(exists);
  if (taken.length === 0) return;
  throw failure(
    "file-exists",
    `${taken.join(", ")} ${taken.length === 1 ? "exists" : "exist"} already`,
    `Nothing was written. Move ${taken.length === 1 ? "it" : "them"} away first, or start in another folder.`,
  );
}

/** Current time with microseconds. */
const now = ({ clock }: Surroundings): string => eventTime(clock, undefined, "");

/** This repository contains its schemas; a project uses those of the installed package. */
export const schemasSeenFrom = (folder: string): string =>
  exists(`${folder}/../schemas/release.schema.json`) ? "schemas" : "node_modules/relcat/schemas";
