import { basename, join } from "node:path";
import { failure } from "../../../shared/errors.ts";
import { firstDayOf, lineOf, lineOn } from "../../../shared/version.ts";
import {
  createFile,
  exists,
  type InProject,
  isBelow,
  readIfPresent,
  readPresent,
  refuseLinkedPlace,
} from "../../system/files.ts";
import { isFolder, listFiles } from "../../system/folders.ts";
import { type CommandContext, withLock } from "../../system/lock.ts";
import { type Locked, lockDependencies, pack } from "../../system/npm.ts";
import { withWorkFolder } from "../../system/work-folder.ts";
import { now } from "./new-files.ts";
import { releaseYaml } from "./open-release.ts";

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
  files: string[];
  version: string;
  /** How package.json installs relcat. */
  relcat: string;
  /** True if the file that `relcat` names is missing, because npm is not installed here. */
  isUnpacked: boolean;
  /** Reason why package-lock.json is missing; undefined: it is there. */
  unlocked: string | undefined;
}

interface InitContext extends CommandContext {
  /** Called before npm works, which may take a minute. */
  onNpm: () => void;
}

/**
 * @throws RelcatError file-exists, naming every existing file; usage, file-access, pack-failed; then nothing is written
 */
export async function init(
  folder: string,
  wanted: NewProject,
  own: OwnPackage,
  context: InitContext,
): Promise<StartedProject> {
  const opened = now(context);
  const { month = lineOn(opened), from } = wanted;
  const version = `${month}.001`;
  const copied = await copiedFiles(own.folder, from);
  const node = testedNode(own);
  const filesFor = ({ spec, tarball }: Pin) => [
    ...copied,
    ...starterFiles(opened, version, spec, node),
    ...(tarball ? [tarball] : []),
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
      version,
      relcat: pin.spec,
      isUnpacked: pin.isUnpacked ?? false,
      unlocked: "reason" in locked ? locked.reason : undefined,
    };
  });
}

/** Files of relcat's package: a catalog.yaml, packages to try, and the workflows. */
async function copiedFiles(relcat: string, from = "empty"): Promise<StarterFile[]> {
  const copy = async (name: string, place: string): Promise<StarterFile[]> => {
    const folder = `${relcat}/starters/${name}`;
    const paths = await listFiles(folder);
    // biome-ignore lint/plugin: names listed from relcat's own folder.
    return paths.map((path) => ({ path: place + path, content: readPresent(`${folder}/${path}`) }));
  };
  return [...(await copy(from, "")), ...(await copy("workflows", ".github/workflows/"))];
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
  if (exists(folder) && !isFolder(folder)) {
    const message = `${folder} is a file, expected a folder for the project`;
    throw failure("file-access", message, "Name another folder.");
  }
  if (exists(folder))
    // biome-ignore lint/plugin: relcat chose these file names.
    for (const { path } of files) refuseLinkedPlace(join(folder, path), isOwn(folder));
  // biome-ignore lint/plugin: relcat chose these file names.
  const existing = files.map(({ path }) => join(folder, path)).filter(exists);
  if (existing.length === 0) return;
  if (exists(join(folder, "releases/catalog.yaml"))) {
    const place = folder === "." ? "this folder" : folder;
    const message = `${place} is a project already: it has releases/catalog.yaml`;
    throw failure("file-exists", message, "Nothing was written. relcat new opens the next release there.");
  }
  const [verb, them] = existing.length === 1 ? ["exists", "it"] : ["exist", "them"];
  const hint = `Nothing was written. Move ${them} away first, or start in another folder.`;
  throw failure("file-exists", `${existing.join(", ")} ${verb} already`, hint);
}

interface OwnPackage {
  folder: string;
  version: string;
}

/** How a project's package.json installs relcat. */
interface Pin {
  spec: string;
  tarball?: StarterFile | undefined;
  /** Digest of the relcat that a registry must give; undefined: not known. */
  integrity?: string | undefined;
  /** True if the file is missing because npm is not installed here. */
  isUnpacked?: boolean;
}

const vendored = (name: string, content: Uint8Array): Pin => {
  const path = `vendor/${name}`;
  return { spec: `file:${path}`, tarball: { path, content } };
};

/**
 * Pins the relcat that runs: its version if a registry served it, otherwise a tarball packed from it. A registry
 * that did not serve it may have a foreign package of that name.
 * @param wanted a version or a .tgz file that replaces it
 * @throws RelcatError usage; file-access; pack-failed
 */
async function pinRelcat(own: OwnPackage, wanted: string | undefined, context: CommandContext): Promise<Pin> {
  if (wanted !== undefined) return pinWanted(wanted);
  const { folder, version } = own;
  const served = servedByRegistry(folder, version);
  return served ? { spec: version, integrity: served.integrity } : packRelcat(own, context);
}

