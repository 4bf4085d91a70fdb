import { attestation, hex, image } from "../../support/catalog.ts";
import { type Case, withClient, withDebs, withImage, withInstaller } from "./case.ts";

/** Artifacts with well-formed fields that contradict each other. */
const control = "Package: a\nVersion: 1\nArchitecture: amd64";

export const artifactCases: Case[] = [
  {
    behaviour: "a package type that is not in the table is reported with the line that would register it",
    files: withClient({ package_type: "flatpak" }),
    problems: [
      '26.08.001/manifests/client.json:6:23 error[package-type-unknown] the package type "flatpak" is not known' +
        "\n  Register it in catalog.yaml: package_types: { flatpak: { operating_system: linux, platform: 17, kind: client, description: … } }",
    ],
  },
  {
    behaviour: "a package type that is similar to one of the table is reported with that one first",
    files: withClient({ package_type: "debian" }),
    problems: [
      '26.08.001/manifests/client.json:6:23 error[package-type-unknown] the package type "debian" is not known' +
        "\n  Did you mean deb? If not, register it in catalog.yaml: package_types: { debian: { operating_system: linux, platform: 17, kind: client, description: … } }",
    ],
  },
  {
    behaviour: "a package type with two letters in the wrong order is reported with the right one",
    files: withClient({ package_type: "rmp" }),
    problems: [
      '26.08.001/manifests/client.json:6:23 error[package-type-unknown] the package type "rmp" is not known' +
        "\n  Did you mean rpm? If not, register it in catalog.yaml: package_types: { rmp: { operating_system: linux, platform: 17, kind: client, description: … } }",
    ],
  },
  {
    behaviour: "a package type named like a property of Object.prototype is unknown",
    files: withClient({ package_type: "constructor" }),
    problems: [
      '26.08.001/manifests/client.json:6:23 error[package-type-unknown] the package type "constructor" is not known' +
        "\n  Register it in catalog.yaml: package_types: { constructor: { operating_system: linux, platform: 17, kind: client, description: … } }",
    ],
  },
  {
    behaviour: "an operating system in another case than the table's is reported",
    files: withClient({ operating_system: "Linux" }),
    problems: [
      '26.08.001/manifests/client.json:30:27 error[operating-system-mismatch] operating_system is "Linux", expected "linux" as the type deb has it' +
        "\n  Leave it out: the package type decides it.",
    ],
  },
  {
    behaviour: "a platform that is not the type's is reported",
    files: withClient({ platform: 11 }),
    problems: [
      "26.08.001/manifests/client.json:30:19 error[platform-mismatch] platform is 11, expected 7 as the type deb has it" +
        "\n  Leave it out: the package type decides it.",
    ],
  },
  {
    behaviour: "an artifact that is both graphical and headless is reported",
    files: withClient({ gui_only: true, headless: true }),
    problems: [
      "26.08.001/manifests/client.json:31:19 error[variant-both] gui_only and headless are both true, expected at most one" +
        "\n  An artifact that is not split has both false.",
    ],
  },
  {
    behaviour: "a deb without an OS bound is valid if no other has its release, variant and architecture",
    files: withDebs({ file: "other_26.08.001_arm64.deb" }, { gui_only: true }, { headless: true }),
    problems: [],
  },
  {
    behaviour: "debs of different packages need no OS bound, because a machine can have both",
    files: withDebs(
      { package: { type: "deb", arch: "amd64", control } },
      { package: { type: "deb", arch: "amd64", control: control.replace("Package: a", "Package: b") } },
    ),
    problems: [],
  },
  {
    behaviour: "debs of one package without an OS bound are reported",
    files: withDebs(
      { package: { type: "deb", arch: "amd64", control } },
      { package: { type: "deb", arch: "amd64", control: control.replace("Version: 1", "Version: 2") } },
    ),
    problems: [3, 4].map(
      (line) =>
        `26.08.001/manifests/debs.yaml:${line}:5 error[deb-os-range] a deb has neither min_os_version nor max_os_version, and another one is of the same release, variant and architecture` +
        "\n  Set max_os_version on the build for the older systems, min_os_version on the one for the newer.",
    ),
  },
  ...[
    { of: "of unknown architecture", others: [{}] },
    {
      of: "of the same architecture",
      others: [{ file: "other_26.08.001_amd64.deb" }],
      file: "own_amd64.deb",
    },
    { of: "with a bound", others: [{ min_os_version: "22.04" }] },
  ].map(
    ({ of, others, file }): Case => ({
      behaviour: `a deb without an OS bound beside one ${of} is reported`,
      files: withDebs({ file: file ?? "own.deb" }, ...others),
      problems: Array.from(
        { length: of === "with a bound" ? 1 : 2 },
        (_, index) =>
          `26.08.001/manifests/debs.yaml:${3 + index}:5 error[deb-os-range] a deb has neither min_os_version nor max_os_version, and another one is of the same release, variant and architecture` +
          "\n  Set max_os_version on the build for the older systems, min_os_version on the one for the newer.",
      ),
    }),
  ),
  {
    behaviour: "a deb with two OS bounds is reported",
    files: withClient({ max_os_version: "24.04" }),
    problems: [
      "26.08.001/manifests/client.json:30:25 error[deb-os-range] a deb has both min_os_version and max_os_version, expected at most one" +
        "\n  Remove the bound that is not needed to distinguish it from the other debs of the release.",
    ],
  },
  {
    behaviour: "an attested checksum that is not the artifact's is reported",
    files: withClient({ attestation: attestation({ sha256: hex("9") }) }),
    problems: [
      "26.08.001/manifests/client.json:12:19 error[checksum-mismatch] attestation.sha256 is 9999999999999999999999999999999999999999999999999999999999999999, expected the artifact's 1111111111111111111111111111111111111111111111111111111111111111" +
        "\n  Attest the file people download.",
    ],
  },
  {
    behaviour: "an image without its build output is reported",
    files: withImage({ store: undefined }),
    problems: [
      "26.08.001/manifests/image.json:4:5 error[store-required] store is missing, expected on every image" +
        "\n  Let the build write it, or take image out of require.store in catalog.yaml.",
    ],
  },
  {
    behaviour: "an image without its sources is reported",
    files: withImage({ vendor: undefined }),
    problems: [
      "26.08.001/manifests/image.json:4:5 error[vendor-required] vendor is missing, expected on every image" +
        "\n  Let the build write it, or take image out of require.vendor in catalog.yaml.",
    ],
  },
  {
    behaviour: "a client without an attestation is reported",
    files: withClient({ attestation: undefined }),
    problems: [
      "26.08.001/manifests/client.json:4:5 error[attestation-required] attestation is missing, expected on every client from 26.08 on" +
        "\n  Let the build write it, or take client out of require.attestation in catalog.yaml.",
    ],
  },
  {
    behaviour: "an empty attestation counts as missing",
    files: withClient({ attestation: { signature: {} } }),
    problems: [
      "26.08.001/manifests/client.json:4:5 error[attestation-required] attestation is empty, expected on every client from 26.08 on" +
        "\n  Let the build write it, or take client out of require.attestation in catalog.yaml.",
    ],
  },
  {
    behaviour: "an empty build output counts as missing",
    files: withImage({ store: {} }),
    problems: [
      "26.08.001/manifests/image.json:4:5 error[store-required] store is empty, expected on every image" +
        "\n  Let the build write it, or take image out of require.store in catalog.yaml.",
    ],
  },
  {
    behaviour: "a client with a build output is reported",
    files: withClient({ store: { size: 1 } }),
    problems: [
      "26.08.001/manifests/client.json:30:7 error[store-forbidden] store is set on a client, expected on images only" +
        "\n  Remove it.",
    ],
  },
  {
    behaviour: "a client with build sources is reported",
    files: withClient({ vendor: image().vendor }),
    problems: [
      "26.08.001/manifests/client.json:30:7 error[vendor-forbidden] vendor is set on a client, expected on images only" +
        "\n  Remove it.",
    ],
  },
  {
    behaviour: "an image that attests more than its self-check is reported",
    files: withImage({ attestation: { sha256: hex("3"), cryptolib_post: { expected_hash: hex("E") } } }),
    problems: [
      "26.08.001/manifests/image.json:21:9 error[attestation-forbidden] attestation.sha256 is set on an image, expected cryptolib_post alone" +
        "\n  Remove it.",
    ],
  },
  {
    behaviour: "metadata that no package format has is reported",
    files: withInstaller({ package: { type: "snap" } }),
    problems: [
      '26.08.001/manifests/macos.json:29:17 error[package-metadata] artifacts[0].package.type is "snap", expected one of deb, rpm, helm, msi, pkg, archive, image',
    ],
  },
  {
    behaviour: "metadata of another format than that of the package type is reported",
    files: withInstaller({ package: { type: "archive", arch: "arm64" } }),
    problems: [
      "26.08.001/manifests/macos.json:29:17 error[package-metadata] package is that of archive, expected pkg for the package type pkg" +
        "\n  Let relcat ingest write it, or leave it out.",
    ],
  },
  {
    behaviour:
      "a control paragraph that would add a stanza to an index, and another architecture, are reported",
    files: withInstaller({ package: { type: "deb", arch: "arm64", control: `${control}\n\nPackage: b` } }),
    problems: [
      '26.08.001/manifests/macos.json:31:20 error[package-metadata] artifacts[0].package.control is "Package: a\\nVersion: 1\\nArchitecture: amd64\\n\\nPackage: b", expected the control paragraph of a package; this one has the line "", expected "Field: value"',
    ],
  },
  {
    behaviour: "an architecture that the control paragraph does not say is reported",
    files: withInstaller({ package: { type: "deb", arch: "arm64", control } }),
    problems: [
      '26.08.001/manifests/macos.json:30:17 error[package-metadata] artifacts[0].package.arch is "arm64", expected amd64, as the control paragraph says',
    ],
  },
  {
    behaviour: "metadata that is too large is reported",
    files: withInstaller({ package: { type: "pkg", identifier: "x".repeat(300_000), version: "1" } }),
    problems: [
      "26.08.001/manifests/macos.json:28:18 error[package-metadata] package has 300044 bytes as JSON, expected 262144 at most" +
        "\n  Let relcat ingest write it, or leave it out.",
    ],
  },
  {
    behaviour: "a document that is not called as its artifact is reported",
    files: withInstaller({
      documents: [{ kind: "signature", format: "asc", file: "other.asc", sha256: hex("1"), size: 1 }],
    }),
    problems: [
      '26.08.001/manifests/macos.json:32:19 error[package-metadata] the document is called "other.asc", expected tool-26.08.001.pkg with an ending' +
        "\n  Rename it, such as chart.tgz.prov for chart.tgz.",
    ],
  },
  {
    behaviour: "a package signature outside rpm and deb is reported",
    files: withInstaller({ attestation: { signature: { signer: "Example" } } }),
    problems: [
      '26.08.001/manifests/macos.json:9:9 error[signature-forbidden] attestation.signature is set on "pkg", expected on rpm and deb only' +
        "\n  Remove it; key_id and file_signatures stay.",
    ],
  },
  {
    behaviour: "a single self-check hash on macOS is reported, as unknown and as incomplete",
    files: withInstaller({ attestation: { cryptolib_post: { expected_hash: hex("C") } } }),
    problems: [
      "26.08.001/manifests/macos.json:10:11 error[hash-per-arch] expected_hash is set on macOS, expected expected_hash_per_arch" +
        "\n  Use expected_hash_per_arch.",
      "26.08.001/manifests/macos.json:9:27 error[hash-per-arch] expected_hash_per_arch is missing, expected on macOS" +
        "\n  Give the hash, or leave cryptolib_post out.",
    ],
  },
  {
    behaviour: "a self-check without a hash is reported",
    files: withClient({ attestation: attestation({ cryptolib_post: {} }) }),
    problems: [
      "26.08.001/manifests/client.json:18:27 error[hash-per-arch] expected_hash is missing, expected on linux" +
        "\n  Give the hash, or leave cryptolib_post out.",
    ],
  },
  {
    behaviour: "a single fingerprint on macOS is reported, as unknown and as incomplete",
    files: withInstaller({
      attestation: { file_signatures: [{ name: "tool", signature: { fingerprint: "aa" } }] },
    }),
    problems: [
      "26.08.001/manifests/macos.json:13:15 error[fingerprint-per-arch] fingerprint is set on macOS, expected fingerprint_per_arch" +
        "\n  Give one per architecture.",
      '26.08.001/manifests/macos.json:12:26 error[fingerprint-per-arch] "tool" lacks fingerprint_per_arch, expected on macOS' +
        "\n  Leave unsigned files out of file_signatures.",
    ],
  },
  {
    behaviour: "fingerprints per architecture outside macOS are reported",
    files: withClient({
      attestation: attestation({
        file_signatures: [
          {
            name: "tool",
            signature: { fingerprint: "aa", fingerprint_per_arch: { arm64: "aa", x86_64: "bb" } },
          },
        ],
      }),
    }),
    problems: [
      "26.08.001/manifests/client.json:26:15 error[fingerprint-per-arch] fingerprint_per_arch is set outside macOS, expected fingerprint" +
        "\n  Use fingerprint.",
    ],
  },
  {
    behaviour: "a signed file without its fingerprint is reported",
    files: withClient({
      attestation: attestation({ file_signatures: [{ name: "tool", signature: { signer: "Example" } }] }),
    }),
    problems: [
      '26.08.001/manifests/client.json:24:26 error[fingerprint-missing] "tool" lacks fingerprint, expected on every signed file' +
        "\n  Leave unsigned files out of file_signatures.",
    ],
  },
  {
    behaviour: "a derivation that is not of the store path is a warning",
    files: withImage({ vendor: { rev: hex("e", 40), image: { derivation: hex("2", 32) } } }),
    problems: [
      '26.08.001/manifests/image.json:16:25 warning[derivation-path] derivation is "22222222222222222222222222222222", but store.path has the hash "11111111111111111111111111111111"' +
        "\n  One of the two is from another build.",
    ],
  },
  {
    behaviour: "a file name with another release's version is reported",
    files: withClient({ name: "tool_26.07.003_amd64.deb" }),
    problems: [
      "26.08.001/manifests/client.json:5:15 error[foreign-version] the file name has the version 26.07.003, expected 26.08.001" +
        "\n  Was this manifest copied from another release?",
    ],
  },
];
