import { lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { failure } from "../../shared/errors.ts";
import type { RelativePath } from "../documents/relative-path.ts";

/** Joins an untrusted path to a folder. @throws RelcatError site-tampered for a link that leads out of it */
export type RootFolder = (path: RelativePath) => string;

/** Each published build links to its site's artifacts. */
export const artifactsLink = { name: "files", target: "../../files" };

/**
 * The only allowed way to join a path from storage, network, archive or cache to a folder: neither `..` nor a
 * symbolic link can leave it. Checked folders are cached, so a root is for one task only.
 * @param root may be a link itself
 */
export function rootFolder(root: string): RootFolder {
  const checked = new Set<string>(["."]);
  /** @returns whether the path exists */
  const check = (path: string): boolean => {
    if (checked.has(path)) return true;
    const parent = dirname(path);
    if (!check(parent)) return false;
    checked.add(parent);
    const stat = lstatSync(join(root, path), { throwIfNoEntry: false });
    if (stat?.isSymbolicLink() && !staysInside(root, path)) throw leaves(join(root, path), root);
    const target = stat?.isSymbolicLink() ? statSync(join(root, path)) : stat;
    // Opening a pipe blocks until something writes to it, and a device has no end.
    if (target && !target.isFile() && !target.isDirectory()) throw special(join(root, path));
    return stat !== undefined;
  };
  return (path) => {
    check(path);
    return join(root, path);
  };
}

/** The target of a dangling link could be created anywhere before it is written through. */
function staysInside(root: string, path: string): boolean {
  const link = join(root, path);
  const home = realpathSync(root);
  try {
    if (`${realpathSync(link)}/`.startsWith(home === "/" ? home : `${home}/`)) return true;
  } catch {
    return false;
  }
  const isOwn = path === artifactsLink.name && readlinkSync(link) === artifactsLink.target;
  return isOwn && lstatSync(join(home, artifactsLink.target)).isDirectory();
}

const special = (path: string) =>
  failure(
    "site-tampered",
    `${path} is a pipe, a socket or a device, expected a file`,
    "Nothing was read or written there. Remove it, find out who made it, and run the command again.",
  );

const leaves = (link: string, root: string) =>
  failure(
    "site-tampered",
    `${link} is a symbolic link that leads out of ${root}, or nowhere`,
    "Nothing was read or written through it. Remove it, find out who made it, and run the command again.",
  );
