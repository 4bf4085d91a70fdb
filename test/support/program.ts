import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
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
const folder = mkdtempSync(join(tmpdir(), "relcat-program-"));
let commands: ReturnType<typeof warmCommands> | undefined;

/** Tests run the users' bundle, which starts four times as fast as the sources. */
export async function setup(project: TestProject): Promise<void> {
  mkdirSync(join(folder, "cli"));
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
