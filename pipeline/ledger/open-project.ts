import { createHash } from "node:crypto";
import type { Problem } from "../../shared/errors.ts";
import type { Config } from "../documents/config.ts";
import type { Exception } from "../documents/exceptions.ts";
import { type AuthoredFiles, filesIn } from "../project/authored-files.ts";
import { readFeedKeys, readRpmSigners } from "../project/certificates.ts";
import { discover, type ReleaseFiles } from "../project/discover.ts";
import type { Located } from "../project/document.ts";
import { readBrandPictures } from "../project/pages/brand-pictures.ts";
import { readTemplateOverrides } from "../project/pages/template-overrides.ts";
import { type ProjectSettings, type ReadSettings, readSettings } from "../project/settings.ts";
import { requireFolder } from "../system/files.ts";
import { readExceptions } from "./exceptions.ts";
import type { Ledger } from "./ledger.ts";
import { loadLedger } from "./ledger-file.ts";

/** A project, read once: everything but the contents of its releases. */
export interface Project extends ProjectSettings {
  files: AuthoredFiles;
  config: Config;
  /** Location of an entry of catalog.yaml. */
  configPlace: Located<unknown>["place"];
  ledger: Ledger;
  /** undefined: no file. A file with errors has no document. */
  exceptions: { document: Located<Exception[]> | undefined } | undefined;
  /** All releases, ascending by version. */
  releases: readonly ReleaseFiles[];
  /** Paths of the note fragments for the next release. */
  next: readonly string[];
  problems: {
    /** Files in wrong places, or with wrong names. */
    places: readonly Problem[];
    config: readonly Problem[];
    ledger: readonly Problem[];
    exceptions: readonly Problem[];
  };
  /** True if a problem only results from an unusable section of catalog.yaml. */
  isConsequence: ReadSettings["isConsequence"];
}

/**
 * Reads a project and collects the problems of its files; those of releases are read one after the other later.
 * @param source files to read instead of those in the folder
 */
export async function openProject(folder: string, source?: AuthoredFiles): Promise<Project> {
  if (!source) requireFolder(folder);
  const files = source ?? filesIn(folder);
  const found = await discover(folder, files);
  const settings = readSettings(folder, found.config === undefined ? undefined : files.read(found.config));
  // Today's certificates, for an earlier commit too: clients must not be offered a key that was retired since.
  const keys = readFeedKeys(folder, filesIn(folder), source ? [] : found.certificates);
  const signers = await readRpmSigners(settings.config, files, settings.place);
  const pictures = await readBrandPictures(folder, settings.config.brand, files, settings.place);
  const pages = await readTemplateOverrides(folder, found.templates, files);
  const { ledger, problems } = loadLedger(found, files);
  const exceptions = readExceptions(found, files);
  return {
    folder,
    files,
    config: {
      ...settings.config,
      brand: pictures.brand,
      templates: pages.templates,
      feedKeys: keys.keys,
      rpmSigners: signers.rpmSigners,
      trust: { ...settings.config.trust, rootDigest: rootDigest(files) },
    },
    configPlace: settings.place,
    ledger,
    exceptions: found.exceptions === undefined ? undefined : exceptions,
    releases: found.releases,
    next: found.next,
    problems: {
      places: found.problems,
      config: [settings, keys, signers, pictures, pages].flatMap((part) => part.problems),
      ledger: problems,
      exceptions: exceptions.problems,
    },
    isConsequence: settings.isConsequence,
  };
}

/** SHA-256 of the root that clients pin; empty in a project without keys. */
function rootDigest(files: AuthoredFiles): string {
  const root = files.read("trust/1.root.json");
  return root ? createHash("sha256").update(root).digest("hex") : "";
}
