/** @module-tag long */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { callsOf, killedAt } from "../support/interrupt.ts";
import { type Project, project } from "../support/project.ts";
import { failing, refusing, relcat, spawnRelcat } from "../support/run.ts";
import { large, sparseFile } from "./store-conformance.ts";
import { baseUrl, buildJobs, deb, manifest, readText, sha256 } from "./uploading.ts";

const { fake, build, upload, uploadJson } = buildJobs();

const sites = [
  ["folder", (made: Project, key: string) => readText(join(made.folder, "site", key))],
  ["bucket", (_: Project, key: string) => fake().bucket.objects.get(`pre/${key}`)?.bytes.toString()],
] as const;

test("upload copies to a folder without hard links, and leaves no temporary file", async () => {
  const made = build();
  const args = ["upload", "out/tool.deb", "--site", "folder", "--release", "26.08.001"];
  const { exitCode, stderr } = await spawnRelcat(made.folder, args, refusing("linkSync"));
  expect(exitCode, stderr).toBe(0);
  expect(readdirSync(join(made.folder, "site/files/26.08.001"))).toEqual(["tool.deb"]);
  expect(made.read("site/files/26.08.001/tool.deb")).toBe("package");
});

describe.each(sites)("upload to a %s", (site, contentOf) => {
  const place = site === "folder" ? "dir:site" : "s3://site/pre";
  const release = ["--site", site, "--release", "26.08.001"];

  test("stores files at the address of artifact_url, once", async () => {
    const made = build();
    const first = await upload(made, "out/tool.deb", "out/tool with space.rpm", ...release);
    expect(first).toMatchObject({
      exitCode: 0,
      stdout: [
        `Uploaded 2 files to ${site} (${place}):`,
        `  tool.deb             7 bytes  ${baseUrl}/files/26.08.001/tool.deb`,
        `  tool with space.rpm  7 bytes  ${baseUrl}/files/26.08.001/tool%20with%20space.rpm`,
      ].join("\n"),
      stderr: "Next: relcat check",
    });
    expect(contentOf(made, "files/26.08.001/tool.deb")).toBe("package");
    expect(contentOf(made, "files/26.08.001/tool with space.rpm")).toBe("another");
    expect((await upload(made, "out/tool.deb", ...release)).stdout).toBe(
      `Uploaded 0 files to ${site} (${place}), 1 already there:\n  tool.deb  7 bytes  ${baseUrl}/files/26.08.001/tool.deb`,
    );
  });

  test("compares with the manifests of the release, and reports all differences before it writes anything", async () => {
    const made = build();
    const named = {
      release: "26.08.001",
      artifacts: [deb(), deb({ name: "tool.msi", package_type: "msi" })],
    };
    made.write("releases/26.08.001/manifests/tool.deb.json", named);
    made.write("out/tool.deb", "another build");
    made.write("out/stray.deb", "never ingested");
    const manifest = "releases/26.08.001/manifests/tool.deb.json";
    const names = "image.qcow2, tool with space.rpm, tool.deb, tool.msi, tool.rpm";
    const refused = await upload(made, "out", ...release);
    expect({ ...refused, stderr: refused.stderr.replace(/\n +\d+ \|.*\n +\|.*\^/, "") }).toMatchObject({
      exitCode: 1,
      stdout: "",
      stderr: [
        "out/stray.deb error[artifact-unmatched] no manifest of 26.08.001 names stray.deb, and a published file cannot be taken back",
        `  hint: Run relcat ingest --release 26.08.001 for it first, or exclude it with ignore: in catalog.yaml. Named are ${names}.`,
        `${manifest}:1:1 warning[artifact-missing] this manifest also names tool.msi: not given, so not uploaded`,
        "  hint: Upload the rest from where it was built. relcat release refuses while it is missing.",
        `${manifest}:1:86 error[checksum-mismatch] tool.deb has SHA-256 ${sha256("another build")}, expected ${sha256("package")}, as its manifest says`,
        "  hint: Was it built again, or is it another file? Run relcat ingest on this one, or give the one that was ingested.",
        "2 errors, 1 warning",
      ].join("\n"),
    });
    expect([existsSync(join(made.folder, "site")), fake().log]).toEqual([false, []]);
  });

  test("takes a folder, and leaves out the same files as ingest", async () => {
    const made = build(
      { ignore: ["*.log"], ingest: [{ match: "*.rpm", package_type: "rpm" }], signers: [] },
      {
        "out/SHA256SUMS": `${sha256("package")}  tool.deb\n`,
        "out/tool.deb.asc": "signature",
        "out/tool.deb.relcat.yaml": "min_os_version: '22.04'\n",
        "out/build.log": "…",
        "out/.hidden": "…",
        "out/tool.spdx.json": "{}",
      },
    );
    const ingest = await relcat(made.folder, [
      "ingest",
      "--release",
      "26.08.001",
      "out",
      "--out",
      "-",
      "--json",
    ]);
    const { files, left_out, warnings } = await uploadJson(made, "out", ...release);
    expect(files.map(({ file }: { file: string }) => file)).toEqual(["tool with space.rpm", "tool.deb"]);
    expect(ingest.stderr).toMatch(/^Not artifacts: /);
    const left = ingest.stderr
      .split("\n")[0]
      ?.replace(/^Not artifacts: |\.$/g, "")
      .split(", ");
    expect(left_out.toSorted()).toEqual([...(left ?? []), "tool.deb.relcat.yaml (ingest reads it)"].sort());
    expect(left_out).toContain("SHA256SUMS (a checksum file; --sums reads it)");
    expect(warnings).toEqual([]);
    expect(contentOf(made, "files/26.08.001/SHA256SUMS")).toBeUndefined();
  });

  test("refuses a folder that has nothing for download, and says what it left out", async () => {
    const made = build({}, { "sums/SHA256SUMS": `${sha256("package")}  tool.deb\n` });
    expect(await upload(made, "sums", ...release)).toMatchObject({
      exitCode: 1,
      stderr: [
        "error[input-empty] there is nothing to upload in sums; left out: SHA256SUMS (a checksum file; --sums reads it)",
        "  hint: Give the files that a manifest of the release names, or the folder that has them.",
      ].join("\n"),
    });
  });

  test("adds url, size and sha256 to the manifest, which remains the same the second time", async () => {
    const made = build(
      {},
      manifest(deb({ sha256: "unknown", min_os_version: "22.04" }), { ...deb(), name: "other.deb" }),
    );
    const args = ["out/tool.deb", "--site", site, "--manifest", "m.json"];
    expect(await uploadJson(made, ...args)).toEqual({
      schema_version: 1,
      site,
      place,
      release: "26.08.001",
      dry_run: false,
      files: [
        {
          file: "tool.deb",
          url: `${baseUrl}/files/26.08.001/tool.deb`,
          size: 7,
          sha256: sha256("package"),
          result: "uploaded",
        },
      ],
      manifest: { file: "m.json", result: "replaced", not_given: ["other.deb"] },
      left_out: [],
      warnings: [
        {
          code: "artifact-missing",
          severity: "warning",
          message: "this manifest also names other.deb: not given, so not uploaded",
          hint: "Upload the rest from where it was built. relcat release refuses while it is missing.",
          file: "m.json",
          line: 1,
          column: 1,
        },
      ],
    });
    const written = made.read("m.json");
    expect(JSON.parse(written)).toEqual({
      release: "26.08.001",
      artifacts: [
        deb({ min_os_version: "22.04", size: 7, url: `${baseUrl}/files/26.08.001/tool.deb` }),
        { ...deb(), name: "other.deb" },
      ],
    });
    expect(await upload(made, ...args)).toMatchObject({
      stdout: expect.stringContaining("1 already there"),
      stderr: expect.stringMatching(/\nNext: hand m\.json over, into releases\/26\.08\.001\/manifests\/$/),
    });
    expect(made.read("m.json")).toBe(written);
  });

  test("refuses a name with other bytes before anything is sent", async () => {
    const made = build();
    await upload(made, "out/tool.deb", ...release);
    made.write("out/tool.deb", "another build");
    fake().log.length = 0;
    const { exitCode, stderr } = await upload(made, "out/tool with space.rpm", "out/tool.deb", ...release);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 3,
      stderr: [
        `error[object-taken] ${place}/files/26.08.001/tool.deb has other bytes already, and an artifact's bytes never change`,
        "  hint: Give the new file another name or version; if the old one was never released, remove it there first.",
      ].join("\n"),
    });
    expect(contentOf(made, "files/26.08.001/tool with space.rpm")).toBeUndefined();
    expect(contentOf(made, "files/26.08.001/tool.deb")).toBe("package");
    expect(fake().log.filter(({ operation }) => operation !== "HeadObject")).toEqual([]);
  });

  test("with --dry-run reports the uploads and changes nothing", async () => {
    const made = build({}, manifest(deb()));
    const before = made.read("m.json");
    const { stdout, stderr, exitCode } = await upload(
      made,
      "out/tool.deb",
      "--site",
      site,
      "--manifest",
      "m.json",
      "--dry-run",
    );
    expect({ stdout, stderr, exitCode }).toEqual({
      stdout: `Would upload 1 file to ${site} (${place}):\n  tool.deb  7 bytes  ${baseUrl}/files/26.08.001/tool.deb`,
      stderr: "Next: the same without --dry-run",
      exitCode: 0,
    });
    expect(contentOf(made, "files/26.08.001/tool.deb")).toBeUndefined();
    expect(made.read("m.json")).toBe(before);
  });

  test("succeeds twice for concurrent jobs with the same bytes, and once with different ones", async () => {
    const made = build({}, { "again/tool.deb": "package", "evil/tool.rpm": "one", "good/tool.rpm": "two" });
    const same = await Promise.all([
      upload(made, "out/tool.deb", ...release),
      upload(made, "again/tool.deb", ...release),
    ]);
    expect(same.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
    const others = await Promise.all([
      upload(made, "evil/tool.rpm", ...release),
      upload(made, "good/tool.rpm", ...release),
    ]);
    expect(others.map(({ exitCode }) => exitCode).sort()).toEqual([0, 3]);
    expect(contentOf(made, "files/26.08.001/tool.rpm")).toBe(others[0]?.exitCode === 0 ? "one" : "two");
  });

  test("sends a large sparse file of over 64 MiB completely", async () => {
    const made = build();
    const { path, sha256: digest } = sparseFile(large, { [large - 4]: "last" });
    const { files } = await uploadJson(made, path, ...release);
    expect(files).toMatchObject([{ size: large, sha256: digest, result: "uploaded" }]);
    const key = "files/26.08.001/image.qcow2";
    const bytes =
      site === "folder"
        ? readFileSync(join(made.folder, "site", key))
        : fake().bucket.objects.get(`pre/${key}`)?.bytes;
    expect(sha256(bytes ?? "")).toBe(digest);
  });
});

