import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Files } from "../support/project.ts";
import { buildJobs, deb, ingested, manifest, sha256 } from "./uploading.ts";

const { fake, build, upload } = buildJobs();

describe("upload refuses in one sentence", () => {
  const to = (site: string) => ["--site", site, "--release", "26.08.001"];
  const table: [string, object, Files, string[], number, string, string][] = [
    [
      "no such site",
      {},
      {},
      ["out/tool.deb", ...to("prod")],
      2,
      'error[site-unknown] catalog.yaml has no site "prod"',
      "It has folder, bucket, staging.",
    ],
    [
      "no such file",
      {},
      {},
      ["out/none", ...to("folder")],
      2,
      "out/none:1:1 error[input-missing] there is no file out/none",
      "Check the path.",
    ],
    [
      "a release without manifests",
      {},
      {},
      ["out/tool.deb", "--site", "folder", "--release", "26.08.002"],
      1,
      "out/tool.deb error[artifact-unmatched] no manifest of 26.08.002 names tool.deb, and a published file cannot be taken back",
      "Run relcat ingest --release 26.08.002 for it first, or exclude it with ignore: in catalog.yaml.",
    ],
    [
      "an empty file",
      {},
      { ...ingested("empty.deb"), "empty.deb": "" },
      ["empty.deb", ...to("folder")],
      1,
      "error[artifact-empty] empty.deb is empty",
      "A build that wrote nothing has failed, even if it reported success.",
    ],
    [
      "two of a name",
      {},
      { "b/tool.deb": "x" },
      ["out/tool.deb", "b/tool.deb", ...to("folder")],
      2,
      "error[usage] out/tool.deb and b/tool.deb would both be tool.deb",
      "Give each name once: a release has one file of a name.",
    ],
    [
      "an id in the address",
      { artifact_url: "{base_url}/files/{id}/{file}" },
      {},
      ["out/tool.deb", ...to("folder")],
      1,
      "error[config-url] artifact_url of catalog.yaml is {base_url}/files/{id}/{file}: ids are given after files are uploaded",
      "Remove {id} from it, or upload the files by other means once they have ids.",
    ],
    [
      "an address elsewhere",
      { artifact_url: "https://cdn.example.com/{file}" },
      {},
      ["out/tool.deb", ...to("bucket")],
      1,
      "error[config-url] artifact_url of catalog.yaml leads to https://cdn.example.com/tool.deb, which is not below https://downloads.example.com of the site bucket",
      "relcat does not upload such artifacts. To upload them, begin artifact_url with {base_url}.",
    ],
    [
      "a way out of the site",
      { artifact_url: "{base_url}/files/%2e%2e/{file}" },
      {},
      ["out/tool.deb", ...to("bucket")],
      1,
      "error[config-url] artifact_url of catalog.yaml leads to https://downloads.example.com/files/%2e%2e/tool.deb, which is not below https://downloads.example.com of the site bucket",
      "relcat does not upload such artifacts. To upload them, begin artifact_url with {base_url}.",
    ],
    [
      "an address that a folder does not serve",
      { artifact_url: "{base_url}/{version}/{file}" },
      {},
      ["out/tool.deb", ...to("folder")],
      1,
      "error[config-url] artifact_url of catalog.yaml puts artifacts at 26.08.001/tool.deb, but the site folder (dir:site) has them below files/",
      "Begin artifact_url with {base_url}/files/.",
    ],
    [
      "an address among the site's own documents",
      { artifact_url: "{base_url}/metadata/{file}" },
      {},
      ["out/tool.deb", ...to("bucket")],
      1,
      "error[config-url] artifact_url puts artifacts below metadata/, among the documents of the site",
      "Give them a folder of their own: begin it with {base_url}/files/.",
    ],
    ...["{package_type}/{version}/{file}", "{file}"].map((path): (typeof table)[number] => [
      `an address that turns out to be among them: ${path}`,
      { artifact_url: `{base_url}/${path}` },
      manifest(deb({ package_type: "state" })),
      ["out/tool.deb", "--site", "bucket", "--manifest", "m.json"],
      1,
      `error[config-url] artifact_url of catalog.yaml puts artifacts at ${path.replace("{package_type}/{version}", "state/26.08.001").replace("{file}", "tool.deb")}, among the documents of the site bucket`,
      "Give them a folder of their own: begin artifact_url with {base_url}/files/.",
    ]),
    ...[{ only_for_account: "acme" }, { only_for_account: 7 }, { exclude_from_api: true }].map(
      (who): (typeof table)[number] => [
        `what only some may see: ${JSON.stringify(who)}`,
        {},
        manifest(deb(who)),
        ["out/tool.deb", "--site", "bucket", "--manifest", "m.json"],
        1,
        "error[record-private] tool.deb belongs to a private record, and anyone who knows its address could download it",
        "Leave it out, and upload it by other means with its url in the manifest; or give --with-private.",
      ],
    ),
    [
      "a manifest that is none",
      {},
      {},
      ["out/tool.deb", "--site", "folder", "--manifest", "m.json"],
      2,
      "error[input-missing] there is no file m.json",
      "Give what relcat ingest wrote.",
    ],
    [
      "a manifest with comments",
      {},
      { "m.yaml": "release: 26.08.001\n" },
      ["out/tool.deb", "--site", "folder", "--manifest", "m.yaml"],
      2,
      "error[usage] --manifest m.yaml is not a JSON document: writing to it would lose its comments",
      "Give the manifest that relcat ingest wrote.",
    ],
    [
      "another release",
      {},
      manifest(deb()),
      ["out/tool.deb", "--site", "folder", "--manifest", "m.json", "--release", "26.08.002"],
      1,
      "error[release-mismatch] m.json is of release 26.08.001, expected 26.08.002, as --release says",
      "Leave --release out, or give the manifest of that release.",
    ],
    [
      "a file it does not have",
      {},
      manifest(deb({ name: "other.deb" })),
      ["out/tool.deb", "--site", "folder", "--manifest", "m.json"],
      1,
      "out/tool.deb error[artifact-unmatched] no manifest of 26.08.001 names tool.deb, and a published file cannot be taken back",
      "Run relcat ingest --release 26.08.001 for it first, or exclude it with ignore: in catalog.yaml. Named are other.deb.",
    ],
    [
      "other bytes than it says",
      {},
      manifest(deb({ sha256: "a".repeat(64) })),
      ["out/tool.deb", "--site", "folder", "--manifest", "m.json"],
      1,
      `error[checksum-mismatch] tool.deb has SHA-256 ${sha256("package")}, expected ${"a".repeat(64)}, as its manifest says`,
      "Was it built again, or is it another file? Run relcat ingest on this one, or give the one that was ingested.",
    ],
  ];
  test.each(table)("%s", async (_, catalog, files, args, exitCode, message, hint) => {
    const made = build(catalog, files);
    const result = await upload(made, ...args);
    const said = result.stderr
      .replace(/^(m\.json|releases\/catalog\.yaml):\d+:\d+ /, "")
      .replace(/\n +\d+ \|.*\n +\|.*\^/, "");
    expect({ exitCode: result.exitCode, said }).toEqual({ exitCode, said: `${message}\n  hint: ${hint}` });
    expect([existsSync(join(made.folder, "site")), fake().log]).toEqual([false, []]);
  });
});
