import {
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { startNginx } from "../site/hosting/homes/nginx.ts";
import { afterFile } from "./after-file.ts";
import { buildDeb, type DebToBuild } from "./debs.ts";
import { freePort } from "./port.ts";
import { type Project, project } from "./project.ts";
import { relcat } from "./run.ts";

/** A project with debs, whose site nginx serves below a path. */
export interface AptSite {
  /** The site's base_url. */
  url: string;
  /** Folder of the project. */
  folder: string;
  project: Project;
  /** Builds debs, and ingests them as a release. */
  release(version: string, debs: readonly ReleasedDeb[]): Promise<void>;
  /** Runs relcat with the keys of the site. @returns what it printed */
  run(...args: string[]): Promise<string>;
  /** Builds, signs and publishes everything that is cut. @param now when it is signed */
  publish(name: string, now?: string): Promise<void>;
  /** Serves what was published as NAME. */
  show(name: string): void;
  /** A file of the site that is served. */
  read(path: string): string;
}

export interface ReleasedDeb extends DebToBuild {
  /** Fields of its manifest, such as min_os_version=22.04. */
  set?: readonly string[];
}

/**
 * @param names of the folders that the site is published to, one for each state that tests need
 * @param settings of catalog.yaml
 */
export async function aptSite(names: readonly string[], settings: object): Promise<AptSite> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/acme`;
  const own = project({
    "releases/catalog.yaml": {
      product: "Acme",
      base_url: url,
      require: {},
      hosts: ["nginx"],
      trust: "simple",
      sites: Object.fromEntries(names.map((name) => [name, { url: `dir:${name}`, settles: false }])),
      ...settings,
    },
  });
  const { folder } = own;
  const secrets: Record<string, string> = {};
  const run: AptSite["run"] = async (...args) => {
    const { exitCode, stdout, stderr } = await relcat(folder, args, { env: secrets });
    if (exitCode !== 0) throw new Error(`relcat ${args.join(" ")}: ${exitCode}\n${stdout}\n${stderr}`);
    return stdout;
  };
  // Older than anything that tests sign.
  const made = ["--now", new Date(Date.now() - 30 * 86_400_000).toISOString()];
  await run("trust", "init", "keys", ...made);
  await run("trust", "init", "keys", "--openpgp", ...made);
  secrets.RELCAT_ONLINE_KEY = readFileSync(join(folder, "keys/online.pem"), "utf8");
  secrets.RELCAT_OPENPGP_KEY = readFileSync(join(folder, "keys/openpgp.asc"), "utf8");
  const show = (name: string) => {
    const link = join(folder, "served-next");
    rmSync(link, { force: true });
    symlinkSync(join(name, "current"), link);
    renameSync(link, join(folder, "served"));
  };
  let isServed = false;
  return {
    url,
    folder,
    project: own,
    run,
    async release(version, debs) {
      mkdirSync(join(folder, "debs", version), { recursive: true });
      own.write(`releases/${version}/release.yaml`, {
        version,
        date: `20${version.slice(0, 5).replace(".", "-")}-15`,
      });
      for (const { set = [], ...deb } of debs) {
        const path = await buildDeb(join(folder, "debs", version), deb);
        const fields = set.flatMap((field) => ["--set", field]);
        const job = basename(path, ".deb").replaceAll(/[^a-z0-9]+/g, "-");
        await run("ingest", "--release", version, "--job", job, ...fields, path);
        for (const name of names) {
          mkdirSync(join(folder, name, "files", version), { recursive: true });
          writeFileSync(join(folder, name, "files", version, basename(path)), readFileSync(path));
        }
      }
    },
    async publish(name, now) {
      await run("build", "--released");
      await run("sign", ...(now === undefined ? [] : ["--now", now]));
      await run("publish", name);
      // A web server says that a file is not modified if its time is the same.
      if (now !== undefined)
        for (const path of globSync("dists/*/InRelease", { cwd: join(folder, name, "current") }))
          utimesSync(join(folder, name, "current", path), new Date(now), new Date(now));
      if (isServed) return;
      isServed = true;
      show(name);
      const server = await startNginx(join(folder, "served"), join(folder, name, "hosting"), port);
      afterFile(() => server.stop());
    },
    show,
    read: (path) => readFileSync(join(folder, "served", path), "utf8"),
  };
}
