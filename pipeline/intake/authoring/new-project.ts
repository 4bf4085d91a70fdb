import { join } from "node:path";
import { failure } from "../../../shared/errors.ts";
import type { CommandContext } from "../../system/command-context.ts";
import { createFile, exists, isBelow, readPresent, refuseLinkedPlace } from "../../system/files.ts";
import { isFolder, listFiles } from "../../system/folders.ts";
import { withLock } from "../../system/lock.ts";
import { type Locked, lockDependencies } from "../../system/npm.ts";
import type { InProject } from "../../system/project-links.ts";
import { withWorkFolder } from "../../system/work-folder.ts";
import { now } from "./new-files.ts";
import { isForeign, type OwnPackage, type Pin, packRelcat, pinRelcat, testedNode } from "./pin-relcat.ts";
import { type StarterFile, starterFiles } from "./starter.ts";

export interface NewProject {
  /** Folder of starters/ whose files are copied; default: empty. */
  from?: "sample" | "goreleaser" | "nix" | undefined;
  /** YY.MM of the first release; default: the current month. */
  month?: string | undefined;
  /** A version or a .tgz file of relcat to install; default: the one that runs. */
  relcat?: string | undefined;
  /** False: npm is not asked for package-lock.json. */
  lock?: boolean | undefined;
}

export interface StartedProject {
  /** In writing order. */
  files: string[];
  /** The first release. */
  version: string;
  /** How package.json installs relcat. */
  relcat: string;
  /** True if the file that `relcat` names is missing, because npm is not installed here. */
  isUnpacked: boolean;
  /** Reason why package-lock.json is missing; undefined: it is there. */
  unlocked: string | undefined;
}

export interface InitContext extends CommandContext {
  /** Called before npm works, which may take a minute. */
  onNpm: () => void;
}

/**
 * Creates a project in a folder.
 * @throws RelcatError file-exists, naming every existing file; usage, file-access, pack-failed; then nothing is
 * written
 */
export async function init(
  folder: string,
  wanted: NewProject,
  own: OwnPackage,
  context: InitContext,
): Promise<StartedProject> {
  const opened = now(context);
  const { month = opened.slice(2, 7).replace("-", "."), from } = wanted;
  const copied = await copiedFiles(own.folder, from);
  const node = testedNode(own);
  const filesFor = ({ spec, tarball }: Pin) => [
    ...copied,
    ...starterFiles({ opened, version: `${month}.001`, relcat: spec, node }),
    ...(tarball ? [{ path: tarball.path, content: tarball.bytes }] : []),
  ];
  refuseExisting(folder, filesFor({ spec: "" }));
  const { pin, locked } = await decidePin(folder, wanted, own, filesFor, context);
  const files = filesFor(pin);
  if ("text" in locked) files.push({ path: "package-lock.json", content: locked.text });
  // The lock is already a file in the folder.
  refuseExisting(folder, files);
  return withLock(join(folder, "releases"), context.pid, context.onWait, () => {
    refuseExisting(folder, files);
    // biome-ignore lint/plugin: relcat chose these file names.
    for (const { path, content } of files) createFile(join(folder, path), content, isOwn(folder));
    return {
      files: files.map(({ path }) => path),
      version: `${month}.001`,
      relcat: pin.spec,
      isUnpacked: pin.isUnpacked ?? false,
      unlocked: "reason" in locked ? locked.reason : undefined,
    };
  });
}

/** Files of relcat's package: a catalog.yaml, packages to try, and the workflows. */
async function copiedFiles(relcat: string, from = "empty"): Promise<StarterFile[]> {
  const files: StarterFile[] = [];
  for (const [name, place] of [
    [from, ""],
    ["workflows", ".github/workflows/"],
  ] as const) {
    const folder = `${relcat}/starters/${name}`;
    const paths = await listFiles(folder);
    // biome-ignore lint/plugin: names listed from relcat's own folder.
    files.push(...paths.map((path) => ({ path: place + path, content: readPresent(`${folder}/${path}`) })));
  }
  return files;
}

/** If the registry has a foreign relcat now, the running one is packed. */
async function decidePin(
  folder: string,
  { relcat, lock = true }: NewProject,
  own: OwnPackage,
  filesFor: (pin: Pin) => StarterFile[],
  context: InitContext,
): Promise<{ pin: Pin; locked: Locked }> {
  const lockOf = async (pin: Pin): Promise<Locked> => {
    if (!lock) return { reason: "--no-lock was given" };
    if (pin.isUnpacked) return { reason: "npm is not installed here" };
    const needed = filesFor(pin).filter(({ path }) => path === "package.json" || path === pin.tarball?.path);
    return withWorkFolder((work) => lockDependencies(folder, needed, work));
  };
  if (relcat === undefined) context.onNpm();
  const pin = await pinRelcat(own, relcat, context);
  if (relcat !== undefined && lock) context.onNpm();
  const locked = await lockOf(pin);
  if (!("text" in locked) || !isForeign(pin, locked.text)) return { pin, locked };
  const packed = await packRelcat(own, context);
  return { pin: packed, locked: await lockOf(packed) };
}

/** Unlike in a releases folder, hidden folders such as .github are written too. */
const isOwn =
  (folder: string): InProject =>
  (real) =>
    isBelow(folder, real);

function refuseExisting(folder: string, files: readonly StarterFile[]): void {
  if (exists(folder) && !isFolder(folder))
    throw failure(
      "file-access",
      `${folder} is a file, expected a folder for the project`,
      "Name another folder.",
    );
  if (exists(folder))
    // biome-ignore lint/plugin: relcat chose these file names.
    for (const { path } of files) refuseLinkedPlace(join(folder, path), isOwn(folder));
  // biome-ignore lint/plugin: relcat chose these file names.
  const existing = files.map(({ path }) => join(folder, path)).filter(exists);
  if (existing.length === 0) return;
  if (exists(join(folder, "releases/catalog.yaml")))
    throw failure(
      "file-exists",
      `${folder === "." ? "this folder" : folder} is a project already: it has releases/catalog.yaml`,
      "Nothing was written. relcat new opens the next release there.",
    );
  throw failure(
    "file-exists",
    `${existing.join(", ")} ${existing.length === 1 ? "exists" : "exist"} already`,
    `Nothing was written. Move ${existing.length === 1 ? "it" : "them"} away first, or start in another folder.`,
  );
}
