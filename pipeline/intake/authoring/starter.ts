import { defaultPackageTypes, defaultPlatforms } from "../../documents/package-types.ts";
import { releaseYaml } from "./open-release.ts";

export interface StarterFile {
  path: string;
  text: string;
}

export interface StarterOptions {
  /** Opening time of the first release (timestamp with microseconds). */
  opened: string;
  /** Version of relcat to pin. */
  relcat: string;
}

const schemas = "node_modules/relcat/schemas";

/** The first release of a project is the first of its month. */
const firstVersion = (opened: string): string => `${opened.slice(2, 7).replace("-", ".")}.001`;

/** Files of a new project, in writing order. */
export function starterFiles({ opened, relcat }: StarterOptions): StarterFile[] {
  const version = firstVersion(opened);
  const release = releaseYaml({ version, date: opened.slice(0, 10), opened, schemas });
  return [
    { path: "releases/catalog.yaml", text: catalogYaml },
    { path: `releases/${version}/release.yaml`, text: release },
    { path: `releases/${version}/notes/first-release.yaml`, text: firstNote },
    { path: "releases/next/notes/.gitkeep", text: "" },
    { path: ".gitignore", text: gitignore },
    { path: ".gitattributes", text: gitattributes },
    { path: "package.json", text: packageJson(relcat) },
    { path: ".github/workflows/catalog.yml", text: workflow },
  ];
}

const table = (rows: Readonly<Record<string, unknown>>, row: (key: string) => string): string =>
  Object.keys(rows)
    .map((key) => `#   ${row(key)}`)
    .join("\n");

const catalogYaml = `# yaml-language-server: $schema=../${schemas}/catalog.schema.json
#
# How this folder becomes a catalog. Every field has a default; what is commented out shows it.

product: Example Product # in the title of every page and feed

# Where the site will live, and where the artifacts lie.
# base_url: http://127.0.0.1:8080
# artifact_url: "{base_url}/files/{version}/{file}" # also {name} {package_type} {id} {checksum}

# A domain you own, part of every feed entry's id: keep it even when base_url changes. Default: base_url's host.
# authority: example.com

# Key names inside \`data\` as clients read them.
# wire: { vendor: vendor, cryptolib_post: cryptolib_post }

# What artifacts must carry. Nothing for now; the strict form is
# require: { store: [image], vendor: [image], attestation: [client, image], attestation_from: "26.08" }
require: {}

# Platform names, merged over this table:
# platforms:
${table(defaultPlatforms, (id) => `"${id}": ${defaultPlatforms[id]}`)}

# Package types, merged over this table; kind is client, image or chart:
# package_types:
${table(defaultPackageTypes, (type) => {
  const row = defaultPackageTypes[type];
  return `${type}: { operating_system: ${row?.operating_system}, platform: ${row?.platform}, kind: ${row?.kind}, description: ${JSON.stringify(row?.description)} }`;
})}

# What a file name says about an artifact; the first match wins, before what endings such as .rpm usually mean.
# ingest:
#   - { match: "*_2004_*.deb", package_type: deb, max_os_version: "20.04", headless: true }

# What builds leave that is not for download.
# ignore: ["*.log", "*.sbom.json"]

# Who may sign packages, by certificates beside this file: what is ingested is opened then, and refused where it does not hold.
# signers: [{ file: signers/release.asc }]
# policy: { helm: { verdict: [ok, unsigned] } }

# What a release must have before it is cut; \`check\` warns before.
# expected: [qcow, { package_type: deb, min_os_version: "22.04", from: "26.10" }]

# Ledger lines that this git revision has are settled: they never change again.
# ledger: { base: origin/main }

# Sections of the release notes, in this order.
# notes:
#   components: { server: Server, documentation: Documentation, meta_control_plane: Meta Control Plane }
#   kinds: { fix: Fixes, feature: Features }
`;

const firstNote = `# yaml-language-server: $schema=../../../${schemas}/note.schema.json
component: documentation
kind: feature
text: This is the first release in the catalog.
`;

/** The last two are output folders of the guides. */
const gitignore = `dist/
node_modules/
.relcat-*
/preview/
/earlier/
`;

const gitattributes = `# Two branches that add lines must conflict: ids are given in order.
releases/ledger.jsonl -merge text eol=lf
`;

const packageJson = (relcat: string): string => {
  const scripts = { check: "relcat check", build: "relcat build" };
  return `${JSON.stringify({ private: true, scripts, devDependencies: { relcat } }, null, 2)}\n`;
};

const workflow = `name: catalog
on:
  pull_request:
  push: { branches: [main] }
permissions: { contents: read }
jobs:
  catalog:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v5
        with: { fetch-depth: 0 } # the ledger is compared with earlier commits
      - uses: actions/setup-node@v5
        with: { node-version: 26 }
      - run: npm ci
      - if: github.event_name == 'pull_request'
        run: npx relcat check --ledger-base "origin/$BASE"
        env: { BASE: "\${{ github.base_ref }}" }
      - if: github.event_name == 'push'
        run: npx relcat check && npx relcat build --released
      - if: github.event_name == 'push'
        uses: actions/upload-artifact@v5
        with: { name: catalog, path: dist }
`;
