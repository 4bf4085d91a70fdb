import { chart, client, hex, image, manifest, releaseDocument } from "../../support/catalog.ts";
import { type Case, withClient } from "./case.ts";

const fragment = (changes: object) => ({
  "26.08.001/notes/change.yaml": { component: "server", kind: "fix", text: "Mended.", ...changes },
});

const inline = (notes: object) => ({ "26.08.001/release.yaml": releaseDocument({ notes }) });

/** Rules across the files of a release. */
export const releaseCases: Case[] = [
  {
    behaviour: "a folder that is not a version is reported once",
    files: { "26.8.1/release.yaml": "", "26.8.1/manifests/client.json": "" },
    problems: [
      '26.8.1:1:1 error[folder-name] the folder "26.8.1" is not a version, expected YY.MM.NNN such as 26.08.002, or next' +
        "\n  Rename it to the release's version.",
    ],
  },
  {
    behaviour: "a release without release.yaml is reported",
    files: { "26.08.001/release.yaml": undefined },
    problems: [
      "26.08.001/release.yaml:1:1 error[release-missing] the release has no release.yaml" +
        "\n  Write one with at least `version: 26.08.001` and `date: YYYY-MM-DD`; `relcat new` creates whole folders.",
    ],
  },
  {
    behaviour: "a release.yaml of another version is reported",
    files: { "26.08.001/release.yaml": releaseDocument({ version: "26.08.002" }) },
    problems: [
      "26.08.001/release.yaml:2:14 error[release-mismatch] version is 26.08.002, expected 26.08.001 as the folder is named" +
        "\n  Correct it, or rename the folder 26.08.001.",
    ],
  },
  {
    behaviour: "a manifest of another version is reported",
    files: { "26.08.001/manifests/chart.json": manifest([chart()], "26.07.001") },
    problems: [
      "26.08.001/manifests/chart.json:2:14 error[release-mismatch] the manifest is for the release 26.07.001, expected 26.08.001" +
        "\n  Move it to its own release's manifests folder.",
    ],
  },
  {
    behaviour: "a date in another year than the version is a warning",
    files: { "26.08.001/release.yaml": releaseDocument({ date: "2025-08-19" }) },
    problems: [
      "26.08.001/release.yaml:3:11 warning[release-date] the date 2025-08-19 is far from the month of 26.08.001" +
        "\n  Check the year and the month.",
    ],
  },
  {
    behaviour: "a release without artifacts is a warning",
    files: { "26.08.001/manifests": undefined },
    problems: [
      "26.08.001/release.yaml:2:14 warning[release-empty] the release has no artifacts yet" +
        "\n  Add packages with relcat ingest --release 26.08.001 BUILD-OUTPUT, or put manifests into 26.08.001/manifests/.",
    ],
  },
  {
    behaviour:
      "two manifests that describe one file differently are reported with both places and the fields",
    files: {
      "26.08.001/manifests/again.json": manifest([
        client({ size: 2, description: "Another", attestation: undefined, sha256: hex("1") }),
      ]),
    },
    problems: [
      '26.08.001/manifests/client.json:4:5 error[artifact-conflict] "tool_26.08.001_amd64.deb" is described differently in 26.08.001/manifests/again.json:4: attestation.cryptolib_post.expected_hash nothing ↔ BBBB…, attestation.file_signatures.0.name nothing ↔ "usr/bin/tool", attestation.file_signatures.0.signature.fingerprint nothing ↔ "cd34", attestation.key_id nothing ↔ aaaa…, attestation.sha256 nothing ↔ 1111…, attestation.signature.display nothing ↔ "EdDSA, 2026-08-18", attestation.signature.fingerprint nothing ↔ "ab12", attestation.signature.signer nothing ↔ "Release key", description "Another" ↔ "Linux package (Debian, Ubuntu)", size 2 ↔ 1000' +
        "\n  One file has one description: correct or remove one of the two.",
      "26.08.001/manifests/again.json:4:5 error[attestation-required] attestation is missing, expected on every client from 26.08 on" +
        "\n  Let the build write it, or take client out of require.attestation in catalog.yaml.",
    ],
  },
  {
    behaviour: "two package types are reported without the fields that depend on them",
    files: {
      "26.08.001/manifests/again.json": manifest([
        client({ package_type: "xz", sha256: hex("2"), attestation: { sha256: hex("2") } }),
      ]),
      ...withClient({ attestation: { sha256: hex("1") } }),
      "catalog.yaml": { require: {} },
    },
    problems: [
      '26.08.001/manifests/client.json:4:5 error[artifact-conflict] "tool_26.08.001_amd64.deb" is described differently in 26.08.001/manifests/again.json:4: attestation.sha256 2222… ↔ 1111…, package_type "xz" ↔ "deb", sha256 2222… ↔ 1111…' +
        "\n  One file has one description: correct or remove one of the two.",
    ],
  },
  {
    behaviour: "two files that differ only in case are reported",
    files: { "26.08.001/manifests/again.json": manifest([chart({ name: "TOOL-chart-26.08.001.tgz" })]) },
    problems: [
      '26.08.001/manifests/chart.json:4:5 error[duplicate-file] the file "tool-chart-26.08.001.tgz" differs from "TOOL-chart-26.08.001.tgz" (26.08.001/manifests/again.json:4) only in case or accents' +
        "\n  Rename one: not every file system can keep both.",
    ],
  },
  {
    behaviour: "an image from a revision that the release does not list is reported",
    files: { "26.08.001/release.yaml": releaseDocument({ revs: { controller: hex("f", 40) } }) },
    problems: [
      "26.08.001/manifests/image.json:14:16 error[revision-unlisted] vendor.rev eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee is not one of the release's revs" +
        "\n  Rebuild from a listed revision, or add this one to 26.08.001/release.yaml.",
    ],
  },
  {
    behaviour: "a fragment's component that is not configured is reported",
    files: fragment({ component: "servr" }),
    problems: [
      '26.08.001/notes/change.yaml:2:16 error[note-component] the component "servr" is not known, expected server, documentation, meta_control_plane' +
        "\n  Correct it, or add it to notes.components in catalog.yaml.",
    ],
  },
  {
    behaviour: "an inline component that is not configured is reported at its key",
    files: inline({ client: { fixes: ["Mended."] } }),
    problems: [
      '26.08.001/release.yaml:5:5 error[note-component] the component "client" is not known, expected server, documentation, meta_control_plane' +
        "\n  Correct it, or add it to notes.components in catalog.yaml.",
    ],
  },
  {
    behaviour: "a fragment's kind that is not configured is reported",
    files: fragment({ kind: "fixes" }),
    problems: [
      '26.08.001/notes/change.yaml:3:11 error[note-kind] the kind "fixes" is not known, expected fix, feature' +
        "\n  Correct it, or add it to notes.kinds in catalog.yaml.",
    ],
  },
  {
    behaviour: "an inline kind that is not configured is reported at its key",
    files: inline({ server: { bugs: ["Mended."] } }),
    problems: [
      '26.08.001/release.yaml:6:7 error[note-kind] the kind "bugs" is not known, expected fix, feature' +
        "\n  Correct it, or add it to notes.kinds in catalog.yaml.",
    ],
  },
  {
    behaviour: "a note of only white space is reported, as fragment and inline",
    files: { ...fragment({ text: " \n" }), ...inline({ server: { fixes: ["", { text: " " }] } }) },
    problems: [
      "26.08.001/notes/change.yaml:4:11 error[note-empty] the note has no text" +
        "\n  Write what changed, or remove the note.",
      "26.08.001/release.yaml:7:9 error[note-empty] the note has no text" +
        "\n  Write what changed, or remove the note.",
      "26.08.001/release.yaml:8:9 error[note-empty] the note has no text" +
        "\n  Write what changed, or remove the note.",
    ],
  },
  {
    behaviour: "fragments of the next release are checked too",
    files: { "next/notes/later.yaml": { component: "server", kind: "change", text: "Later." } },
    problems: [
      'next/notes/later.yaml:3:11 error[note-kind] the kind "change" is not known, expected fix, feature' +
        "\n  Correct it, or add it to notes.kinds in catalog.yaml.",
    ],
  },
  {
    behaviour: "a missing package type that the configuration expects is a warning",
    files: { "catalog.yaml": { expected: ["qcow", { package_type: "deb", max_os_version: "20.04" }] } },
    problems: [
      '26.08.001/manifests:1:1 warning[artifact-missing] 26.08.001 lacks deb (max_os_version: "20.04"), which catalog.yaml expects' +
        "\n  Add its manifest, correct `expected:`, or cut with --allow-incomplete.",
    ],
  },
  {
    behaviour: "a missing package type that the configuration expects is an error in a cut",
    files: { "catalog.yaml": { expected: ["msi"] } },
    action: (catalog) => catalog.cut(),
    problems: [
      "26.08.001/manifests:1:1 error[artifact-missing] 26.08.001 lacks msi, which catalog.yaml expects" +
        "\n  Add its manifest, correct `expected:`, or cut with --allow-incomplete.",
    ],
  },
  {
    behaviour: "a cut of a named release without artifacts is refused",
    files: { "catalog.yaml": { expected: ["qcow"] }, "26.08.001/manifests": undefined },
    action: (catalog) => catalog.cut({ versions: ["26.08.001"] }),
    problems: [
      "26.08.001/manifests:1:1 error[artifact-missing] 26.08.001 lacks qcow, which catalog.yaml expects" +
        "\n  Add its manifest, correct `expected:`, or cut with --allow-incomplete.",
    ],
  },
  {
    behaviour: "a retracted artifact without a replacement counts as missing",
    files: {
      "catalog.yaml": { expected: ["helm"] },
      ...withClient({}),
      "26.08.001/manifests/image.json": manifest([image()]),
    },
    action: async (catalog) => {
      await catalog.cut();
      await catalog.retract({ ids: [2], reason: "Broken." });
      catalog.write({
        "26.08.001/manifests/more.json": manifest([
          client({ name: "more.deb", attestation: client().attestation }),
        ]),
      });
      await catalog.cut();
    },
    problems: [
      "26.08.001/manifests:1:1 error[artifact-missing] 26.08.001 lacks helm, which catalog.yaml expects" +
        "\n  Add its manifest, correct `expected:`, or cut with --allow-incomplete.",
    ],
  },
];
