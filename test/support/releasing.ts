import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Files, type Project, project, release } from "./project.ts";
import { relcat, temporaryFolder } from "./run.ts";

export const version = "26.09.001";
export const rpm = {
  name: "tool-26.09.001.rpm",
  package_type: "rpm",
  sha256: "9e7ab438597fee20e16e8e441bed0ce966bd59e0fb993fa7c94be31fb1384d88",
  size: 3,
};

export type Env = Record<string, string | undefined>;

export interface Releasing extends Project {
  site: string;
  env: Env;
  /** Runs the command with the online key. */
  at(...args: string[]): ReturnType<typeof relcat>;
  /** Puts the artifact where the sites have it. */
  upload(): void;
}

/** A project with one open release, and a site in a folder next to it. */
export async function releasing(trust: "none" | "simple", files: Files = {}): Promise<Releasing> {
  const site = join(temporaryFolder(), "www");
  const config = {
    product: "Example",
    require: {},
    base_url: "https://downloads.example.com",
    trust,
    sites: { prod: { url: `dir:${site}` }, trial: { url: `dir:${site}-trial`, settles: false } },
  };
  const made = project({ "releases/catalog.yaml": config, ...release(version, [rpm]), ...files });
  const env: Env = { RELCAT_ONLINE_KEY: undefined };
  if (trust === "simple") {
    const keys = join(temporaryFolder(), "keys");
    await made.succeed("trust", "init", keys);
    env.RELCAT_ONLINE_KEY = readFileSync(join(keys, "online.pem"), "utf8");
  }
  return {
    ...made,
    site,
    env,
    at: (...args) => relcat(made.folder, args, { env }),
    upload() {
      for (const place of [site, `${site}-trial`]) {
        mkdirSync(join(place, "files", version), { recursive: true });
        writeFileSync(join(place, "files", version, rpm.name), "rpm");
      }
    },
  };
}

/** Every file below a folder with its content. */
export function everything(folder: string): Record<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  return Object.fromEntries(
    paths
      .filter((path) => !path.startsWith(".git") && statSync(join(folder, path)).isFile())
      .map((path) => [path, readFileSync(join(folder, path), "latin1")]),
  );
}
