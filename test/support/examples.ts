import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { launcher } from "../docs/pasted.ts";
import { repository, temporaryFolder } from "./run.ts";

/** A copy of an example, after the shell blocks of its README have run. */
export interface RunExample {
  folder: string;
  stdout: string;
  /** A file of the published site. */
  live(path: string): string;
}

/**
 * Copies a folder of `examples/` and runs the shell blocks of its README there, unchanged.
 * @throws if one of the commands fails
 */
export async function runExample(name: string): Promise<RunExample> {
  const base = temporaryFolder();
  const [folder, programs] = [join(base, name), join(base, "bin")];
  const command = join(programs, "relcat");
  cpSync(join(repository, "examples", name), folder, { recursive: true });
  mkdirSync(programs);
  writeFileSync(command, await launcher(base));
  chmodSync(command, 0o755);
  const blocks = [...readFileSync(join(folder, "README.md"), "utf8").matchAll(/^```sh\n([\s\S]*?)^```$/gm)];
  if (blocks.length === 0) throw new Error(`examples/${name}/README.md has no shell block`);
  const { stdout } = await execa("sh", ["-euc", blocks.map(([, block]) => block).join("\n")], {
    cwd: folder,
    env: {
      PATH: `${programs}:${dirname(process.execPath)}:${process.env.PATH}`,
      XDG_STATE_HOME: join(base, "state"),
      SOURCE_DATE_EPOCH: undefined,
      CI: undefined,
      GITHUB_ACTIONS: undefined,
    },
  });
  return { folder, stdout, live: (path) => readFileSync(join(folder, "site/current", path), "utf8") };
}

/** Package type, architecture and name of each file that the site offers, sorted. */
export function offeredFiles({ live }: RunExample): string[] {
  const { packages } = JSON.parse(live("api/v1/latest.json")) as {
    packages: { name: string; package_type: string; arch?: string }[];
  };
  return packages.map(({ package_type, arch, name }) => `${package_type} ${arch} ${name}`).sort();
}