describe("upload to a folder", () => {
  test("leaves no incomplete file, and removes those of interrupted uploads", async () => {
    const made = build();
    const files = join(made.folder, "site/files");
    const args = ["upload", "out/tool.deb", "--site", "folder", "--release", "26.08.001"];
    const calls = await callsOf(build().folder, args);
    await killedAt(calls.indexOf("linkSync") + 1, made.folder, args);
    expect(readdirSync(join(files, "26.08.001"))).toEqual([expect.stringMatching(/^\.relcat-upload-/)]);
    for (const [name, age] of [
      ["26.08.001/.relcat-upload-other-1", 0],
      ["25.01.001/.relcat-upload-old-1", 1],
    ] as const) {
      mkdirSync(join(files, name, ".."), { recursive: true });
      writeFileSync(join(files, name), "half");
      if (age > 0) utimesSync(join(files, name), age, age);
    }
    await made.succeed(...args);
    expect(readdirSync(join(files, "26.08.001")).sort()).toEqual([".relcat-upload-other-1", "tool.deb"]);
    expect(readdirSync(join(files, "25.01.001"))).toEqual([]);
    expect(statSync(join(files, "26.08.001/tool.deb")).nlink).toBe(1);
  });
});

test.each([
  ["ENOSPC", "no space is left", "Free some, then run the command again."],
  ["EROFS", "the file system is read-only", "Choose another place."],
])("a destination that cannot be written (%s) is named, and not the source", async (code, reason, hint) => {
  const made = build();
  const args = ["upload", "out/tool.deb", "--site", "folder", "--release", "26.08.001"];
  const { exitCode, stderr } = await spawnRelcat(made.folder, args, failing(code, "writeSync"));
  expect({ exitCode, stderr }).toEqual({
    exitCode: 2,
    stderr: `error[file-access] cannot write site/files/26.08.001/tool.deb: ${reason}\n  hint: ${hint}`,
  });
  expect(readdirSync(join(made.folder, "site/files/26.08.001"))).toEqual([]);
});

