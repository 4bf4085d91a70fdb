import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statfsSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { TestProject } from "vitest/node";
import { bundle } from "../../cli/bundle.ts";
import { warmCommands } from "./warm-commands.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The launcher of relcat, bundled from the current sources. */
    program: string;
    /** Module that runs commands without starting a process. */
    warmCommands: string;
  }
}

const repository = resolve(import.meta.dirname, "../..");
const folder = mkdtempSync(join(placeInMemory() ?? tmpdir(), "relcat-tests-"));
process.env.TMPDIR = join(folder, "tmp");
let commands: ReturnType<typeof warmCommands> | undefined;

/**
 * The suites force thousands of small files to disk, so they work in memory where there is room, unless TMPDIR names
 * another folder. Files of a run that was killed are removed after a day.
 */
function placeInMemory(): string | undefined {
  const memory = "/dev/shm";
  if (process.env.TMPDIR !== undefined || !existsSync(memory)) return undefined;
  for (const name of readdirSync(memory)) {
    if (!/^relcat-tests-/.test(name)) continue;
    const stat = statSync(join(memory, name), { throwIfNoEntry: false });
    if (stat?.uid === process.getuid?.() && Date.now() - (stat?.mtimeMs ?? 0) > 86_400_000)
      rmSync(join(memory, name), { recursive: true, force: true });
  }
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize > 8e9 ? memory : undefined;
}

/** Tests run the users' bundle, which starts four times as fast as the sources. */
export async function setup(project: TestProject): Promise<void> {
  chmodSync(folder, 0o755);
  for (const name of ["cli", "tmp"]) mkdirSync(join(folder, name));
  // Some commands of the tests run as other users.
  chmodSync(join(folder, "tmp"), 0o1777);
  for (const file of ["cli/relcat.mjs", "package.json"])
    copyFileSync(join(repository, file), join(folder, file));
  for (const name of ["templates", "schemas", "starters", "node_modules"])
    symlinkSync(join(repository, name), join(folder, name));
  const make = () => bundle(join(folder, "build/program"));
  await make();
  const launcher = join(folder, "cli/relcat.mjs");
  commands = warmCommands(launcher, folder);
  const { address, renew } = commands;
  project.onTestsRerun(() => make().then(renew));
  project.provide("program", launcher);
  project.provide("warmCommands", address);
}

export function teardown(): void {
  commands?.close();
  rmSync(folder, { recursive: true, force: true });
}
