import { failure } from "../../../shared/errors.ts";
import { isVersion, lineOf, nextVersion } from "../../../shared/version.ts";
import { display } from "../../project/display.ts";

export interface OpenReleaseOptions {
  /** YY.MM. */
  month: string;
  /** Default: the day of `opened`. */
  date?: string | undefined;
  /** Names or paths of notes to move from next/notes; ["all"], ["none"]. Default: all, for the newest month only. */
  notes?: readonly string[] | undefined;
}

interface ExistingReleases {
  /** Versions with a folder or a ledger line; other names are ignored. */
  versions: Iterable<string>;
  /** File names in next/notes. */
  nextNotes: readonly string[];
}

export interface Opening {
  version: string;
  date: string;
  /** File names to move from next/notes. */
  notes: string[];
  releaseYaml: string;
}

/**
 * Numbers count folders and ledger lines, so that withdrawn or deleted versions are not reused.
 * @param opened timestamp with microseconds; two branches that open the same version conflict on it in git
 * @throws RelcatError sequence-full, usage
 */
export function decideOpening(
  existing: ExistingReleases,
  options: OpenReleaseOptions,
  opened: string,
  schemas: string,
): Opening {
  const { month, date = opened.slice(0, 10) } = options;
  const versions = [...existing.versions].filter(isVersion);
  const version = nextVersion(month, versions);
  if (version === undefined) {
    const message = `${month}.999 exists: ${month} has no number left`;
    throw failure("sequence-full", message, "Open the release under the next month.");
  }
  const newest = lineOf(versions.sort().at(-1) ?? "");
  const notes = chooseNotes(existing.nextNotes, options, newest);
  return { version, date, notes, releaseYaml: releaseYaml({ version, date, opened, schemas }) };
}

function chooseNotes(
  available: readonly string[],
  { month, notes }: OpenReleaseOptions,
  newest: string,
): string[] {
  if (notes === undefined) {
    if (month >= newest || available.length === 0) return [...available];
    const hint = "Give the notes that belong to it: --notes FILE…, --notes all or --notes none.";
    const message = `${month} is older than ${newest}, so the notes of the next release may not be its own`;
    throw failure("usage", message, hint);
  }
  const [word] = notes;
  if (notes.length === 1 && word === "none") return [];
  if (notes.length === 1 && word === "all") return [...available];
  return [...new Set(notes)].map((note) => findNote(note, available));
}

function findNote(note: string, available: readonly string[]): string {
  const name = note.replace(/^(\.\/)?(releases\/)?next\/notes\//, "");
  if (available.includes(name)) return name;
  const hint =
    available.length > 0
      ? `There are ${available.join(", ")}.`
      : "It is empty: relcat notes add writes into it.";
  throw failure("usage", `there is no note ${display(note)} in releases/next/notes`, hint);
}

type OpenedRelease = Record<"version" | "date" | "opened" | "schemas", string>;

export const releaseYaml = ({ version, date, opened, schemas }: OpenedRelease): string =>
  `# yaml-language-server: $schema=../../${schemas}/release.schema.json
version: ${version}
date: ${date}
opened: ${opened}
# summary: One paragraph of Markdown, shown above the notes.
`;
