import { existsSync, realpathSync } from "node:fs";
import { relative } from "node:path";
import { failure, type Problem } from "../../shared/errors.ts";

/** True if a real path belongs to the project. */
export type InProject = (realPath: string) => boolean;

/**
 * Allowed targets of links in a releases folder. Messages print lines of files, so a link to another file
 * would show its content in a CI log; hidden files are excluded too, because .git/config may contain a token.
 * @param folder the releases folder; its parent is the project
 */
export function inProject(folder: string): InProject {
  const roots = [`${folder}/..`, folder].map((root) => realpathSync(root));
  return (realPath) =>
    roots.some((root) => {
      const path = relative(root, realPath);
      return !/(?:^|\/)\./.test(path);
    });
}

/** @throws RelcatError file-access if a link takes the path outside the project */
export function refuseForeignLink(folder: string, path: string): void {
  const file = `${folder}/${path}`;
  // A missing file is reported by the caller.
  if (!existsSync(file) || inProject(folder)(realpathSync(file))) return;
  const { code, message, hint } = foreignLink(file);
  throw failure(code, message, hint);
}

export const foreignLink = (path: string): Problem => ({
  code: "file-access",
  severity: "error",
  message: `${path} is a symbolic link that leads out of the project, or to a hidden file`,
  hint: "Nothing of it was read. Put a copy of the file in the link's place.",
});