describe("upload to a bucket", () => {
  test("sends only the missing parts after it was killed between two", { tags: ["long"] }, async () => {
    const made = build();
    const { path, sha256: digest } = sparseFile(large, { 1: "x" });
    const args = ["upload", path, "--site", "bucket", "--release", "26.08.001"];
    const kill = new AbortController();
    // Later parts never arrive.
    fake().fault = ({ part = 0 }) => (part > 2 ? "silence" : undefined);
    fake().after = async ({ operation, part }) => {
      if (operation !== "UploadPart" || part !== 2) return;
      kill.abort();
      await killed;
    };
    const child = spawnRelcat(made.folder, args, {
      env: fake().environment,
      cancelSignal: kill.signal,
      killSignal: "SIGKILL",
    });
    const killed = child.then(() => {});
    expect((await child).signal).toBe("SIGKILL");
    fake().after = () => {};
    fake().fault = () => undefined;
    const key = "pre/files/26.08.001/image.qcow2";
    expect(fake().bucket.objects.has(key)).toBe(false);
    const [unfinished] = fake().bucket.uploads.values();
    const kept = [...(unfinished?.parts.keys() ?? [])];
    expect(kept).toContain(2);
    fake().log.length = 0;
    expect(await relcat(made.folder, args, { env: fake().environment })).toMatchObject({ exitCode: 0 });
    const sent = fake()
      .log.filter(({ operation }) => operation === "UploadPart")
      .map(({ part }) => part);
    expect(sent.length).toBeGreaterThan(0);
    expect(sent.filter((part) => kept.includes(part ?? 0))).toEqual([]);
    expect(sha256(fake().bucket.objects.get(key)?.bytes ?? "")).toBe(digest);
    expect(fake().bucket.objects.get(key)?.headers["cache-control"]).toMatch(/, immutable, no-transform$/);
    expect(fake().bucket.uploads.size).toBe(0);
  });

  test("aborts unfinished uploads of files that it finds complete, and of others that are a week old", async () => {
    const made = build();
    const run = () => upload(made, "out/tool.deb", "--site", "bucket", "--release", "26.08.001");
    await run();
    const day = 24 * 3_600_000;
    const begun = (key: string, age: number) =>
      fake().bucket.uploads.set(key, { key, headers: {}, begun: Date.now() - age, parts: new Map() });
    begun("pre/files/26.08.001/tool.deb", 0);
    begun("pre/files/25.01.001/image.qcow2", 8 * day);
    begun("pre/files/26.08.001/image.qcow2", 6 * day);
    begun("pre/other/image.qcow2", 8 * day);
    expect(await run()).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("1 already there") });
    expect([...fake().bucket.uploads.keys()]).toEqual([
      "pre/files/26.08.001/image.qcow2",
      "pre/other/image.qcow2",
    ]);
    fake().fault = ({ operation }) =>
      operation === "ListMultipartUploads" ? { status: 403, code: "AccessDenied" } : undefined;
    expect(await run()).toMatchObject({ exitCode: 0 });
    fake().fault = () => undefined;
    fake().bucket.uploads.clear();
  });

  test("ends with status 4 if the service refuses, and with 5 if it is down", async () => {
    const made = build();
    const run = () => upload(made, "out/tool.deb", "--site", "bucket", "--release", "26.08.001");
    const key = "s3://site/pre/files/26.08.001/tool.deb";
    fake().fault = ({ operation }) =>
      operation === "PutObject" ? { status: 403, code: "AccessDenied" } : undefined;
    expect(await run()).toMatchObject({
      exitCode: 4,
      stderr: `error[storage-refused] ${key} may not be written: the service answered 403 AccessDenied, AccessDenied was asked for.\n  hint: Let these credentials read, write, list and remove objects there, or correct the site in catalog.yaml.`,
    });
    fake().fault = () => "reset";
    expect(await run()).toMatchObject({
      exitCode: 5,
      stderr: expect.stringMatching(
        `^error\\[network\\] ${key} cannot be read: .* \\(5 tries\\)\n  hint: Check the network`,
      ),
    });
    fake().fault = () => undefined;
    const { exitCode, stderr } = await relcat(
      made.folder,
      ["upload", "out/tool.deb", "--site", "bucket", "--release", "26.08.001"],
      {
        env: {
          ...fake().environment,
          AWS_ACCESS_KEY_ID: "",
          AWS_SECRET_ACCESS_KEY: "",
          AWS_PROFILE: "",
          HOME: made.folder,
        },
      },
    );
    expect({ exitCode, stderr }).toEqual({
      exitCode: 4,
      stderr: `error[storage-refused] ${key} may not be read: there are no credentials\n  hint: Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, to credentials that the service accepts.`,
    });
  });
});

