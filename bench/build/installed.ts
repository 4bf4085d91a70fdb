import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { execa } from "execa";

export const repository = join(import.meta.dirname, "../..");
const longest = 600_000;

/** What `npm run compile` and `npm pack` need. */
const packed = [
  "cli",
  "controller",
  "inspect",
  "pipeline",
  "service",
  "shared",
  "templates",
  "schemas",
  "README.md",
  "package.json",
  "tsconfig.json",
  "tsconfig.build.json",
];

/**
 * Packs and installs relcat as users have it. A copy is compiled: the clone's own build/ stays as it is.
 * @param work an existing folder
 * @param checkout the sources with their node_modules
 * @returns the path of the installed relcat.mjs
 */
export async function installRelcat(work: string, checkout = repository): Promise<string> {
  const source = emptied(join(work, "source"));
  // An earlier revision may not have every folder.
  for (const name of packed.filter((each) => existsSync(join(checkout, each))))
    cpSync(join(checkout, name), join(source, name), { recursive: true });
  symlinkSync(join(checkout, "node_modules"), join(source, "node_modules"));
  await npm(source, "run", "compile");
  // Without prepack, which refuses to pack for others before the owner's addresses are filled in.
  await npm(source, "pack", "--ignore-scripts", "--pack-destination", source);
  const tarball = readdirSync(source).find((name) => name.endsWith(".tgz"));
  if (!tarball) throw new Error(`npm pack left no package in ${source}`);
  const folder = emptied(join(work, "installed"));
  writeFileSync(join(folder, "package.json"), '{"private":true}\n');
  await npm(folder, "install", "--prefer-offline", join(source, tarball));
  return join(folder, "node_modules/relcat/cli/relcat.mjs");
}

/**
 * Installs Eleventy, in a folder of its own.
 * @returns the folder, and the path of its command
 */
export async function installEleventy(work: string): Promise<{ folder: string; command: string }> {
  const folder = join(work, "eleventy");
  cpSync(join(import.meta.dirname, "peers/eleventy"), folder, { recursive: true });
  await npm(folder, "install", "--prefer-offline");
  return { folder, command: join(folder, "node_modules/@11ty/eleventy/cmd.cjs") };
}

/** The version of a package in a folder's node_modules. */
export const versionOf = (folder: string, name: string): string =>
  JSON.parse(readFileSync(join(folder, "node_modules", name, "package.json"), "utf8")).version;

export const npm = (cwd: string, ...args: string[]) =>
  execa("npm", [...args, "--no-audit", "--no-fund"], { cwd, timeout: longest });

function emptied(folder: string): string {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
}
