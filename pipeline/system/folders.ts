import {
  accessSync,
  constants,
  type Dirent,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { failure, type Problem, type RelcatError, throwErrors } from "../../shared/errors.ts";
import { accessFailure, accessing, specialKind } from "./access-failure.ts";
import { exists, foreignLink, type InProject } from "./files.ts";

/**
 * Lists files below a folder: relative, sorted by code unit, without hidden ones; [] if the folder does not
 * exist. Links are followed, because build outputs are often folders of links.
 * @param isAllowed whether a link may lead to a real path; default: to any
 * @param onHidden gets the path of each file that is hidden, and of each folder, with a slash
 * @throws RelcatError file-access for every link that is broken, circular or not allowed, for every pipe, socket and
 * device, and for every name that is not UTF-8
 */
export async function listFiles(
  folder: string,
  isAllowed: InProject = () => true,
  onHidden: (path: string) => void = () => {},
): Promise<string[]> {
  const listing: Listing = { files: [], problems: [], isAllowed, onHidden };
  if (exists(folder)) listBelow(folder, "", [], listing);
  throwErrors(listing.problems.sort((a, b) => (a.message < b.message ? -1 : 1)));
  return listing.files.sort();
}

interface Listing {
  files: string[];
  problems: Problem[];
  isAllowed: InProject;
  onHidden(path: string): void;
}

/**
 * @param below path inside the listed folder, empty or with a slash
 * @param entered real paths of the folders entered through links so far
 */
function listBelow(folder: string, below: string, entered: readonly string[], listing: Listing): void {
  const { files, problems, isAllowed, onHidden } = listing;
  for (const entry of entriesOf(folder)) {
    const path = below + entry.name;
    // biome-ignore lint/plugin: the name was listed from the folder.
    const whole = join(folder, entry.name);
    const target = entry.isSymbolicLink() ? statSync(whole, { throwIfNoEntry: false }) : entry;
    const special = target && specialKind(target);
    if (entry.name.startsWith(".")) onHidden(target?.isDirectory() ? `${path}/` : path);
    else if (undecodable(whole) !== undefined) problems.push(...undecodableName(whole).problems);
    else if (special) problems.push(...accessFailure(`cannot read ${whole}`, { code: special }).problems);
    else if (!target) problems.push(badLink(whole, "is a link to something that is not there"));
    else if (target !== entry && !isAllowed(realpathSync(whole))) problems.push(foreignLink(whole));
    else if (!target.isDirectory()) files.push(path);
    else if (target === entry) listBelow(whole, `${path}/`, entered, listing);
    else {
      const place = realpathSync(whole);
      const above = [...entered, realpathSync(folder)];
      if (above.some((other) => `${other}/`.startsWith(`${place}/`)))
        problems.push(badLink(whole, "is a link into its own path"));
      else listBelow(whole, `${path}/`, above, listing);
    }
  }
}

const entriesOf = (folder: string): Dirent[] =>
  accessing(`cannot read ${folder}`, () => readdirSync(folder, { withFileTypes: true }));

/** The part of a path that exists only under a name that is not UTF-8: Node replaces such bytes, and finds no file then. */
export function undecodable(path: string): string | undefined {
  if (!path.includes("\ufffd")) return undefined;
  let entry = path;
  while (!exists(dirname(entry))) entry = dirname(entry);
  const isThere = lstatSync(entry, { throwIfNoEntry: false }) !== undefined;
  return !isThere && readdirSync(dirname(entry)).includes(basename(entry)) ? entry : undefined;
}

export const undecodableName = (path: string): RelcatError =>
  failure(
    "file-access",
    `cannot read ${path}: its name is not UTF-8`,
    `Rename it. A pattern of the shell finds it, such as mv ${basename(path).replaceAll(/\ufffd+/g, "*")} NEW_NAME.`,
  );

const badLink = (path: string, message: string): Problem => ({
  code: "file-access",
  severity: "error",
  message: `${path} ${message}`,
  hint: "Repair or remove the link.",
});

export const listFolders = (folder: string): string[] =>
  entriesOf(folder).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));

export const moveFile = (from: string, to: string): void =>
  accessing(`cannot move ${from} to ${to}`, () => {
    mkdirSync(dirname(to), { recursive: true });
    renameSync(from, to);
  });

/** Writes to a path from the user, which may be a device or pipe such as /dev/stdout. */
export const writeText = (path: string, text: string): void =>
  accessing(`cannot write ${path}`, () => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  });

/** Checks that a report can be written, before the reported work starts. @throws RelcatError file-access */
export const requireTarget = (path: string): void =>
  accessing(`cannot write ${path}`, () => {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats?.isDirectory()) throw Object.assign(new Error(), { code: "EISDIR" });
    const nearest = stats ? path : nearestAbove(path);
    if (!stats && !isFolder(nearest)) throw Object.assign(new Error(), { code: "ENOTDIR" });
    accessSync(nearest, constants.W_OK);
  });

function nearestAbove(path: string): string {
  const above = dirname(path);
  return exists(above) || above === path ? above : nearestAbove(above);
}

export const isFolder = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
