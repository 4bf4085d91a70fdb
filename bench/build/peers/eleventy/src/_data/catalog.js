import { readdirSync, readFileSync } from "node:fs";
import { load } from "js-yaml";

const folder = `${process.env.IN}/releases`;
const components = {
  server: "Server",
  documentation: "Documentation",
  meta_control_plane: "Meta Control Plane",
};
const kinds = { fixes: "Fixes", features: "Features" };
const kindNames = { fixes: "fix", features: "feature" };

const added = new Map();
for (const line of readFileSync(`${folder}/ledger.jsonl`, "utf8").trim().split("\n")) {
  const event = JSON.parse(line);
  if (event.event === "add") added.set(`${event.version}/${event.file}`, event);
}

export const releases = readdirSync(folder)
  .filter((name) => /^\d\d\.\d\d\.\d{3}$/.test(name))
  .sort()
  .reverse()
  .map(readRelease);

function readRelease(version) {
  const { date, summary, notes } = load(readFileSync(`${folder}/${version}/release.yaml`, "utf8"));
  const packages = readPackages(version).sort((a, b) => b.record.id - a.record.id);
  const document = {
    schema_version: 1,
    version,
    date,
    semver: version.split(".").map(Number).join("."),
    released_at: packages.map(({ record }) => record.created_date).sort()[0],
    summary: summary.trim(),
    notes: Object.entries(notes).flatMap(([component, byKind]) =>
      Object.entries(byKind).flatMap(([kind, texts]) =>
        texts.map((text) => ({
          component,
          kind: kindNames[kind],
          text: text.trim(),
          refs: [],
          security: false,
        })),
      ),
    ),
    packages: packages.map(({ record }) => record),
    artifacts: Object.fromEntries(packages.map(({ record, artifact }) => [record.id, artifact])),
    retracted: [],
  };
  return { version, date, summary, sections: sectionsOf(notes), packages, document };
}

function sectionsOf(notes) {
  return Object.entries(components)
    .filter(([component]) => notes[component])
    .map(([component, title]) => ({
      title,
      kinds: Object.entries(kinds)
        .filter(([kind]) => notes[component][kind])
        .map(([kind, kindTitle]) => ({ title: kindTitle, notes: notes[component][kind] })),
    }));
}

function readPackages(version) {
  const manifests = `${folder}/${version}/manifests`;
  return readdirSync(manifests).flatMap((name) => {
    const manifest = JSON.parse(readFileSync(`${manifests}/${name}`, "utf8"));
    return manifest.artifacts.map((artifact) => readArtifact(artifact, version));
  });
}

function readArtifact(artifact, version) {
  const { id, at } = added.get(`${version}/${artifact.name}`);
  const record = {
    id,
    name: artifact.name,
    version,
    description: artifact.description,
    checksum: artifact.sha256,
    operating_system: artifact.operating_system,
    min_os_version: artifact.min_os_version,
    max_os_version: artifact.max_os_version,
    package_type: artifact.package_type,
    created_date: at,
    modified_date: at,
    data: { store: artifact.store, vendor: artifact.vendor, attestation: artifact.attestation },
    exclude_from_api: false,
    gui_only: artifact.gui_only,
    headless: artifact.headless,
    platform: artifact.platform,
    only_for_account: null,
  };
  const url = `https://downloads.example.com/files/${version}/${artifact.name}`;
  return { record, artifact: { file: artifact.name, url, size: artifact.size } };
}
