import {
  appendFileSync,
  cpSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { expect } from "vitest";
import type { ReleaseDocument } from "../../pipeline/index.ts";
import { copyProject, madeOnce, relcat, temporaryFolder } from "../support/run.ts";

/** A project whose sites are folders or buckets. */
export interface PublishingProject {
  folder: string;
  /** base_url of the sample. */
  baseUrl: string;
  /** The folder of the site `prod`. */
  www: string;
  keys: string;
  /** The online key and other variables of the commands. */
  secrets: Record<string, string>;
  run(...args: string[]): ReturnType<typeof relcat>;
  /** Runs a command that must succeed. @returns stdout and stderr */
  succeed(...args: string[]): Promise<{ stdout: string; stderr: string }>;
  json(...args: string[]): Promise<Record<string, unknown> & PublishDocument>;
  /** Builds the cut releases and signs them for `prod`. */
  make(...args: string[]): Promise<void>;
  /** Places empty files of the right size as the artifacts of `out`. */
  artifacts(out?: string): void;
  /** current.json of a folder. */
  state(): Record<string, unknown> & { history: { build: string; action: string; files: string }[] };
}

export interface PublishDocument {
  result: string;
  build: string;
  added: { path: string; sha256: string }[];
  changed: { path: string; sha256: string }[];
  removed: string[];
  unchanged: number;
  requests: number;
}

export interface ProjectOptions {
  fixture?: string;
  /** YAML of the sites, indented by two. */
  sites?: (folder: string) => string;
  trust?: "none" | "simple";
  env?: Record<string, string>;
  /** Address of the storage in `sites`, which differs between projects that are equal otherwise. */
  endpoint?: string;
}

/** A file of a template with the folder and the endpoint that it was made for. */
const madeFor = "made-for.json";
const inFolder = (folder: string) => `  prod: {url: "dir:${folder}/www"}\n`;

/** A copy of a fixture with a signed site and its artifacts, which is made once. */
export async function publishingProject(options: ProjectOptions = {}): Promise<PublishingProject> {
  const { sites = inFolder, trust = "simple", env = {}, endpoint = "ENDPOINT" } = options;
  const { endpoint: _, ...rest } = options;
  const name = JSON.stringify({ ...rest, sites: sites("FOLDER").replaceAll(endpoint, "ENDPOINT") });
  const template = await madeOnce(name, (folder) => makeTemplate(folder, options));
  const base = temporaryFolder();
  cpSync(template, base, { recursive: true, preserveTimestamps: true });
  const project = projectIn(base, trust, env);
  const file = join(project.folder, "releases/catalog.yaml");
  const made = JSON.parse(readFileSync(join(base, madeFor), "utf8"));
  const own = readFileSync(file, "utf8").replaceAll(made.base, base).replaceAll(made.endpoint, endpoint);
  writeFileSync(file, own);
  project.artifacts();
  return project;
}

async function makeTemplate(
  base: string,
  {
    fixture = "site/small",
    sites = inFolder,
    trust = "simple",
    env = {},
    endpoint = "ENDPOINT",
  }: ProjectOptions,
): Promise<void> {
  writeFileSync(join(base, madeFor), JSON.stringify({ base, endpoint }));
  const folder = copyProject(fixture, join(base, "project"));
  const file = join(folder, "releases/catalog.yaml");
  // Artifacts below the site itself, which is the default.
  const config = readFileSync(file, "utf8").replace(/^artifact_url:.*\n/m, "");
  const signing = trust === "none" ? trust : "{ profile: simple, valid_days: 7 }";
  writeFileSync(file, `${config}\nprecompress: [gz]\ntrust: ${signing}\nsites:\n${sites(folder)}`);
  // Tests may edit a note of this release at any time.
  const today = new Date().toISOString().slice(0, 10);
  if (fixture === "site/small")
    appendFileSync(join(folder, "releases/26.08.001/release.yaml"), `corrected: ${today}\n`);
  // Small artifacts at their usual addresses.
  for (const name of globSync("releases/*/**/*.{json,yaml}", { cwd: folder })) {
    const text = readFileSync(join(folder, name), "utf8");
    writeFileSync(
      join(folder, name),
      text.replace(/^ *url: https:\/\/mirror.*\n/gm, "").replace(/^( +"?size"?: *)\d{7,}/gm, "$112"),
    );
  }
  if (trust === "simple") await projectIn(base, "none", env).succeed("trust", "init", join(base, "keys"));
  const project = projectIn(base, trust, env);
  await project.make();
  rmSync(project.www, { recursive: true, force: true });
}

function projectIn(base: string, trust: "none" | "simple", env: Record<string, string>): PublishingProject {
  const [folder, keys] = [join(base, "project"), join(base, "keys")];
  const config = readFileSync(join(folder, "releases/catalog.yaml"), "utf8");
  const baseUrl = /^base_url: *"?([^\s"]+)/m.exec(config)?.[1] ?? "";
  const secrets: Record<string, string> = { ...env };
  if (trust === "simple") secrets.RELCAT_ONLINE_KEY = readFileSync(join(keys, "online.pem"), "utf8");
  const run: PublishingProject["run"] = (...args) => relcat(folder, args, { env: secrets });
  const succeed: PublishingProject["succeed"] = async (...args) => {
    const { exitCode, stdout, stderr } = await run(...args);
    expect(exitCode, `relcat ${args.join(" ")}\n${stderr}`).toBe(0);
    return { stdout, stderr };
  };
  const project: PublishingProject = {
    folder,
    baseUrl,
    www: join(folder, "www"),
    keys,
    secrets,
    run,
    succeed,
    json: async (...args) => JSON.parse((await succeed(...args, "--json")).stdout),
    async make(...args) {
      await succeed("build", "--released", ...args);
      if (trust === "simple") await succeed("sign", "--site", "prod", "--now", inDays(-5));
      project.artifacts();
    },
    artifacts: (out = "dist") => placeArtifacts(join(folder, out), project.www, baseUrl),
    state: () => JSON.parse(readFileSync(join(project.www, "current.json"), "utf8")),
  };
  return project;
}