/** A clone is compiled and packed by one process at a time. @throws RelcatError pack-failed, lock-held */
async function packRelcat({ folder, version }: OwnPackage, { pid, onWait }: CommandContext): Promise<Pin> {
  const isClone = exists(`${folder}/cli/main.ts`);
  const packed = await withWorkFolder((work) => {
    const packing = () => pack(folder, isClone, work);
    return isClone ? withLock(folder, pid, onWait, packing) : packing();
  });
  if (!packed) return { spec: `file:vendor/relcat-${version}.tgz`, isUnpacked: true };
  return vendored(packed.name, packed.bytes);
}

function pinWanted(wanted: string): Pin {
  if (/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(wanted)) return { spec: wanted };
  if (wanted.endsWith(".tgz")) return vendored(basename(wanted), readPresent(wanted));
  const message = `--relcat is ${wanted}, expected a version such as 1.2.3 or a file that ends in .tgz`;
  throw failure("usage", message, "Leave it out to use the relcat that runs now.");
}

/** The Node that relcat was tested with: a project's `npx relcat` must not depend on that of its machine. */
function testedNode({ folder }: OwnPackage): string | undefined {
  const about = new TextDecoder().decode(readPresent(`${folder}/package.json`));
  return (JSON.parse(about) as { devDependencies?: { node?: string } }).devDependencies?.node;
}

/** npm's note about the installed package, if it came from a registry. */
function servedByRegistry(folder: string, version: string): { integrity?: string } | undefined {
  const noted = readIfPresent(`${folder}/../.package-lock.json`);
  if (!noted) return undefined;
  const own = packageIn(new TextDecoder().decode(noted));
  const address = own?.resolved ?? "";
  const isServed = /^https?:/.test(address) && address.endsWith(`/relcat/-/relcat-${version}.tgz`);
  return isServed ? own : undefined;
}

/** True if a registry gave another package than the one that runs. */
const isForeign = ({ integrity }: Pin, packageLock: string): boolean =>
  integrity !== undefined && packageIn(packageLock)?.integrity !== integrity;

/** relcat's entry in package-lock.json or node_modules/.package-lock.json. */
function packageIn(text: string): { resolved?: string; integrity?: string } | undefined {
  const { packages } = JSON.parse(text) as { packages?: Record<string, { resolved?: string }> };
  return packages?.["node_modules/relcat"];
}

interface StarterFile {
  path: string;
  content: string | Uint8Array;
}

const schemas = "node_modules/relcat/schemas";

/** The day of a month that is nearest to another day: the pages of months sort releases by version and show dates. */
function dayOf(month: string, day: string): string {
  const first = firstDayOf(month);
  const [year, number] = first.split("-").map(Number) as [number, number];
  const last = new Date(Date.UTC(year, number, 0)).toISOString().slice(0, 10);
  if (day < first) return first;
  return day > last ? last : day;
}

/** Files that relcat generates for a new project, in writing order. */
function starterFiles(
  opened: string,
  version: string,
  relcat: string,
  node: string | undefined,
): StarterFile[] {
  const date = dayOf(lineOf(version), opened.slice(0, 10));
  const release = releaseYaml({ version, date, opened, schemas });
  return [
    { path: `releases/${version}/release.yaml`, content: release },
    { path: `releases/${version}/notes/first-release.yaml`, content: firstNote },
    { path: "releases/next/notes/.gitkeep", content: "" },
    { path: ".gitignore", content: gitignore },
    { path: ".gitattributes", content: gitattributes },
    { path: "package.json", content: packageJson(relcat, node) },
  ];
}

const firstNote = `# yaml-language-server: $schema=../../../${schemas}/note.schema.json
component: documentation
kind: feature
text: This is the first release in the catalog.
`;

/** Two are output folders of the guides, and two are links of Nix to its outputs. The last line overrides settings of git that ignore vendored files. */
const gitignore = `dist/
node_modules/
.relcat-*
/preview/
/earlier/
/result
/result-*
!/vendor/
!/vendor/*.tgz
`;

const gitattributes = `# Two branches that add lines must conflict: ids are given in order.
releases/ledger.jsonl -merge text eol=lf
*.tgz binary
`;

/** `allowScripts` is for npm 12, which runs no other install scripts. */
function packageJson(relcat: string, node: string | undefined): string {
  const scripts = { check: "relcat check", build: "relcat build" };
  const project = { private: true, scripts, devDependencies: { node, relcat }, allowScripts: { node: true } };
  return `${JSON.stringify(project, null, 2)}\n`;
}
