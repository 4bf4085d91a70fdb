import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { TestProject } from "vitest/node";
import { bundle } from "../../cli/bundle.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The launcher of relcat as it is installed: bundled, from the sources as they are now. */
    program: string;
  }
}

const repository = resolve(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "relcat-program-"));

/** Tests run what users run; from source each of some thousand processes would take four times as long. */
export async function setup(project: TestProject): Promise<void> {
  mkdirSync(join(folder, "cli"));
  for (const file of ["cli/relcat.mjs", "package.json"])
    copyFileSync(join(repository, file), join(folder, file));
  for (const name of ["templates", "schemas", "node_modules"])
    symlinkSync(join(repository, name), join(folder, name));
  const make = () => bundle(join(folder, "build/program"));
  await make();
  project.onTestsRerun(make);
  project.provide("program", join(folder, "cli/relcat.mjs"));
}

export const teardown = () => rmSync(folder, { recursive: true, force: true });
