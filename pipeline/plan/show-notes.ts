import { type Problem, RelcatError, throwErrors } from "../../shared/errors.ts";
import { isVersion } from "../../shared/version.ts";
import type { Settings } from "../documents/config.ts";
import { noteSchema } from "../documents/note.ts";
import type { PublishedRelease } from "../documents/published.ts";
import { loadCatalog } from "../ledger/load-catalog.ts";
import { publishRelease } from "../ledger/publish-records.ts";
import { discover } from "../project/discover.ts";
import { versionUnknown } from "../project/known-versions.ts";
import { readDocuments } from "../project/parse.ts";
import { openSettings } from "../project/settings.ts";
import { normalizeNotes } from "../records/notes.ts";
import { checkFragment } from "../records/release-rules.ts";
import { requireFolder } from "../system/files.ts";
import { listFolders } from "../system/folders.ts";

/**
 * Notes of a release, or those waiting for the next one.
 * @param which a version; a month or `latest` for the newest release, including open ones; `next`
 * @param today date of the next release, YYYY-MM-DD
 * @throws RelcatError version-unknown, and the problems of the shown notes
 */
export async function showNotes(
  folder: string,
  which: string,
  today: string,
): Promise<{ release: PublishedRelease; config: Settings }> {
  requireFolder(folder);
  if (which === "next") return showNext(folder, today);
  const newest = listFolders(folder)
    .filter((name) => isVersion(name) && (which === "latest" || name.startsWith(which)))
    .sort()
    .at(-1);
  return showRelease(folder, newest ?? which);
}

async function showNext(folder: string, date: string) {
  const config = (await openSettings(folder)).config;
  const found = await discover(folder);
  const reads = await readDocuments(folder, found.next, noteSchema);
  const checked = reads.flatMap(({ document }) => (document ? [...checkFragment(document, config)] : []));
  throwErrors([...reads.flatMap(({ problems }) => problems), ...checked]);
  const fragments = reads.flatMap(({ document }) => (document ? [document.value] : []));
  const notes = normalizeNotes({}, fragments, config);
  const noPackages = { packages: [], retracted: [], replacements: new Map(), histories: new Map() };
  return {
    release: { version: "next", date, summary: null, notes, provisional: true, ...noPackages },
    config,
  };
}

/** @throws RelcatError version-unknown, and the problems of this release and of catalog.yaml, but not of others */
async function showRelease(folder: string, version: string) {
  const catalog = await loadCatalog(folder);
  const found = catalog.identified.releases.find(({ release }) => release.version === version);
  if (!found) throw new RelcatError([versionUnknown(version, folder)]);
  const isShown = (file = "") =>
    file === `${folder}/catalog.yaml` || file.startsWith(`${folder}/${version}/`);
  throwErrors(catalog.problems.filter(({ at }) => isShown(at?.file)));
  return { release: publishRelease(found, catalog.ledger, catalog.config), config: catalog.config };
}

export function noteProblems(problems: readonly Problem[]): Problem[] {
  return problems.filter(
    ({ code, at: { file } = { file: "" } }) =>
      code.startsWith("note-") ||
      /\/notes\/[^/]+$/.test(file) ||
      // Inline notes are in release.yaml, so they are lost if it is unreadable.
      (file.endsWith("/release.yaml") && !code.startsWith("release-")),
  );
}
