import type { Problem } from "../../shared/errors.ts";
import { firstDayOf } from "../../shared/version.ts";
import type { Settings } from "../documents/config.ts";
import type { WrittenNote } from "../documents/note.ts";
import { display } from "../project/display.ts";
import type { Located } from "../project/document.ts";
import { inlineText, kindKey } from "./notes.ts";
import { error, type ReleaseRule, warning } from "./report.ts";

/** Folder, release.yaml and manifests must agree on the version. */
const versionsAgree: ReleaseRule = function* ({ version, folder, release, manifests }) {
  if (release && release.value.version !== version) {
    const message = `version is ${release.value.version}, expected ${version} as the folder is named`;
    const hint = `Correct it, or rename the folder ${folder}.`;
    yield error("release-mismatch", release.place(["version"]), message, hint);
  }
  for (const manifest of manifests) {
    if (manifest.value.release === version) continue;
    const message = `the manifest is for the release ${manifest.value.release}, expected ${version}`;
    const hint = "Move it to its own release's manifests folder.";
    yield error("release-mismatch", manifest.place(["release"]), message, hint);
  }
};

const day = 86_400_000;

/** Detects typos in year or month; a hotfix of an old line may be months late. */
const datePlausible: ReleaseRule = function* ({ version, release }) {
  if (!release) return;
  const { date } = release.value;
  const days = (Date.parse(`${date}T00:00:00Z`) - Date.parse(firstDayOf(version))) / day;
  if (days >= -7 && days <= 400) return;
  const message = `the date ${date} is far from the month of ${version}`;
  yield warning("release-date", release.place(["date"]), message, "Check the year and the month.");
};

const hasArtifacts: ReleaseRule = function* ({ version, folder, release, manifests, problems }) {
  if (!release || problems.length > 0 || manifests.some((manifest) => manifest.value.artifacts.length > 0))
    return;
  const hint = `Add packages with relcat ingest --release ${version} BUILD-OUTPUT, or put manifests into ${folder}/manifests/.`;
  yield warning("release-empty", release.place(["version"]), "the release has no artifacts yet", hint);
};

const notesUseKnownKeys: ReleaseRule = function* ({ release, notes }, config) {
  for (const note of notes) yield* checkFragment(note, config);
  if (!release) return;
  for (const [component, kinds] of Object.entries(release.value.notes ?? {})) {
    const path = ["notes", component];
    if (!config.components.has(component)) yield unknownKey(release, path, "component", component, config);
    for (const [kind, list] of Object.entries(kinds)) {
      if (!kindKey(kind, config)) yield unknownKey(release, [...path, kind], "kind", kind, config);
      for (const [index, note] of list.entries()) {
        if (inlineText(note).trim() === "") yield emptyNote(release, [...path, kind, index]);
      }
    }
  }
};

/** Rules for a note fragment, including those of the next release. */
export function* checkFragment(note: Located<WrittenNote>, config: Settings): Iterable<Problem> {
  const { component, kind, text } = note.value;
  if (!config.components.has(component))
    yield unknownKey(note, ["component"], "component", component, config);
  if (!config.kinds.has(kind)) yield unknownKey(note, ["kind"], "kind", kind, config);
  if (text.trim() === "") yield emptyNote(note, ["text"]);
}

function unknownKey(
  document: Located<unknown>,
  path: (string | number)[],
  what: "component" | "kind",
  key: string,
  config: Settings,
): Problem {
  const known = [...config[`${what}s`].keys()].join(", ");
  const message = `the ${what} ${display(key)} is not known, expected ${known}`;
  const at = document.place(path, path[0] === "notes" ? "key" : "value");
  return error(`note-${what}`, at, message, `Correct it, or add it to notes.${what}s in catalog.yaml.`);
}

function emptyNote(document: Located<unknown>, path: (string | number)[]): Problem {
  const hint = "Write what changed, or remove the note.";
  return error("note-empty", document.place(path), "the note has no text", hint);
}

export const releaseRules: readonly ReleaseRule[] = [
  versionsAgree,
  datePlausible,
  hasArtifacts,
  notesUseKnownKeys,
];
