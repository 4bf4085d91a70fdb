import { gitText, ownRepository, pathsOf, refused } from "./git.ts";
import { resolveCommit } from "./git-revision.ts";

/** Files of the work tree that differ from a revision, relative to the folder; new ones only if they are staged. */
export async function changedSince(folder: string, revision: string, pattern: string): Promise<string[]> {
  const how = ["--name-only", "--no-renames", "--relative", "-z", "--end-of-options"];
  return pathsOf(await gitText(folder, ["diff", ...how, revision, "--", `:(glob)${pattern}`]));
}

/**
 * Reads a folder of a revision without a checkout and without the network.
 * @param paths limits it to these paths below the folder; none: all
 * @param option option that selected the revision, for hints
 * @returns the commit, and its files by path relative to the folder
 * @throws RelcatError git-missing, git-revision, git-refused
 */
export async function readTree(
  folder: string,
  revision: string,
  paths: readonly string[] = [],
  option?: string,
) {
  const commit = await resolveCommit(folder, revision, option);
  const listed = await gitText(folder, ["ls-tree", "-r", "-z", commit, "--", ...paths]);
  // Modes 100644 and 100755: links and submodules are not files of the catalog.
  const entries = pathsOf(listed).flatMap((line) => {
    const [, blob, path] = /^100\d{3} blob ([0-9a-f]+)\t(.+)$/s.exec(line) ?? [];
    return blob !== undefined && path !== undefined ? [{ blob, path }] : [];
  });
  const contents = await readBlobs(
    folder,
    entries.map(({ blob }) => blob),
  );
  return {
    commit,
    files: new Map(entries.map(({ path }, index) => [path, contents[index] ?? new Uint8Array()])),
  };
}

async function readBlobs(folder: string, blobs: readonly string[]): Promise<Uint8Array[]> {
  const { execa } = await import("execa");
  const { stdout, exitCode, stderr } = await execa("git", ["-C", folder, "cat-file", "--batch"], {
    input: blobs.map((blob) => `${blob}\n`).join(""),
    encoding: "buffer",
    stripFinalNewline: false,
    maxBuffer: Number.MAX_SAFE_INTEGER,
    reject: false,
    env: ownRepository,
  });
  if (exitCode !== 0) throw refused(folder, new TextDecoder().decode(stderr) || "no answer");
  let at = 0;
  return blobs.map(() => {
    const end = stdout.indexOf(0x0a, at);
    const header = new TextDecoder().decode(stdout.subarray(at, end));
    const size = Number(/ blob (\d+)$/.exec(header)?.[1]);
    if (Number.isNaN(size)) throw refused(folder, header);
    at = end + 1 + size + 1;
    return stdout.subarray(end + 1, end + 1 + size);
  });
}
