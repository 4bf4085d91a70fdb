import type { Problem } from "../../shared/errors.ts";
import { noteSchema } from "../documents/note.ts";
import { csafPath } from "../documents/site.ts";
import type { AuthoredFiles } from "../project/authored-files.ts";
import type { ReleaseFiles } from "../project/discover.ts";
import { pathsOfRelease, readDocuments } from "../project/parse.ts";
import { siteNamed } from "../project/settings.ts";
import type { OutlinedRelease } from "../records/normalize.ts";
import { type ReadRelease, readRelease } from "../records/read-release.ts";
import { checkFragment } from "../records/release-rules.ts";
import type { LedgerState } from "../records/report.ts";
import { type AssignedIds, type IdentifiedRelease, idAssignment } from "./assign-ids.ts";
import type { Catalog, CatalogHead } from "./catalog.ts";
import { completenessCheck } from "./completeness.ts";
import { acceptedOnce, applyExceptions, type Finding } from "./exceptions.ts";
import { feedCheck } from "./feed-check.ts";
import { unnamedChannels } from "./ledger-channels.ts";
import { identity } from "./ledger-records.ts";
import { openProject, type Project } from "./open-project.ts";

/** Selects the releases to use, and those that may get ids. */
export interface Selection {
  /** True: releases without ledger lines are skipped without reading them. */
  released?: boolean;
  /** As for `cut`. Other open releases get no ids and have no problems; without `released` they are still read. */
  versions?: readonly string[] | undefined;
  /** Name of the site whose base URL replaces that of the configuration. */
  site?: string | undefined;
}

export type OpenCatalog = Awaited<ReturnType<typeof openCatalog>>;

/** Reads a whole catalog into memory. @param source files to read instead of those in the folder */
export async function loadCatalog(
  folder: string,
  selection: Selection = {},
  source?: AuthoredFiles,
  onProgress?: (progress: { done: number; total: number }) => void,
): Promise<Catalog> {
  const catalog = await openCatalog(folder, selection, source);
  const releases: IdentifiedRelease[] = [];
  for (const files of catalog.releases) {
    const contents = await catalog.files.readAll(pathsOfRelease(files));
    releases.push(catalog.identify(readRelease(files, contents, catalog)));
    onProgress?.({ done: releases.length, total: catalog.releases.length });
  }
  const { ids, problems } = await catalog.finish();
  return {
    ...catalog.head,
    releases: releases.map(({ release }) => release),
    identified: { releases, ...ids },
    problems,
  };
}

/** Opens a project and chooses the releases to use. @throws RelcatError site-unknown */
export async function openCatalog(folder: string, selection: Selection = {}, source?: AuthoredFiles) {
  const project = await openProject(folder, source);
  const { files, configPlace, ledger, next } = project;
  const { site } = selection;
  const baseUrl = site === undefined ? project.config.baseUrl : siteNamed(project.config, site).baseUrl;
  const config = { ...project.config, baseUrl };
  const scope = scopeOf(selection, project);
  const { openVersions, releases } = scope;
  const head: CatalogHead = { folder, config, configPlace, ledger, openVersions, nextNotes: next.length };
  return {
    ...head,
    head,
    files,
    standingOf(version: string, file: string): LedgerState {
      const entry = ledger.byIdentity.get(identity(version, file));
      if (!entry) return "new";
      return entry.retraction ? "withdrawn" : "cut";
    },
    /** To read, ascending by version. */
    releases,
    ...reviewer({ ...project, config }, scope),
  };
}

type Scope = ReturnType<typeof scopeOf>;

function scopeOf({ released, versions }: Selection, project: Project) {
  const isWhole = !released && versions === undefined;
  const named = new Set(versions);
  const allocate = (version: string) => isWhole || named.has(version);
  const counts = (version: string) => allocate(version) || project.ledger.versions.has(version);
  const chosen = project.releases.filter(({ version }) => counts(version));
  return {
    /** True if no release is skipped; notes for the next release are then checked too. */
    isWhole,
    counts,
    allocate,
    releases: released ? chosen : project.releases,
    openVersions: project.releases.map(({ version }) => version).filter((version) => !counts(version)),
    misplaced: isWhole ? project.misplaced : misplacedIn(chosen, project),
  };
}

