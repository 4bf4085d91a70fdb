import { distance } from "fastest-levenshtein";
import { stringify } from "yaml";
import { failure } from "../../../shared/errors.ts";
import type { Settings } from "../../documents/config.ts";
import { noteSchema } from "../../documents/note.ts";
import { readLedgerNow } from "../../ledger/ledger-file.ts";
import { discover } from "../../project/discover.ts";
import { display } from "../../project/display.ts";
import { eventTime } from "../../project/event-time.ts";
import { requireVersions } from "../../project/known-versions.ts";
import { openSettings } from "../../project/settings.ts";
import { createFile, exists, inProject, requireFolder } from "../../system/files.ts";
import { listFolders, moveFile } from "../../system/folders.ts";
import { type CommandContext, withLock } from "../../system/lock.ts";
import { decideOpening, type Opening, type OpenReleaseOptions } from "./open-release.ts";

/**
 * Opens the next release of a month and moves the waiting notes into it. release.yaml is written last: if the
 * run is killed, each note is in one of the two folders, and `check` reports the release as unfinished.
 * @throws RelcatError sequence-full, usage; see decideOpening
 */
export async function openRelease(
  folder: string,
  options: OpenReleaseOptions,
  context: CommandContext,
): Promise<Opening> {
  requireFolder(folder);
  return withLock(folder, context.pid, context.onWait, async () => {
    const { next } = await discover(folder);
    const versions = [...listFolders(folder), ...readLedgerNow(folder).versions];
    const nextNotes = next.map((path) => path.slice("next/notes/".length));
    const opening = decideOpening({ versions, nextNotes }, options, now(context), schemasSeenFrom(folder));
    // git does not store empty folders, so a placeholder keeps the folder for the next note.
    if (!exists(`${folder}/next/notes/.gitkeep`))
      createFile(`${folder}/next/notes/.gitkeep`, "", inProject(folder));
    for (const note of opening.notes) {
      // biome-ignore lint/plugin: note names listed from the folder, and a validated version.
      moveFile(`${folder}/next/notes/${note}`, `${folder}/${opening.version}/notes/${note}`);
    }
    // biome-ignore lint/plugin: a validated version.
    createFile(`${folder}/${opening.version}/release.yaml`, opening.releaseYaml, inProject(folder));
    return opening;
  });
}

/**
 * Writes a note to an unused file name, and returns its path. Without a version, it is for the next release.
 * @throws RelcatError version-unknown, usage
 */
export async function addNote(
  folder: string,
  note: NewNote,
  version: string | undefined,
  context: CommandContext,
): Promise<string> {
  requireFolder(folder);
  if (version !== undefined) requireVersions(folder, [version]);
  const { slug, text } = composeNote(note, (await openSettings(folder)).config, schemasSeenFrom(folder));
  return withLock(folder, context.pid, context.onWait, () => {
    const path = (number: number) =>
      `${folder}/${version ?? "next"}/notes/${number === 1 ? slug : `${slug}-${number}`}.yaml`;
    let number = 1;
    while (exists(path(number))) number++;
    createFile(path(number), text, inProject(folder));
    return path(number);
  });
}

/** Current time with microseconds. */
export const now = ({ clock }: CommandContext): string => eventTime(clock, undefined, "");

/** This repository contains its schemas; a project uses those of the installed package. */
export const schemasSeenFrom = (folder: string): string =>
  exists(`${folder}/../schemas/release.schema.json`) ? "schemas" : "node_modules/relcat/schemas";

export interface NewNote {
  component: string;
  kind: string;
  text: string;
  refs: readonly string[];
  security: boolean;
}

/** @throws RelcatError usage */
function composeNote(note: NewNote, config: Settings, schemas: string) {
  const { component, kind, refs, security } = note;
  requireKnown("component", component, [...config.components.keys()]);
  requireKnown("kind", kind, [...config.kinds.keys()]);
  const text = note.text.trim();
  if (text === "")
    throw failure("usage", "the note has no text", "Write what changed, in one or two sentences.");
  const fragment = { component, kind, text, ...(refs.length > 0 && { refs }), ...(security && { security }) };
  const fault = "a reference is empty or has control characters";
  if (!noteSchema.safeParse(fragment).success)
    throw failure("usage", fault, "Give URLs or issue names with --ref.");
  const schema = `# yaml-language-server: $schema=../../../${schemas}/note.schema.json\n`;
  return { slug: slugOf(text), text: schema + stringify(fragment, { lineWidth: 100 }) };
}

function requireKnown(what: "component" | "kind", value: string, known: readonly string[]): void {
  if (known.includes(value)) return;
  const [near] = known
    .filter((key) => distance(key, value) <= 3)
    .sort((a, b) => distance(a, value) - distance(b, value));
  const hint = near ? `Did you mean ${near}?` : `catalog.yaml names them under notes.${what}s.`;
  throw failure("usage", `the ${what} ${display(value)} is not known, expected ${known.join(", ")}`, hint);
}

/** Device names that Windows reserves. */
const reserved = /^(con|prn|aux|nul|com\d|lpt\d)$/;

function slugOf(text: string): string {
  const words = text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
  const slug = words.slice(0, 6).join("-").slice(0, 60).replace(/-+$/, "");
  return slug === "" || reserved.test(slug) ? ["note", slug].filter(Boolean).join("-") : slug;
}
