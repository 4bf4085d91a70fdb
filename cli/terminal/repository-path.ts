import { existsSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import type { Host } from "./host.ts";

/** Path of a file in its repository, with forward slashes; undefined outside of it. */
export type RepositoryPath = (file: string) => string | undefined;

/**
 * Locations are relative to the current folder, but a forge needs paths relative to the repository: the
 * nearest parent of the project that git or the runner's workspace names.
 */
export function repositoryPaths({
  environment,
  releases,
}: Pick<Host, "environment" | "releases">): RepositoryPath {
  const here = resolve(dirname(releases));
  const workspace = environment.GITHUB_WORKSPACE;
  const roots = [gitRoot(here), workspace ? resolve(workspace) : undefined].filter(
    (root) => root !== undefined && isInside(root, here),
  );
  const root = roots.reduce((a, b) => ((a ?? "").length >= (b ?? "").length ? a : b), undefined) ?? here;
  return (file) => {
    const path = resolve(file);
    return isInside(root, path) ? relative(root, path).split(sep).join("/") : undefined;
  };
}

function gitRoot(start: string): string | undefined {
  for (let folder = start; ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git"))) return folder;
    if (dirname(folder) === folder) return undefined;
  }
}

const isInside = (root: string, path: string): boolean => path === root || path.startsWith(join(root, sep));
