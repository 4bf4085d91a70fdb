import { chmodSync, cpSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { cacheControl, mediaType } from "../../pipeline/documents/file-headers.ts";
import { afterFile } from "../support/after-file.ts";
import { release } from "../support/project.ts";
import { madeOnce, repository, temporaryFolder } from "../support/run.ts";
import { type S3Fake, startS3Fake } from "../support/s3-fake.ts";
import { type Hosts, localWeb, type Page } from "./local-web.ts";
import { launcher, withNextPasted } from "./pasted.ts";

/** A releases repository, the storage of its sites, and a shell in its own folder. */
export interface World {
  /** The folder of everything else. */
  base: string;
  /** Working directory of the shell. */
  folder: string;
  home: string;
  /** The folder that documents call /srv. */
  srv: string;
  bucket: S3Fake;
  /** The shell's environment. */
  env: Record<string, string | undefined>;
  /** Runs commands one after the other; it stops at the first that fails. */
  sh(script: string, options?: { cwd?: string; env?: Record<string, string> }): Promise<ShellResult>;
  /** Like `sh`, but a failure is an error that contains the output. */
  succeed(script: string, options?: { cwd?: string; env?: Record<string, string> }): Promise<ShellResult>;
  /**
   * As `succeed`, for the commands of a guide: each "Next" line that relcat prints is pasted too, in a copy of all files
   * and of the bucket, and must succeed.
   */
  follow(
    script: string,
    options?: { cwd?: string; env?: Record<string, string> },
  ): Promise<ShellResult & { pasted: string[] }>;
  /** A file of a site as its readers get it; undefined: not found. */
  live(host: string, path: string): string | undefined;
  /** A CDN in front of the origin; tests may replace it. */
  edge: (path: string, page: Page | undefined) => Page | undefined;
}

export interface ShellResult {
  exitCode: number | undefined;
  stdout: string;
  stderr: string;
}

export type Kind = "folder" | "bucket";

/** A build of two files whose names and bytes contain the version. */
const build = `#!/bin/sh
set -eu
rm -rf out && mkdir out
printf 'rpm of %s' "$1" >"out/tool-$1.rpm"
printf 'msi of %s' "$1" >"out/tool-$1.msi"
`;

const catalog = `product: Example Tool
require: {}
expected: [rpm, msi]
ingest:
  - { match: "*.rpm", package_type: rpm }
  - { match: "*.msi", package_type: msi }
`;

/** YAML of the documents, with the paths of this machine. */
export const placed = (yaml: string, { srv, bucket }: Pick<World, "srv" | "bucket">): string =>
  yaml.replaceAll("/srv", srv).replaceAll("https://s3.example.com", bucket.endpoint);

/**
 * @param kind the storage behind downloads.example.com
 * @param template folder with the files of another world
 * @param others more hosts of example.com
 */
export async function world(kind: Kind, template?: string, others: Hosts = {}): Promise<World> {
  const base = temporaryFolder();
  if (template !== undefined) cpSync(template, base, { recursive: true, verbatimSymlinks: true });
  const at = (name: string) => join(base, name);
  const [folder, home, srv, bin, origin] = ["work", "home", "srv", "bin", "origin.git"].map(at) as [
    string,
    string,
    string,
    string,
    string,
  ];
  for (const each of [folder, home, srv, bin]) mkdirSync(each, { recursive: true });
  const bucket = await startS3Fake();
  bucket.place.bucket = "downloads";
  afterFile(() => bucket.stop());
  const command = join(bin, "relcat");
  writeFileSync(command, await launcher(base));
  chmodSync(command, 0o755);
  const pages = {
    "downloads.example.com": (path: string) =>
      self.edge(
        path,
        kind === "folder" ? fileOf(join(srv, "downloads/current"), path) : objectOf(bucket, path),
      ),
    "staging.example.com": (path: string) => fileOf(join(srv, "staging/current"), path),
  };
  const env: Record<string, string | undefined> = {
    ...(await localWeb({ ...pages, ...others })),
    ...(kind === "bucket" ? bucket.environment : {}),
    PATH: `${bin}:${dirname(process.execPath)}:${process.env.PATH}`,
    HOME: home,
    XDG_STATE_HOME: undefined,
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_COUNT: "2",
    GIT_CONFIG_KEY_0: `url.file://${origin}.insteadOf`,
    GIT_CONFIG_VALUE_0: "https://git.example.com/releases.git",
    GIT_CONFIG_KEY_1: "advice.detachedHead",
    GIT_CONFIG_VALUE_1: "false",
    GIT_AUTHOR_NAME: "Ann",
    GIT_AUTHOR_EMAIL: "ann@example.com",
    GIT_COMMITTER_NAME: "Ann",
    GIT_COMMITTER_EMAIL: "ann@example.com",
    SOURCE_DATE_EPOCH: undefined,
    RELCAT_ONLINE_KEY: undefined,
    CI: undefined,
    GITHUB_ACTIONS: undefined,
  };
  const sh: World["sh"] = async (script, { cwd = folder, env: more = {} } = {}) => {
    const result = await execa("bash", ["-c", `set -euo pipefail\n${script}`], {
      cwd,
      env: { ...env, ...more },
      reject: false,
    });
    return { exitCode: result.exitCode, stdout: result.stdout, stderr: result.stderr };
  };
  const succeed: World["succeed"] = async (script, options) => {
    const result = await sh(script, options);
    if (result.exitCode !== 0)
      throw new Error(`${result.exitCode}\n${script}\n${result.stdout}\n${result.stderr}`);
    return result;
  };
  const follow: World["follow"] = (script, options = {}) =>
    withNextPasted((env) => succeed(script, { ...options, env: { ...options.env, ...env } }), bucket);
  if (template === undefined) {
    await execa("git", ["init", "--quiet", "--bare", "--initial-branch=main", origin]);
    await fill(at("first"), succeed);
  }
  const self: World = {
    base,
    folder,
    home,
    srv,
    bucket,
    env,
    sh,
    succeed,
    follow,
    live: (host, path) => {
      const page = pages[host as keyof typeof pages]?.(path);
      return page && new TextDecoder().decode(page.bytes);
    },
    edge: (_, page) => page,
  };
  return self;
}

const liveConfig = `base_url: https://downloads.example.com
trust: simple
sites:
  prod: { url: "dir:../../srv/downloads" }
`;

const publish = "relcat build --released --site prod && relcat sign --site prod && relcat publish prod";

/** Builds, uploads, cuts and publishes a version. */
const released = (version: string) => `
./build ${version}
relcat ingest --release ${version} --job clients --out releases/${version}/manifests/clients.json out
relcat upload --site prod --manifest releases/${version}/manifests/clients.json out/*
relcat cut ${version} --commit
git push -q
${publish}`;

/**
 * A site with two releases, 26.08.001 (ids 1 and 2) and 26.09.001 (3 and 4), each an .msi and an .rpm, published one
 * after the other from a clone in the folder `releases`; the keys are in ~/relcat-keys.
 */
export async function liveWorld(): Promise<World & { clone: string; key: string }> {
  const template = await madeOnce("live world", async (folder) => {
    const { base } = await makeLive();
    cpSync(base, folder, { recursive: true, verbatimSymlinks: true });
  });
  const made = await world("folder", template);
  const key = readFileSync(join(made.home, "relcat-keys/online.pem"), "utf8");
  return Object.assign(made, { clone: join(made.folder, "releases"), key });
}

async function makeLive(): Promise<World> {
  const made = await world("folder");
  const second = { version: "26.09.001", date: "2026-09-15" };
  await made.succeed(`
git clone -q https://git.example.com/releases.git && cd releases
cat >>releases/catalog.yaml <<'END'
${liveConfig}END
relcat trust init ~/relcat-keys
export RELCAT_ONLINE_KEY="$(cat ~/relcat-keys/online.pem)"
git add . && git commit -qm "Where we publish"
${released("26.08.001")}
mkdir releases/26.09.001 && echo '${JSON.stringify(second)}' >releases/26.09.001/release.yaml
${released("26.09.001")}`);
  return made;
}

/** The repository's first commit: a catalog with one open release. */
async function fill(folder: string, succeed: World["succeed"]): Promise<void> {
  mkdirSync(folder);
  await succeed("git clone --quiet https://git.example.com/releases.git . 2>/dev/null", { cwd: folder });
  const files: Record<string, string | object> = {
    "releases/catalog.yaml": catalog,
    "releases/next/notes/.gitkeep": "",
    ...release("26.08.001", []),
    build,
    "package.json": { name: "releases", private: true },
    "package-lock.json": { name: "releases", lockfileVersion: 3, packages: {} },
    ".gitignore": "/dist/\n/preview/\n/earlier/\n/out/\nnode_modules/\n.relcat-*\n",
    ".gitattributes": "releases/ledger.jsonl -merge text eol=lf\n",
  };
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), typeof content === "string" ? content : JSON.stringify(content));
  }
  chmodSync(join(folder, "build"), 0o755);
  await succeed("git switch -q -C main; git add .; git commit -qm Start; git push -q origin HEAD:main", {
    cwd: folder,
  });
}

