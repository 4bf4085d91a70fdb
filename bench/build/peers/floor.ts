import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { load } from "js-yaml";
import MarkdownIt from "markdown-it";
import type { WrittenArtifact } from "../../../pipeline/documents/manifest.ts";

/** A careful program for this one catalog: one thread, sync reads, templates by hand, next to no checks. */
const { IN = "", OUT = "" } = process.env;
const releases = `${IN}/releases`;
const markdown = new MarkdownIt();

interface ReleaseYaml {
  date: string;
  summary: string;
  notes: Record<string, Record<string, string[]>>;
}

interface Added {
  id: number;
  at: string;
}

interface Listed {
  record: { id: number; created_date: string };
  json: string;
  artifact: WrittenArtifact;
  url: string;
}

const components = {
  server: "Server",
  documentation: "Documentation",
  meta_control_plane: "Meta Control Plane",
};
const kinds = { fixes: "Fixes", features: "Features" };
const singular: Record<string, string> = { fixes: "fix", features: "feature" };

const ledger = readLedger();
const versions = readdirSync(releases).filter((name) => /^\d\d\.\d\d\.\d{3}$/.test(name));
mkdirSync(`${OUT}/releases`, { recursive: true });
const list: string[] = [];
for (const version of versions.sort().reverse()) {
  const release = load(readFileSync(`${releases}/${version}/release.yaml`, "utf8")) as ReleaseYaml;
  const packages = readPackages(version);
  list.push(...packages.map(({ json }) => json));
  writeFileSync(`${OUT}/releases/${version}.json`, releaseJson(version, release, packages));
  writeFileSync(`${OUT}/releases/${version}.html`, page(version, release, packages));
}
writeFileSync(`${OUT}/list.json`, `[${list.join(",")}]`);

function readLedger(): Map<string, Added> {
  const lines = readFileSync(`${releases}/ledger.jsonl`, "utf8").split("\n");
  const added = new Map<string, Added>();
  for (const line of lines) {
    if (line === "") continue;
    const { event, version, file, id, at } = JSON.parse(line);
    if (event === "add") added.set(`${version}/${file}`, { id, at });
  }
  return added;
}

function readPackages(version: string): Listed[] {
  const folder = `${releases}/${version}/manifests`;
  const packages: Listed[] = [];
  for (const name of readdirSync(folder)) {
    const manifest = JSON.parse(readFileSync(`${folder}/${name}`, "utf8"));
    for (const artifact of manifest.artifacts as WrittenArtifact[]) packages.push(listed(artifact, version));
  }
  return packages.sort((a, b) => b.record.id - a.record.id);
}

function listed(artifact: WrittenArtifact, version: string): Listed {
  const { name, store, vendor, attestation } = artifact;
  const added = ledger.get(`${version}/${name}`);
  if (!added) throw new Error(`${version}/${name} is not in the ledger`);
  const record = {
    id: added.id,
    name,
    version,
    description: artifact.description,
    checksum: artifact.sha256,
    operating_system: artifact.operating_system,
    min_os_version: artifact.min_os_version,
    max_os_version: artifact.max_os_version,
    package_type: artifact.package_type,
    created_date: added.at,
    modified_date: added.at,
    data: { store, vendor, attestation },
    exclude_from_api: false,
    gui_only: artifact.gui_only,
    headless: artifact.headless,
    platform: artifact.platform,
    only_for_account: null,
  };
  const url = `https://downloads.example.com/files/${version}/${name}`;
  return { record, json: JSON.stringify(record), artifact, url };
}

function releaseJson(version: string, { date, summary, notes }: ReleaseYaml, packages: readonly Listed[]) {
  const flat = Object.entries(notes).flatMap(([component, byKind]) =>
    Object.entries(byKind).flatMap(([kind, texts]) =>
      texts.map((text) => ({
        component,
        kind: singular[kind],
        text: text.trim(),
        refs: [],
        security: false,
      })),
    ),
  );
  const artifacts = Object.fromEntries(
    packages.map(({ record, artifact, url }) => [
      record.id,
      { file: artifact.name, url, size: artifact.size },
    ]),
  );
  const semver = version.split(".").map(Number).join(".");
  const released_at = packages.map(({ record }) => record.created_date).sort()[0];
  const head = {
    schema_version: 1,
    version,
    date,
    semver,
    released_at,
    summary: summary.trim(),
    notes: flat,
    artifacts,
  };
  const records = packages.map(({ json }) => json).join(",");
  return `${JSON.stringify(head).slice(0, -1)},"packages":[${records}],"retracted":[]}`;
}

function page(version: string, { date, summary, notes }: ReleaseYaml, packages: readonly Listed[]): string {
  const title = `Northgate Controller ${version}`;
  let sections = "";
  for (const [component, name] of Object.entries(components)) {
    const byKind = notes[component];
    if (!byKind) continue;
    sections += `<h2>${name}</h2>\n`;
    for (const [kind, kindName] of Object.entries(kinds)) {
      if (!byKind[kind]) continue;
      const items = byKind[kind].map((text) => `<li>${markdown.renderInline(text.trim())}</li>\n`);
      sections += `<h3>${kindName}</h3>\n<ul>\n${items.join("")}</ul>\n`;
    }
  }
  const rows = packages.map(
    ({ artifact, url }) =>
      `<tr><td><a href="${url}">${artifact.name}</a></td><td>${artifact.package_type}</td><td>${artifact.size}</td><td><code>${artifact.sha256}</code></td></tr>\n`,
  );
  return `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>${title}</title></head><body>
<h1>${title}</h1>
<p>Released ${date}</p>
${markdown.render(summary)}${sections}<h2>Downloads</h2>
<table><tr><th>File</th><th>Type</th><th>Bytes</th><th>SHA-256</th></tr>
${rows.join("")}</table>
</body></html>
`;
}
