import { readFileSync } from "node:fs";
import { join } from "node:path";
import { rpmOf } from "../site/feeds/rpms.ts";
import { feedKey, feedSecrets, writeFeedKeys } from "./feed-keys.ts";
import { artifact, type Project, project, release } from "./project.ts";
import { relcat, temporaryFolder } from "./run.ts";

/** Settings of every package feed. */
export const everyFeed = {
  apt: {},
  yum: { filelists: true, changelogs: true },
  helm: { oci: true },
  incus: {},
};

const control = (version: string) =>
  `Package: agent\nVersion: ${version}\nArchitecture: amd64\nDescription: An agent`;

/** A package for each feed. @param digit of their checksums, four of them in a row */
export function packagesOf(version: string, [a = "", b = "", c = "", d = ""]: string, rest: object = {}) {
  const size = { size: 12, ...rest };
  const deb = { type: "deb", arch: "amd64", control: control(version) };
  const helm = { type: "helm", chart: { apiVersion: "v2", name: "agent", version } };
  const image = { type: "image", arch: "amd64", format: "incus", content: "container" };
  return [
    artifact(`agent_${version}.deb`, "deb", a, { ...size, package: deb }),
    artifact(`agent & co-${version}.rpm`, "rpm", b, { ...size, package: rpmOf({ version }) }),
    artifact(`agent-${version}.tgz`, "helm", c, { ...size, package: helm }),
    artifact(`agent-${version}.incus.tar.xz`, "incus", d, { ...size, package: image }),
  ];
}

/** A project that can sign all feeds, without releases. */
export interface FeedProject extends Project {
  dist: string;
  /** Runs relcat with the private keys. */
  signing(...args: string[]): ReturnType<typeof relcat>;
  /** Adds a release, cuts it, and builds and signs everything. */
  publish(version: string, artifacts: readonly object[], rest?: object): Promise<void>;
}

/** @param environment variables that commands with private keys also get, such as those of a bucket */
export async function allFeeds(
  settings: object = {},
  environment: Readonly<Record<string, string>> = {},
): Promise<FeedProject> {
  const made = project({
    "releases/catalog.yaml": {
      ...{ product: "Acme", require: {}, base_url: "https://downloads.example.com", trust: "simple" },
      ...{ feeds: everyFeed, sites: { prod: { url: "dir:www" } }, ...settings },
    },
  });
  const keys = join(temporaryFolder(), "keys");
  await made.succeed("trust", "init", keys);
  const key = await feedKey({ date: new Date(Date.now() - 86_400_000) });
  writeFeedKeys(made.folder, [{ key, state: "signing" }]);
  const env = {
    ...environment,
    ...feedSecrets(key),
    RELCAT_ONLINE_KEY: readFileSync(join(keys, "online.pem"), "utf8"),
  };
  return {
    ...made,
    dist: join(made.folder, "dist"),
    signing: (...args) => relcat(made.folder, args, { env }),
    async publish(version, artifacts, rest) {
      for (const [path, content] of Object.entries(release(version, artifacts, rest)))
        made.write(path, content);
      for (const args of [["cut", "--all", "--yes"], ["build", "--released"], ["sign"]]) {
        const { exitCode, stderr } = await relcat(made.folder, args, { env });
        if (exitCode !== 0) throw new Error(`relcat ${args.join(" ")}: ${exitCode}\n${stderr}`);
      }
    },
  };
}
