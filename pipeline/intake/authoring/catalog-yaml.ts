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

const aboutRules = `# Rules that set fields of an artifact by its file name. The first rule that matches applies.
# relcat has built-in rules for extensions such as .rpm. It applies them last.`;

const emptyProject: Parts = {
  about: "",
  product: "Example Product",
  require: `# Fields that every artifact must have. Nothing is required yet. The strict form is:
# require: { store: [image], vendor: [image], attestation: [client, image], attestation_from: "26.08" }
require: {}`,
  rules: `${aboutRules}
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

${aboutRules}
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
    about: `# For each release, run relcat new, then relcat ingest --release VERSION DIST. DIST is GoReleaser's output folder.
# ingest reads artifacts.json in it. It ignores binaries, checksums and recipes for other catalogs.
`,
    rules: goreleaserRules,
  },
  nix: {
    ...emptyProject,
    about: `# For each release, run relcat new, nix build, then relcat ingest --release VERSION --rev git result/ FILE.
# FILE has the store paths: it is the output of nix path-info --json result/, or in Hydra's RunCommand plugin the
# file that $HYDRA_JSON names.
`,
    require: `# Each image must name its Nix store path and the source revision that it was built from.
require: { store: [image], vendor: [image] }`,
    rules: `# Rules that set fields of an artifact by its file name. The first rule that matches applies. Images need no rule if
# their Hydra job or their file is named after a type above or a format of nixpkgs, such as the job images.qemu-efi
# or the file controller-efi.qcow2.
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
# The configuration of this catalog. Every key is optional. Comments show keys with their default or an example.
# relcat help configuration lists all keys.
${about && `#\n${about}`}
product: ${product} # shown in the title of every page and feed

# The address of the site, and the address of each artifact.
# base_url: http://127.0.0.1:8080
# artifact_url: "{base_url}/files/{version}/{file}" # {name}, {package_type}, {id} and {checksum} also work

# A domain that you own. It is part of the id of every feed entry, so keep it if base_url changes.
# Default: the host of base_url.
# authority: example.com

# Names of two keys in the data of a record, as clients of the API expect them.
# wire: { vendor: vendor, cryptolib_post: cryptolib_post }

${require}

# Names of platforms. Entries here replace or extend this table:
# platforms:
${table(defaultPlatforms, (id) => `"${id}": ${defaultPlatforms[id]}`)}

# Package types. Entries here replace or extend this table. kind is client, image or chart:
# package_types:
${table(defaultPackageTypes, (type) => {
  const row = defaultPackageTypes[type];
  return `${type}: { operating_system: ${row?.operating_system}, platform: ${row?.platform}, kind: ${row?.kind}, description: ${JSON.stringify(row?.description)} }`;
})}

${rules}

# Files of a build that are not for download. ingest ignores them.
# ignore: ["*.log", "*.sbom.json"]

# Certificates of those who may sign packages, next to this file. If they are set, ingest inspects every package and
# refuses one that fails the policy.
# signers: [{ file: signers/release.asc }]
# policy: { helm: { verdict: [ok, unsigned] } }

# Artifacts that a release must have before it can be cut. check warns while one is missing.
# expected: [qcow, { package_type: deb, min_os_version: "22.04", from: "26.10" }]

# A git revision. Ledger lines that it contains never change again.
# ledger: { base: origin/main }

# Sections of the release notes, in this order.
# notes:
#   components: { server: Server, documentation: Documentation, meta_control_plane: Meta Control Plane }
#   kinds: { fix: Fixes, feature: Features }
`;
}
