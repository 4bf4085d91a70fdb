import { failure } from "../../shared/errors.ts";
import { isIgnored } from "../project/discover.ts";
import { shellWord } from "../project/display.ts";
import { isInRepository, uncommitted } from "../system/git/git.ts";

/**
 * Files that a build is made from, and that HEAD does not have as they are here. None outside a repository.
 * @param built versions of the build; other releases and notes of the next one may be unfinished
 */
export async function uncommittedSources(folder: string, built: ReadonlySet<string>): Promise<string[]> {
  const paths = isInRepository(folder) ? await uncommitted(folder, "ignored too") : [];
  return paths.filter((path) => {
    const [top = ""] = path.split("/", 1);
    return !isIgnored(path) && top !== "next" && (!/^\d/.test(top) || built.has(top));
  });
}

/** @param paths relative to the folder @throws RelcatError content-uncommitted, if there are any */
export function refuseUncommitted(folder: string, paths: readonly string[]): void {
  if (paths.length === 0) return;
  const files = paths.map((path) => `${folder}/${path}`);
  const more = files.length > 5 ? ` and ${files.length - 5} more` : "";
  const added = files.length > 5 ? [folder] : files;
  throw failure(
    "content-uncommitted",
    `the site would show files that are not committed: ${files.slice(0, 5).join(", ")}${more}`,
    `Commit and push them: git add ${added.map(shellWord).join(" ")}, then git commit, then git push. To publish anyway: --allow-uncommitted REASON`,
  );
}
