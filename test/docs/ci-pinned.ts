import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { release } from "../support/project.ts";
import { temporaryFolder } from "../support/run.ts";
import { forge, type Machine, type StepResult } from "./ci-forge.ts";
import { launcher } from "./pasted.ts";

/** A clone whose package-lock.json pins relcat by its hash, and which `npm ci` can install without a network. */
export interface PinnedProject {
  machine: Machine;
  /** Hash of relcat's package in package-lock.json. */
  integrity: string;
  /** Runs a line of a workflow in the clone. @param env variables of the job */
  line(line: string, env?: Readonly<Record<string, string>>): Promise<StepResult>;
}

/** Its relcat is a package of one script, which runs the relcat under test. */
export async function pinnedProject(): Promise<PinnedProject> {
  const package_ = join(temporaryFolder(), "relcat");
  mkdirSync(package_);
  writeFileSync(join(package_, "relcat.sh"), await launcher(package_));
  chmodSync(join(package_, "relcat.sh"), 0o755);
  const about = { name: "relcat", version: "0.1.0", bin: { relcat: "relcat.sh" } };
  writeFileSync(join(package_, "package.json"), JSON.stringify(about));
  const project = mkdtempSync(join(temporaryFolder(), "project-"));
  mkdirSync(join(project, "vendor"));
  const npm = (cwd: string, ...args: string[]) =>
    execa("npm", [...args, "--offline", "--no-audit", "--no-fund", "--silent"], { cwd });
  await npm(package_, "pack", "--pack-destination", join(project, "vendor"));
  const pinned = { private: true, dependencies: { relcat: "file:vendor/relcat-0.1.0.tgz" } };
  writeFileSync(join(project, "package.json"), JSON.stringify(pinned));
  await npm(project, "install", "--package-lock-only");
  const lock = readFileSync(join(project, "package-lock.json"), "utf8");
  const at = await forge({
    "releases/catalog.yaml": { require: {} },
    "releases/next/notes/.gitkeep": "",
    "package.json": pinned,
    "package-lock.json": lock,
    ...release("26.11.001", []),
  });
  const machine = await at.clone();
  mkdirSync(join(machine.folder, "vendor"));
  const tarball = "vendor/relcat-0.1.0.tgz";
  writeFileSync(join(machine.folder, tarball), readFileSync(join(project, tarball)));
  return {
    machine,
    integrity: JSON.parse(lock).packages["node_modules/relcat"].integrity,
    line: (line, env = {}) => {
      const all = { npm_config_offline: "true", ...env };
      const exported = Object.entries(all).map(([name, value]) => `export ${name}='${value}'\n`);
      return machine.sh(`${exported.join("")}${line}`);
    },
  };
}