/** The answer of a plain file host. */
function fileOf(folder: string, path: string): Page | undefined {
  const name = path === "" ? "index.html" : path;
  const file = join(folder, name);
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return undefined;
  const headers = { "content-type": mediaType(name), "cache-control": cacheControl.public };
  return { bytes: readFileSync(file), headers };
}

/** The answer of a public bucket behind a CDN. */
export function objectOf({ bucket }: S3Fake, path: string): Page | undefined {
  const found = bucket.objects.get(`catalog/${path === "" ? "index.html" : path}`);
  if (!found) return undefined;
  const { "content-type": type = "", "cache-control": caching = "" } = found.headers;
  return { bytes: found.bytes, headers: { "content-type": type, "cache-control": caching } };
}

/** A document's fenced blocks in order, each with the headings above it. */
export interface Block {
  language: string;
  text: string;
  /** From the outermost heading to the nearest. */
  headings: string[];
  /** Spaces before its fence. */
  indent: number;
}

export function blocksOf(path: string): Block[] {
  const headings: string[] = [];
  const blocks: Block[] = [];
  let open: Block | undefined;
  for (const line of readFileSync(join(repository, path), "utf8").split("\n")) {
    // A block of a numbered step is indented.
    const fence = /^ *```(\w*)$/.exec(line);
    if (fence && open) {
      blocks.push(open);
      open = undefined;
    } else if (fence)
      open = { language: fence[1] ?? "", text: "", headings: [...headings], indent: line.indexOf("`") };
    else if (open) open.text += `${line.slice(open.indent)}\n`;
    else {
      const [, marks = "", words = ""] = /^(#+) (.*)$/.exec(line) ?? [];
      if (marks !== "") headings.splice(marks.length - 1, headings.length, words);
    }
  }
  return blocks;
}