function reviewer(project: Project, scope: Scope) {
  const { config, ledger, exceptions, isConsequence } = project;
  const problems = [
    ...scope.misplaced,
    ...project.problems,
    ...unnamedChannels(ledger, config.channels, project.configPlace(["channels"])),
  ];
  const findings: Finding[] = [];
  const missing: Problem[] = [];
  const ids = idAssignment(ledger, scope.allocate);
  const completeness = completenessCheck(config);
  const feeds = feedCheck(config, project.configPlace);
  const advisories = new Map<string, { id: string; version: string }>();
  return {
    nextId: ids.nextId,
    /** Assigns ids to the next release, and collects its problems. */
    identify<R extends OutlinedRelease>(read: ReadRelease<R>): IdentifiedRelease<R> {
      const { version, complete } = read.release;
      const counts = scope.counts(version);
      const identified = ids.next(read.release);
      // The unread manifest may contain the missing artifact.
      missing.push(...completeness(identified, complete && counts ? "warning" : undefined));
      feeds.next(identified);
      if (!counts) return identified;
      problems.push(...repeatedAdvisories(read.release, advisories), ...read.problems);
      findings.push(...read.findings.map((problem) => ({ version, problem })));
      return identified;
    },
    /** False after an error in this release or before it: nothing more is rendered, as nothing will be placed. */
    isSound: (read: ReadRelease): boolean =>
      !hasErrors(problems) &&
      !hasErrors(read.problems) &&
      (exceptions?.document !== undefined || !hasErrors(read.findings)),
    /** Called once, after the last release. */
    async finish(): Promise<{ ids: AssignedIds; problems: Problem[] }> {
      const lost = exceptions === undefined ? acceptedOnce(findings, ledger) : findings;
      const excepted = applyExceptions(exceptions?.document, lost, scope.openVersions);
      const noteProblems = scope.isWhole ? await checkNextNotes(project) : [];
      const assigned = ids.finish();
      // With an invalid ledger, every record could appear as missing or new.
      const idProblems = project.isLedgerSound ? assigned.problems : [];
      const all = [problems, excepted, noteProblems, idProblems, missing, feeds.finish()].flat();
      return { ids: assigned, problems: all.filter((problem) => !isConsequence(problem)) };
    },
  };
}

const hasErrors = (problems: readonly Problem[]) => problems.some(({ severity }) => severity === "error");

/** A stray file in an open release, or next to the releases, must not block releases that are cut. */
const misplacedIn = (releases: readonly ReleaseFiles[], { folder, misplaced }: Project): Problem[] =>
  misplaced.filter(({ at }) => releases.some(({ version }) => at?.file.startsWith(`${folder}/${version}/`)));

async function checkNextNotes({ folder, next, files, config }: Project): Promise<Problem[]> {
  const reads = await readDocuments(folder, next, noteSchema, files);
  return reads.flatMap(({ document, problems }) =>
    document ? [...checkFragment(document, config)] : problems,
  );
}

/** Ids are permanent, so that readers can look one up. @param known by path; those of the release are added */
function repeatedAdvisories(
  { version, folder, securityNotes = [] }: OutlinedRelease,
  known: Map<string, { id: string; version: string }>,
): Problem[] {
  return securityNotes.flatMap(({ advisory }): Problem[] => {
    if (!advisory) return [];
    const { id } = advisory;
    const other = known.get(csafPath(id));
    known.set(csafPath(id), { id, version });
    if (!other) return [];
    const message =
      other.id === id
        ? `two notes have the id ${id}, one of ${other.version} and one of ${version}`
        : `${id} of ${version} and ${other.id} of ${other.version} have one file name, ${csafPath(id)}`;
    const hint = "Give the newer one an id of its own: the id of a vulnerability is permanent.";
    const at = { file: `${folder}/release.yaml`, line: 1, column: 1 };
    return [{ code: "advisory-repeated", severity: "error", message, hint, at }];
  });
}
