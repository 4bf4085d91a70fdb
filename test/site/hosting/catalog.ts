import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { tagRows as apacheTags } from "../../../pipeline/site/hosting/apache-maps.ts";
import { registryMap as caddyTags } from "../../../pipeline/site/hosting/caddy.ts";
import { tagEntries } from "../../../pipeline/site/hosting/cloudfront.ts";
import { registryMap as nginxTags } from "../../../pipeline/site/hosting/nginx.ts";
import { releases } from "../../support/catalog.ts";
import { jsonOf, readTree, type Tree } from "../../support/tree.ts";
import { siteArtifacts } from "./contract-artifacts.ts";
import { feedFiles, registryFiles, registryTags } from "./contract-feeds.ts";
import { oddArtifacts, oddFeedFiles } from "./contract-paths.ts";

const wellKnownFiles = {
  ".well-known/security.txt": "Contact: mailto:security@example.com\n",
  ".well-known/packslip.json": "{}",
};

/** A built site that homes serve, and its facts for the contract. */
export interface ServedSite {
  /** The folder of the site. */
  folder: string;
  /** Path of the base URL, without a final slash. */
  base: string;
  tree: Tree;
  /** The ids of the artifacts, by the names of this file. */
  ids: Readonly<Record<ArtifactName, number>>;
}

const long = "A description of some length, so that the list is worth compressing. ".repeat(20);

const records = {
  oldCore20: ["26.07.001", "deb", { max_os_version: "20.04", headless: true, description: long }],
  oldRpm: ["26.07.001", "rpm", {}],
  oldMsi: ["26.07.001", "msi", {}],
  chart: ["26.07.001", "helm", {}],
  oldImage: ["26.07.001", "qcow-efi", { description: long }],
  core20: ["26.08.001", "deb", { max_os_version: "20.04", headless: true }],
  gui20: ["26.08.001", "deb", { max_os_version: "20.04", gui_only: true }],
  core22: ["26.08.001", "deb", { min_os_version: "22.04", headless: true, description: long }],
  gui22: ["26.08.001", "deb", { min_os_version: "22.04", gui_only: true, description: long }],
  rpm: ["26.08.001", "rpm", { description: long }],
  msi: ["26.08.001", "msi", {}],
  hidden: ["26.08.001", "pkg", { exclude_from_api: true }],
  image: ["26.08.001", "qcow-efi", { description: long }],
} as const satisfies Record<string, readonly [string, string, object]>;

export type ArtifactName = keyof typeof records;

const names = Object.keys(records) as ArtifactName[];

export const fileOf = (name: ArtifactName) => `${name}-${records[name][0]}.bin`;
export const urlOf = (name: ArtifactName) => `http://files.example.com/${records[name][0]}/${fileOf(name)}`;

/**
 * Two releases, cut and built: packages for two ranges of systems, each with and without a desktop; a private
 * record; a withdrawn one that is replaced and one that is not.
 * @param base path of the base URL, without a final slash
 */
export async function servedSite(base: string): Promise<ServedSite> {
  const catalog = releases({
    "catalog.yaml": {
      base_url: `https://downloads.example.com${base}`,
      artifact_url: "http://files.example.com/{version}/{file}",
      require: {},
      trust: "simple",
      security: { contact: ["mailto:security@example.com"] },
      hosts: ["nginx", "caddy", "apache", "cloudflare", "cloudfront"],
      feeds: { apt: {}, yum: {}, helm: { oci: base === "" }, incus: {} },
    },
    ...release("26.07.001"),
    ...release("26.08.001"),
  });
  // The older month's release is cut later, so that the list's order differs from the order of ids.
  await catalog.cut({ versions: ["26.08.001"] }, "2026-08-20T10:00:00Z");
  await catalog.cut({}, "2026-08-20T11:00:00Z");
  const ids = idsIn(catalog.read("ledger.jsonl"));
  await catalog.retract(
    { ids: [ids.oldRpm], reason: "Overwrites settings.", replacedBy: ids.rpm },
    "2026-08-21T10:00:00Z",
  );
  await catalog.retract({ ids: [ids.msi], reason: "Does not start." }, "2026-08-22T10:00:00Z");
  await catalog.build();
  const artifacts = { ...siteArtifacts, ...oddArtifacts };
  for (const [path, text] of Object.entries(artifacts)) write(join(catalog.out, path), text);
  addFeeds(catalog.out, base);
  const tree = readTree(catalog.out);
  for (const [path, text] of Object.entries({
    ...artifacts,
    ...wellKnownFiles,
    ...feedFiles,
    ...oddFeedFiles,
  }))
    tree.set(path, Buffer.from(text));
  return { folder: catalog.out, base, tree, ids };
}

/** Adds security.txt and files of package feeds to a build, as if signing and the build had made them. */
function addFeeds(out: string, base: string): void {
  const files = { ...wellKnownFiles, ...feedFiles, ...oddFeedFiles, ...(base === "" && registryFiles) };
  const file = join(out, "build.json");
  const build = JSON.parse(readFileSync(file, "utf8"));
  for (const [path, bytes] of Object.entries(files)) {
    write(join(out, path), bytes);
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    build.files[path] = { sha256, size: Buffer.byteLength(bytes) };
  }
  write(file, JSON.stringify(build));
  if (base === "") addTags(join(out, "hosting"));
}

/** The tags of the registry for web servers. */
function addTags(hosting: string): void {
  write(join(hosting, "nginx/registry.map"), `${nginxTags(registryTags)}\n`);
  write(join(hosting, "caddy/registry.caddy"), `${caddyTags(registryTags).join("\n")}\n`);
  const table = join(hosting, "apache/tables.txt");
  write(table, `${readFileSync(table, "utf8")}${apacheTags(registryTags).join("\n")}\n`);
  const store = join(hosting, "cloudfront/redirects.json");
  const { data } = JSON.parse(readFileSync(store, "utf8"));
  write(store, JSON.stringify({ data: [...data, ...tagEntries(registryTags)] }));
}

function write(file: string, text: string | Buffer): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function release(version: string) {
  const entries = names.filter((name) => records[name][0] === version);
  return {
    [`${version}/release.yaml`]: { version, date: `2026-${version.slice(3, 5)}-15` },
    [`${version}/manifests/all.json`]: {
      release: version,
      artifacts: entries.map((name) => ({
        name: fileOf(name),
        package_type: records[name][1],
        sha256: names.indexOf(name).toString(16).repeat(64),
        size: 1000,
        ...records[name][2],
      })),
    },
  };
}

function idsIn(ledger: string): Record<ArtifactName, number> {
  const events = ledger
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const idOf = (name: ArtifactName) => events.find((event) => event.file === fileOf(name)).id;
  return Object.fromEntries(names.map((name) => [name, idOf(name)])) as Record<ArtifactName, number>;
}

/** The ids of a list's records, in its order. */
export const idsOf = (list: string | Buffer): number[] =>
  JSON.parse(String(list)).map(({ id }: { id: number }) => id);

/** Ids of the whole list, newest first. */
export const listedIds = ({ tree }: ServedSite): number[] =>
  idsOf(JSON.stringify(jsonOf(tree, "api/v1/package/index.json")));

/** Adds a file that a server must never serve. */
export function addSecret(folder: string): void {
  for (const path of [".relcat-secret", ".well-known/security.relcat-secret"])
    write(join(folder, path), "secret");
}