test("upload accepts a site with its own address, a manifest with names and types, and another catalog.yaml", async () => {
  const template = "{base_url}/files/{package_type}/{version}/{checksum}/{file}";
  const made = build({ artifact_url: template }, manifest(deb({ name: "The tool", file: "tool.deb" })));
  made.write("elsewhere/catalog.yaml", made.read("releases/catalog.yaml"));
  const job = project({ "tool.deb": "package", "m.json": made.read("m.json") });
  const { files } = await uploadJson(
    job,
    "tool.deb",
    "--site",
    "staging",
    "--manifest",
    "m.json",
    "--config",
    join(made.folder, "elsewhere/catalog.yaml"),
  );
  const path = `files/deb/26.08.001/${sha256("package")}/tool.deb`;
  expect(files).toMatchObject([{ url: `https://staging.example.com/x/${path}`, result: "uploaded" }]);
  expect(job.read(`staging/${path}`)).toBe("package");
});

test("a document of an artifact is stored under its address with an ending, and must be the one that was ingested", async () => {
  const template = "{base_url}/files/{version}/{checksum}/{name}";
  const prov = {
    kind: "signature",
    format: "helm-prov",
    file: "tool.deb.prov",
    sha256: sha256("signed"),
    size: 6,
  };
  const entry = deb({ name: "The tool", file: "tool.deb", documents: [prov] });
  const made = build({ artifact_url: template }, { ...manifest(entry), "out/tool.deb.prov": "signed" });
  const args = ["out/tool.deb", "out/tool.deb.prov", "--site", "folder", "--manifest", "m.json"];
  await uploadJson(made, ...args);
  const path = `site/files/26.08.001/${sha256("package")}/The tool`;
  expect([made.read(path), made.read(`${path}.prov`)]).toEqual(["package", "signed"]);
  expect(JSON.parse(made.read("m.json")).artifacts[0].documents).toEqual([prov]);
  const alone = await uploadJson(made, ...args.filter((each) => each !== "out/tool.deb.prov"));
  expect(alone.manifest.not_given).toEqual(["tool.deb.prov"]);
  made.write("out/tool.deb.prov", "other");
  expect((await upload(made, ...args)).stderr).toContain(
    `tool.deb.prov has SHA-256 ${sha256("other")}, expected ${sha256("signed")}, as its manifest says`,
  );
});

test("upload sends a private record's file only with --with-private", async () => {
  const made = build({}, manifest(deb({ only_for_account: "acme" })));
  const args = ["out/tool.deb", "--site", "bucket", "--manifest", "m.json"];
  expect((await upload(made, ...args, "--dry-run")).exitCode).toBe(1);
  const { files } = await uploadJson(made, ...args, "--with-private");
  expect(files).toMatchObject([{ file: "tool.deb", result: "uploaded" }]);
});
