import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { installRelcat, npm, repository } from "./installed.ts";

/** One revision of relcat, ready to be measured. */
export interface Revision {
  name: string;
  /** The path of the installed relcat.mjs. */
  relcat: string;
  /** The path of the bundled program that makes the same outputs as the peers. */
  sameOutputs: string;
}

const git = (...args: string[]): string =>
  execFileSync("git", args, { cwd: repository, encoding: "utf8" }).trim();

/**
 * Checks out, packs and installs a revision.
 * @param work an existing folder; the revision gets a folder of its own in it
 * @throws Error when git does not know the revision
 */
export async function installRevision(work: string, revision: string): Promise<Revision> {
  const commit = commitOf(revision);
  const folder = join(work, `revision-${commit.slice(0, 12)}`);
  const source = join(folder, "checkout");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(source, { recursive: true });
  const archive = join(folder, "checkout.tar");
  git("archive", "--output", archive, commit);
  execFileSync("tar", ["-xf", archive, "-C", source]);
  await installDependencies(source);
  return { name: revision, ...(await programsOf(source, folder)) };
}

/** @throws Error when git does not know the revision */
export function commitOf(revision: string): string {
  try {
    return git("rev-parse", "--verify", "--quiet", `${revision}^{commit}`);
  } catch (cause) {
    throw new Error(`--against takes a commit, and git knows none that is named "${revision}"`, { cause });
  }
}

/** The working tree as it is, changes that are not committed included. */
export async function installWorkingTree(work: string): Promise<Revision> {
  const folder = join(work, "working-tree");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return { name: "working tree", ...(await programsOf(repository, folder)) };
}

async function programsOf(source: string, folder: string): Promise<Omit<Revision, "name">> {
  const relcat = await installRelcat(folder, source);
  const bundled = join(folder, "same-outputs");
  // Each revision bundles itself: its program may need other entries than ours.
  const script = `const { bundle } = await import("./cli/bundle.ts");
    await bundle(process.argv[1], process.cwd() + "/bench/build/same-outputs.ts");`;
  const args = ["--input-type=module", "--eval", script, bundled];
  await execa(process.execPath, args, { cwd: source });
  writeFileSync(join(bundled, "package.json"), '{"type":"module"}\n');
  return { relcat, sameOutputs: join(bundled, "main.js") };
}

/** Installs only when the revision's dependencies differ from ours: an install takes longer than the measurement. */
async function installDependencies(source: string): Promise<void> {
  const lockOf = (folder: string) => readFileSync(join(folder, "package-lock.json"), "utf8");
  if (lockOf(source) === lockOf(repository)) {
    symlinkSync(join(repository, "node_modules"), join(source, "node_modules"));
  } else {
    await npm(source, "ci", "--prefer-offline");
  }
}
