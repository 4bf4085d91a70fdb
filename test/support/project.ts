import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { madeOnce, relcat, temporaryFolder } from "./run.ts";

/** A folder with authored files, and the command run in it. */
export interface Project {
  folder: string;
  run(...args: string[]): ReturnType<typeof relcat>;
  /** Like `run`, but a failure is an error that contains the output. */
  succeed(...args: string[]): ReturnType<typeof relcat>;
  /** Runs it with --json. */
  json(...args: string[]): Promise<{ exitCode: number | undefined; document: Record<string, unknown> }>;
  write(path: string, content: string | object): void;
  read(path: string): string;
  /** Names in a folder, including hidden ones, except relcat's own; [] if it does not exist. */
  list(path: string): string[];
  git(...args: string[]): Promise<string>;
}

/** `relcat init` without npm, which would pack relcat and look up its dependencies. */
export const initAlone = ["init", "--relcat", "0.1.0", "--no-lock"] as const;

export type Files = Record<string, string | object>;

/** A project in a temporary folder. Objects become JSON, which is YAML too. */
export function project(files: Files = {}): Project {
  const folder = temporaryFolder();
  const self: Project = {
    folder,
    run: (...args) => relcat(folder, args),
    async succeed(...args) {
      const result = await relcat(folder, args);
      if (result.exitCode !== 0)
        throw new Error(`relcat ${args.join(" ")}: ${result.exitCode}\n${result.stderr}`);
      return result;
    },
    async json(...args) {
      const { exitCode, stdout } = await relcat(folder, [...args, "--json"]);
      return { exitCode, document: JSON.parse(stdout) };
    },
    write(path, content) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(
        join(folder, path),
        typeof content === "string" ? content : `${JSON.stringify(content)}\n`,
      );
    },
    read: (path) => readFileSync(join(folder, path), "utf8"),
    list(path) {
      const there = existsSync(join(folder, path)) ? readdirSync(join(folder, path)) : [];
      return there.filter((name) => !name.startsWith(".relcat-")).sort();
    },
    async git(...args) {
      const env = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
      return (
        await execa("git", ["-c", "user.name=Test", "-c", "user.email=test@example.com", ...args], {
          cwd: folder,
          env,
        })
      ).stdout;
    },
  };
  for (const [path, content] of Object.entries(files)) self.write(path, content);
  return self;
}

/** Options of `cpSync` for a copy that a build or a site takes for the original. */
export const copying = { recursive: true, preserveTimestamps: true, verbatimSymlinks: true };

/** A copy of a project that is made once a run. @param name names it among all such projects */
export async function copyOfProject(name: string, make: () => Promise<Project>): Promise<Project> {
  const template = await madeOnce(name, async (folder) => cpSync((await make()).folder, folder, copying));
  const made = project();
  cpSync(template, made.folder, copying);
  return made;
}

/** An artifact that passes every check with `require: {}`; its checksum repeats one digit. */
export const artifact = (name: string, package_type: string, digit = "a", rest: object = {}) => ({
  name,
  package_type,
  sha256: digit.repeat(64),
  ...rest,
});

/** release.yaml and one manifest of a release. */
export const release = (version: string, artifacts: readonly object[], rest: object = {}): Files => ({
  [`releases/${version}/release.yaml`]: {
    version,
    date: `20${version.slice(0, 2)}-${version.slice(3, 5)}-15`,
    ...rest,
  },
  ...(artifacts.length > 0 && {
    [`releases/${version}/manifests/all.json`]: { release: version, artifacts },
  }),
});

export const note = (text: string, rest: object = {}) => ({
  component: "server",
  kind: "fix",
  text,
  ...rest,
});

/** Two releases of three artifacts, one of them private, and a note for the next one. */
export const smallCatalog: Files = {
  "releases/catalog.yaml": { product: "Example", require: {} },
  ...release("26.08.001", [
    artifact("tool-26.08.001.msi", "msi", "1"),
    artifact("tool-26.08.001.rpm", "rpm", "2"),
  ]),
  ...release("26.09.001", [
    artifact("tool-26.09.001.msi", "msi", "3"),
    artifact("tool-26.09.001.rpm", "rpm", "4"),
    artifact("inside-26.09.001.rpm", "rpm", "5", { exclude_from_api: true }),
  ]),
  "releases/next/notes/waiting.yaml": note("Something is about to come."),
};

/** Message of a command that cannot compare the ledger in a folder without git. */
export const notCompared =
  "The ledger was not compared with origin/main: this folder is not in a git repository.";

export const firstCut = "2026-09-20T10:00:00Z";

/** smallCatalog with ledger lines: ids 1 and 2 in 26.08.001, 3 to 5 in 26.09.001. */
export const cutCatalog = (): Promise<Project> =>
  copyOfProject("cut catalog", async () => {
    const made = project(smallCatalog);
    await made.succeed("cut", "--all", "--now", firstCut);
    return made;
  });
