import { createHash } from "node:crypto";
import type { Problem } from "../../shared/errors.ts";
import type { Config } from "../documents/config.ts";
import type { Exception } from "../documents/exceptions.ts";
import { type AuthoredFiles, filesIn } from "../project/authored-files.ts";
import { readFeedKeys, readRpmSigners } from "../project/certificates.ts";
import { type Discovered, discover, type ReleaseFiles } from "../project/discover.ts";
import type { Located } from "../project/document.ts";
import { readBrandPictures, readTemplateOverrides } from "../project/pages/project-pages.ts";
import { type ProjectSettings, type ReadSettings, readSettings } from "../project/settings.ts";
import { requireFolder } from "../system/files.ts";
import { readExceptions } from "./exceptions.ts";
import type { Ledger } from "./ledger.ts";
import { loadLedger } from "./ledger-file.ts";

/** A project, read once: everything but the contents of its releases. */
export interface Project extends ProjectSettings {
  files: AuthoredFiles;
  config: Config;
  configPlace: Located<unknown>["place"];
  ledger: Ledger;
  isLedgerSound: boolean;
  /** undefined: no file. A file with errors has no document. */
  exceptions: { document: Located<Exception[]> | undefined } | undefined;
  /** All releases, ascending by version. */
  releases: readonly ReleaseFiles[];
  /** Paths of the note fragments for the next release. */
  next: readonly string[];
  /** Files in wrong places, or with wrong names. */
  misplaced: readonly Problem[];
  problems: readonly Problem[];
  /** True if a problem only results from an unusable section of catalog.yaml. */
  isConsequence: ReadSettings["isConsequence"];
}

interface Source {
  folder: string;
  files: AuthoredFiles;
  /** True for the files of an earlier commit. */
  isEarlier: boolean;
  found: Discovered;
  settings: ReadSettings;
}

/**
 * One reader for each part of a project besides catalog.yaml, in the order of their problems. If a part were read when it
 * is first used, its errors would come from any place, in an order that depends on the caller.
 */
const readers = {
  // Today's certificates, for an earlier commit too: clients must not be offered a key that was retired since.
  feedKeys: ({ folder, found, isEarlier }: Source) =>
    readFeedKeys(folder, isEarlier ? [] : found.certificates),
  rpmSigners: ({ files, settings }: Source) => readRpmSigners(settings.config, files, settings.place),
  brand: ({ folder, files, settings }: Source) =>
    readBrandPictures(folder, settings.config.brand, files, settings.place),
  templates: ({ folder, files, found }: Source) => readTemplateOverrides(folder, found.templates, files),
  rootDigest({ files }: Source) {
    const root = files.read("trust/1.root.json");
    return { value: root ? createHash("sha256").update(root).digest("hex") : "", problems: [] };
  },
  ledger({ files, found }: Source) {
    const { ledger, problems } = loadLedger(found, files);
    return { value: { ledger, isLedgerSound: problems.length === 0 }, problems };
  },
  exceptions({ files, found }: Source) {
    const { document, problems } = readExceptions(found, files);
    return { value: found.exceptions === undefined ? undefined : { document }, problems };
  },
} satisfies Record<string, (source: Source) => MaybePromise<{ value: unknown; problems: Problem[] }>>;

type MaybePromise<T> = T | Promise<T>;
type Parts = { [Name in keyof typeof readers]: Awaited<ReturnType<(typeof readers)[Name]>>["value"] };

/**
 * Reads a project and collects the problems of its files; those of releases are read one after the other later.
 * @param source files to read instead of those in the folder
 */
export async function openProject(folder: string, source?: AuthoredFiles): Promise<Project> {
  if (!source) requireFolder(folder);
  const files = source ?? filesIn(folder);
  const found = await discover(folder, files);
  const settings = readSettings(folder, found.config === undefined ? undefined : files.read(found.config));
  const parts: Record<string, unknown> = {};
  const problems = [...settings.problems];
  for (const [name, read] of Object.entries(readers)) {
    const part = await read({ folder, files, isEarlier: source !== undefined, found, settings });
    parts[name] = part.value;
    problems.push(...part.problems);
  }
  const { rootDigest, ledger, exceptions, ...contents } = parts as Parts;
  return {
    folder,
    files,
    config: { ...settings.config, ...contents, trust: { ...settings.config.trust, rootDigest } },
    configPlace: settings.place,
    ...ledger,
    exceptions,
    releases: found.releases,
    next: found.next,
    misplaced: found.problems,
    problems,
    isConsequence: settings.isConsequence,
  };
}
