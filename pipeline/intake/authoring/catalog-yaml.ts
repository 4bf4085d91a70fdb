import { defaultPackageTypes, defaultPlatforms } from "../../documents/package-types.ts";

/** Kinds of projects: nothing of its own; small packages to try; a GoReleaser dist folder; images from Nix or Hydra. */
export type StarterName = "sample" | "goreleaser" | "nix";

/** Parts of catalog.yaml that differ between kinds of projects. */
interface Parts {
  /** Comment lines about the routine of a release. */
  about: string;
  product: string;
  require: string;
  /** Package types and rules, in place of the commented example. */
  rules: string;
}

const emptyProject: Parts = {
  about: "",
  product: "Example Product",
  require: `# What artifacts must carry. Nothing for now; the strict form is
# require: { store: [image], vendor: [image], attestation: [client, image], attestation_from: "26.08" }
require: {}`,
  rules: `# What a file name says about an artifact; the first match wins, before what endings such as .rpm usually mean.
# ingest:
#   - { match: "*_2004_*.deb", package_type: deb, max_os_version: "20.04", headless: true }`,
};

/** GoReleaser's usual names contain the operating system, and many projects capitalize it. */
const goreleaserRules = `# GoReleaser's archives have no type in the table above. These names appear in the catalog and its API.
package_types:
  linux-archive: { operating_system: linux, platform: 17, kind: client, description: "Linux archive" }
  macos-archive: { operating_system: macos, platform: 5, kind: client, description: "macOS archive" }
  windows-archive: { operating_system: windows, platform: 4, kind: client, description: "Windows archive" }
  apk: { operating_system: linux, platform: 17, kind: client, description: "Alpine Linux package" }
  archlinux: { operating_system: linux, platform: 17, kind: client, description: "Arch Linux package" }

# What a file name says about an artifact; the first match wins, before what endings such as .rpm usually mean.
ingest:
  - { match: "*[Ll]inux*.{tar.gz,tar.xz,tar.zst,tgz,zip}", package_type: linux-archive }
  - { match: "*{[Dd]arwin,mac[Oo][Ss]}*.{tar.gz,tar.xz,tar.zst,tgz,zip}", package_type: macos-archive }
  - { match: "*[Ww]indows*.{zip,tar.gz,tgz}", package_type: windows-archive }
  - { match: "*.apk", package_type: apk }
  - { match: "*.pkg.tar.zst", package_type: archlinux }`;

const parts: Readonly<Record<StarterName, Parts>> = {
  sample: {
    ...emptyProject,
    product: "Harbor",
    about: `# The packages in out/ are examples. relcat ingest --release VERSION out adds them to a release.
`,
  },
  goreleaser: {
    ...emptyProject,
    about: `# For each release: relcat new, then relcat ingest --release VERSION DIST with GoReleaser's output folder as DIST.
# It reads artifacts.json there, and leaves out binaries, checksums and recipes for other catalogs.
`,
    rules: goreleaserRules,
  },
  nix: {
    ...emptyProject,
    about: `# For each release: relcat new, nix build, then relcat ingest --release VERSION --rev git result/ with these inputs too:
# nix path-info --json result/ for the store paths; in Hydra's RunCommand plugin, the file that $HYDRA_JSON names.
`,
    require: `# Each image must name its Nix store path and the source revision that it was built from.
require: { store: [image], vendor: [image] }`,
    rules: `# Images need no rule if their Hydra job or their file has the name of a type above, or of a format of nixpkgs:
# job images.qemu-efi, file controller-efi.qcow2. The first rule that matches wins.
# ingest:
#   - { match: "controller-*.raw.xz", package_type: gce }

# Keys that must have signed the store paths, as in nix.conf's trusted-public-keys.
# nix: { trusted_keys: ["cache.example.com-1:…"] }`,
  },
};

const table = (rows: Readonly<Record<string, unknown>>, row: (key: string) => string): string =>
  Object.keys(rows)
    .map((key) => `#   ${row(key)}`)
    .join("\n");

/** @param schemas folder of the JSON Schemas, relative to the project */
export function catalogYaml(schemas: string, from: StarterName | undefined): string {
  const { about, product, require, rules } = from ? parts[from] : emptyProject;
  return `# yaml-language-server: $schema=../${schemas}/catalog.schema.json
#
# How this folder becomes a catalog. Every field has a default; what is commented out shows it.
${about && `#\n${about}`}
product: ${product} # in the title of every page and feed

# Where the site will live, and where the artifacts lie.
# base_url: http://127.0.0.1:8080
# artifact_url: "{base_url}/files/{version}/{file}" # also {name} {package_type} {id} {checksum}

# A domain you own, part of every feed entry's id: keep it even when base_url changes. Default: base_url's host.
# authority: example.com

# Key names inside \`data\` as clients read them.
# wire: { vendor: vendor, cryptolib_post: cryptolib_post }

${require}

# Platform names, merged over this table:
# platforms:
${table(defaultPlatforms, (id) => `"${id}": ${defaultPlatforms[id]}`)}

# Package types, merged over this table; kind is client, image or chart:
# package_types:
${table(defaultPackageTypes, (type) => {
  const row = defaultPackageTypes[type];
  return `${type}: { operating_system: ${row?.operating_system}, platform: ${row?.platform}, kind: ${row?.kind}, description: ${JSON.stringify(row?.description)} }`;
})}

${rules}

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
}
