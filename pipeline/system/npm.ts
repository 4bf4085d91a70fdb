import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, join, resolve } from "node:path";
import { failure } from "../../shared/errors.ts";

/** package-lock.json, or the reason why npm did not write one. */
export type Locked = { text: string } | { reason: string };

/**
 * Packs an installed package, or a clone of its repository, which is compiled first if its sources are newer.
 * The same files give the same bytes.
 * @param folder of the package; scripts that it runs before packing are not run
 * @param work an empty folder for the result
 * @returns undefined: npm is not installed
 * @throws RelcatError pack-failed
 */
export async function pack(folder: string, isClone: boolean, work: string) {
  if (isClone && isStale(folder)) {
    const reason = await npm(folder, ["run", "compile"]);
    if (reason === "missing") return undefined;
    if (reason !== undefined) throw notPacked(folder, reason, "Run npm ci in that folder, then try again.");
  }
  const reason = await npm(work, ["pack", resolve(folder), "--ignore-scripts", "--pack-destination", work]);
  if (reason === "missing") return undefined;
  const name = readdirSync(work).find((file) => file.endsWith(".tgz"));
  if (reason !== undefined || name === undefined) {
    const hint =
      "Say what package.json installs: --relcat FILE.tgz, or --relcat VERSION if a registry has it.";
    throw notPacked(folder, reason ?? "npm pack wrote no file", hint);
  }
  // biome-ignore lint/plugin: npm wrote this file a moment ago.
  return { name, bytes: readFileSync(join(work, name)) };
}

const notPacked = (folder: string, reason: string, hint: string) =>
  failure("pack-failed", `npm could not pack ${folder}: ${reason}`, hint);

/**
 * Lets npm resolve the dependencies of a package.json, without installing them.
 * @param folder the real project: its name and its .npmrc affect the result
 * @param work an empty folder
 */
export async function lockDependencies(
  folder: string,
  files: readonly { path: string; content: string | Uint8Array }[],
  work: string,
): Promise<Locked> {
  // biome-ignore lint/plugin: the name of the project's own folder.
  const copy = join(work, basename(resolve(folder)) || "project");
  for (const { path, content } of files) {
    // biome-ignore lint/plugin: relcat chose these file names.
    const file = join(copy, path);
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, content);
  }
  const settings = join(folder, ".npmrc");
  if (existsSync(settings)) copyFileSync(settings, join(copy, ".npmrc"));
  const usual = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"];
  const limits = [
    "--fetch-timeout=20000",
    "--fetch-retries=1",
    "--fetch-retry-mintimeout=100",
    "--fetch-retry-factor=1",
  ];
  const args = ["install", "--package-lock-only", ...usual, ...limits];
  // A registry that is silent for a minute is unreachable.
  const reason = await npm(copy, args, 60_000);
  if (reason === "missing") return { reason: "npm is not installed here" };
  if (reason !== undefined) return { reason };
  return { text: withoutEngines(readFileSync(join(copy, "package-lock.json"), "utf8")) };
}

/** npm compares `engines` with its own Node, and leaves out native packages that only the project's newer Node runs. */
function withoutEngines(packageLock: string): string {
  const lock = JSON.parse(packageLock) as { packages: Record<string, { engines?: unknown }> };
  for (const each of Object.values(lock.packages)) delete each.engines;
  return `${JSON.stringify(lock, null, 2)}\n`;
}

/**
 * @param timeout in milliseconds; a slow machine compiles for minutes
 * @returns undefined: it succeeded; "missing": there is no npm
 */
async function npm(cwd: string, args: readonly string[], timeout = 300_000): Promise<string | undefined> {
  const { execa } = await import("execa");
  const result = await execa("npm", [...args, "--loglevel=error", "--no-update-notifier"], {
    cwd,
    reject: false,
    stdin: "ignore",
    timeout,
  });
  if (!result.failed) return undefined;
  if (result.timedOut) return `npm did not finish within ${timeout / 1000} seconds`;
  if (result.code === "ENOENT") return "missing";
  return lastWords(String(result.stderr)) ?? lastWords(String(result.stdout)) ?? result.shortMessage;
}

/** The first line of npm's report that says what happened. */
function lastWords(output: string): string | undefined {
  const lines = output.split("\n").map((line) => line.replace(/^npm (error|ERR!) /, "").trim());
  const code = lines.find((line) => line.startsWith("code "))?.slice("code ".length);
  const said = lines.find((line) => line !== "" && !/^(code|errno|syscall|path|command) /.test(line));
  return said === undefined ? undefined : `${said}${code && !said.includes(code) ? ` (${code})` : ""}`;
}

const compiledFrom = [
  ...["package.json", "tsconfig.build.json"],
  ...["cli", "controller", "inspect", "pipeline", "service", "shared"],
];

/** True if a source, or the folder of a removed one, is newer than the compiled program. */
function isStale(clone: string): boolean {
  const program = statSync(join(clone, "build/program/main.js"), { throwIfNoEntry: false });
  if (!program) return true;
  return compiledFrom.some(
    // biome-ignore lint/plugin: names of a fixed list.
    (name) => newest(join(clone, name)) > program.mtimeMs,
  );
}

function newest(path: string): number {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  // biome-ignore lint/plugin: names listed from relcat's own folder.
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}