/** A time so long ago that sign renews signatures from it. */
export const inDays = (days: number): string =>
  new Date(Date.now() + days * 86_400_000).toISOString().replace("Z", "000Z");

/** Sparse files, because publish compares lengths only. @param which only keys that match */
export function placeArtifacts(dist: string, site: string, baseUrl: string, which = /./): string[] {
  const chosen = artifactsOf(dist, baseUrl).filter(({ key }) => which.test(key));
  return chosen.map(({ key, size }) => {
    const file = join(site, key);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, "");
    truncateSync(file, size ?? 0);
    return file;
  });
}

/** The artifacts in the release documents of a built site that are below its base address. */
export function artifactsOf(dist: string, baseUrl: string): { key: string; size: number | null }[] {
  const releases = join(dist, "api/v1/release");
  const versions = readdirSync(releases).filter((name) => /^\d/.test(name));
  return versions.flatMap((version) => {
    const { artifacts }: ReleaseDocument = JSON.parse(
      readFileSync(join(releases, version, "index.json"), "utf8"),
    );
    return Object.values(artifacts).flatMap(({ url, size }) =>
      url.startsWith(`${baseUrl}/`) ? [{ key: decodeURIComponent(url.slice(baseUrl.length + 1)), size }] : [],
    );
  });
}

/** Opens a release with one artifact, and cuts it. */
export async function addRelease(project: PublishingProject, version: string, isCut = true): Promise<void> {
  const folder = join(project.folder, "releases", version);
  await project.succeed("new", version.slice(0, 5));
  writeFileSync(join(folder, "release.yaml"), `version: ${version}\ndate: 2026-09-15\n`);
  const hash = "9".repeat(64);
  const artifact = {
    name: "client.rpm",
    file: `client-${version}.rpm`,
    package_type: "rpm",
    sha256: hash,
    size: 12,
  };
  const manifest = { release: version, artifacts: [{ ...artifact, attestation: { sha256: hash } }] };
  mkdirSync(join(folder, "manifests"), { recursive: true });
  writeFileSync(join(folder, "manifests/one.json"), JSON.stringify(manifest));
  if (isCut) await project.succeed("cut", version);
}

export async function gitIn(folder: string, ...args: string[]): Promise<string> {
  const env = { GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
  const who = ["-c", "user.name=Test", "-c", "user.email=test@example.com"];
  return (await execa("git", [...who, ...args], { cwd: folder, env })).stdout;
}

/** Commits everything below releases/. */
export async function commitAll(folder: string): Promise<void> {
  await gitIn(folder, "add", "releases");
  await gitIn(folder, "commit", "-qm", "Releases");
}

/** Changes the text of a page, and not the ledger. */
export function changeText({ folder }: PublishingProject, text: string): void {
  const release = join(folder, "releases/26.08.001/release.yaml");
  writeFileSync(release, readFileSync(release, "utf8").replace(/in bulk\*\*\..*/, `in bulk**. ${text}`));
}

/** Publishes the site with another text on a page. */
export async function publishText(
  project: PublishingProject,
  text: string,
  ...args: string[]
): Promise<void> {
  changeText(project, text);
  await project.make();
  await project.succeed("publish", "prod", ...args);
}

/** The page that changeText changes, as it is live in a folder. */
export const page = ({ www }: PublishingProject): string =>
  readFileSync(join(www, "current/releases/26.08.001/index.html"), "utf8");
