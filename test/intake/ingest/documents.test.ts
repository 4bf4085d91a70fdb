import { hash } from "node:crypto";
import { truncateSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { artifact, type Project, project } from "../../support/project.ts";

const version = "26.11.001";
const file = "tool-linux.tar.gz";
const bytes = "an archive";
const sha256 = hash("sha256", bytes);

/** A build output: the file, and others beside it by their endings. */
function built(
  beside: Readonly<Record<string, string | object>>,
  catalog: object = { documents: {} },
): Project {
  const files = Object.entries(beside).map(([ending, content]) => [
    `out/${file}${ending}`,
    typeof content === "string" ? content : JSON.stringify(content),
  ]);
  return project({
    "releases/catalog.yaml": {
      require: {},
      package_types: {
        tar: { operating_system: "linux", platform: 17, kind: "client", description: "Archive" },
      },
      ingest: [{ match: "*.tar.gz", package_type: "tar" }],
      ...catalog,
    },
    [`releases/${version}/release.yaml`]: { version, date: "2026-11-21" },
    [`out/${file}`]: bytes,
    ...Object.fromEntries(files),
  });
}

const ingest = (from: Project) => from.run("ingest", "--release", version, "--out", "-", "out");

async function documentsOf(beside: Readonly<Record<string, string | object>>, catalog?: object) {
  const { stdout, stderr } = await ingest(built(beside, catalog));
  if (stdout === "") throw new Error(stderr);
  return JSON.parse(stdout).artifacts[0].documents;
}

const cyclonedx = {
  bomFormat: "CycloneDX",
  specVersion: "1.6",
  components: [{ hashes: [{ content: sha256 }] }],
};
const spdx = { spdxVersion: "SPDX-2.3", files: [{ fileName: `./out/${file}` }] };
const statement = (digest: string) => ({ subject: [{ name: "x", digest: { sha256: digest } }] });
const envelope = (digest: string) => ({
  payload: Buffer.from(JSON.stringify(statement(digest))).toString("base64"),
});
const mediaType = "application/vnd.dev.sigstore.bundle.v0.3+json";
const signature = (digest: string) => ({
  mediaType,
  messageSignature: { messageDigest: { digest: Buffer.from(digest, "hex").toString("base64") } },
});

test("documents beside an artifact are in its manifest, with what they state", async () => {
  const found = await documentsOf({
    ".cdx.json": cyclonedx,
    ".spdx.json": spdx,
    ".sigstore.json": { mediaType, dsseEnvelope: envelope(sha256) },
    ".intoto.jsonl": `${JSON.stringify(envelope(sha256))}\n${JSON.stringify({ dsseEnvelope: envelope(sha256) })}\n`,
    ".minisig": "untrusted comment: x",
    ".asc": "x",
    ".sig": "x",
  });
  expect(
    found.map(({ kind, format, version, file }: Record<string, string>) => [kind, format, version, file]),
  ).toEqual([
    ["sbom", "cyclonedx", "1.6", `${file}.cdx.json`],
    ["sbom", "spdx", "2.3", `${file}.spdx.json`],
    ["attestation", "sigstore", "0.3", `${file}.sigstore.json`],
    ["attestation", "in-toto", undefined, `${file}.intoto.jsonl`],
    ["signature", "minisign", undefined, `${file}.minisig`],
    ["signature", "openpgp", undefined, `${file}.asc`],
    ["signature", "sig", undefined, `${file}.sig`],
  ]);
  expect(found[4]).toMatchObject({ size: 20, sha256: hash("sha256", "untrusted comment: x") });
});

test("a sigstore bundle can be a signature of the artifact", async () => {
  const [found] = await documentsOf({ ".sigstore.json": signature(sha256) });
  expect(found).toMatchObject({ kind: "signature", format: "sigstore", version: "0.3" });
});

test.each([
  ["0.1", "application/vnd.dev.sigstore.bundle+json;version=0.1"],
  ["0.2", "application/vnd.dev.sigstore.bundle+json;version=0.2"],
  ["0.3", "application/vnd.dev.sigstore.bundle.v0.3+json"],
])("a sigstore bundle of version %s is published with its own media type", async (number, type) => {
  const found = built({ ".sigstore.json": { ...signature(sha256), mediaType: type } });
  await found.succeed("ingest", "--release", version, "out");
  await found.succeed("build");
  const { artifacts } = JSON.parse(found.read(`dist/api/v1/release/${version}/index.json`));
  expect(Object.values(artifacts)).toMatchObject([
    { documents: [{ format: "sigstore", version: number, media_type: type }] },
  ]);
});

test("SPDX 3 is attached and not read", async () => {
  const [found] = await documentsOf({
    ".spdx.json": { "@context": "https://spdx.org/rdf/3.0.1/spdx-context.jsonld" },
  });
  expect(found).toMatchObject({ kind: "sbom", format: "spdx3" });
});

test("an ending of the configuration comes first", async () => {
  const formats = [
    { ending: ".vex.json", kind: "attestation", format: "openvex" },
    { ending: ".asc", kind: "attestation", format: "own" },
  ];
  const found = await documentsOf({ ".vex.json": "{}", ".asc": "x" }, { documents: { formats } });
  expect(found.map(({ format }: { format: string }) => format)).toEqual(["openvex", "own"]);
});

test("without documents: in catalog.yaml, the files beside an artifact are left out", async () => {
  const found = built({ ".cdx.json": cyclonedx, ".asc": "x" }, {});
  const { stdout, stderr } = await ingest(found);
  expect(JSON.parse(stdout).artifacts[0].documents).toBeUndefined();
  expect(stderr).toContain(`${file}.cdx.json (a list of components)`);
});

const other = "a".repeat(64);
const deep = `${"[".repeat(65)}${"]".repeat(65)}`;

describe("a document is refused", () => {
  test.each<[string, string, string | object, string]>([
    ["that is empty", ".asc", "", "it is empty"],
    ["that is no JSON", ".cdx.json", '{\n  "a": }', "(line 2, column 8)"],
    [
      "that is too deep",
      ".spdx.json",
      deep,
      "values are nested more than 64 levels deep, expected fewer (line 1, column 65)",
    ],
    [
      "that is no CycloneDX",
      ".cdx.json",
      { spdxVersion: "SPDX-2.3" },
      "bomFormat is absent, expected CycloneDX",
    ],
    [
      "of an old CycloneDX",
      ".cdx.json",
      { ...cyclonedx, specVersion: "1.4" },
      'specVersion is "1.4", expected "1.5" or later',
    ],
    ["that is XML", ".cdx.json", "<bom/>", "(line 1, column 1)"],
    [
      "of another file",
      ".cdx.json",
      { ...cyclonedx, components: [] },
      `it names neither ${file} nor its SHA-256, ${sha256}`,
    ],
    [
      "of an old SPDX",
      ".spdx.json",
      { ...spdx, spdxVersion: "SPDX-2.2" },
      'spdxVersion is "SPDX-2.2", expected SPDX-2.3',
    ],
    ["that is no bundle", ".sigstore.json", {}, "mediaType is absent, expected that of a sigstore bundle"],
    [
      "with the signature of another file",
      ".sigstore.json",
      signature(other),
      `messageSignature is of the digest "${other}", expected ${sha256}`,
    ],
    [
      "with a statement about another file",
      ".sigstore.json",
      { mediaType, dsseEnvelope: envelope(other) },
      `it has a statement without a subject with the SHA-256 of ${file}, ${sha256}`,
    ],
    [
      "with one such statement",
      ".intoto.jsonl",
      `${JSON.stringify(envelope(sha256))}\n${JSON.stringify(envelope(other))}`,
      `line 2 has a statement without a subject with the SHA-256 of ${file}`,
    ],
    [
      "with a broken line",
      ".intoto.jsonl",
      `${JSON.stringify(envelope(sha256))}\n\n{ x`,
      "(line 3, column 3)",
    ],
    [
      "with a payload that is no JSON",
      ".sigstore.json",
      { mediaType, dsseEnvelope: { payload: "AAAA" } },
      "it has an envelope whose payload is not a JSON statement",
    ],
    [
      "without a digest",
      ".sigstore.json",
      { mediaType, messageSignature: {} },
      "it has neither a dsseEnvelope nor a messageSignature with a digest",
    ],
    [
      "of a foreign media type",
      ".sigstore.json",
      { ...signature(sha256), mediaType: `${mediaType}x` },
      "expected that of a sigstore bundle",
    ],
    [
      "whose media type is an object",
      ".sigstore.json",
      { mediaType: { toString: 1, valueOf: 1 } },
      'mediaType is {"toString":1,"valueOf":1}, expected that of a sigstore bundle',
    ],
    [
      "whose version is a list",
      ".cdx.json",
      { ...cyclonedx, specVersion: ["1.6"] },
      'specVersion is ["1.6"], expected "1.5" or later',
    ],
    [
      "whose version is endless",
      ".cdx.json",
      { ...cyclonedx, specVersion: `1.${"9".repeat(5000)}` },
      'expected "1.5" or later',
    ],
    ["without a statement", ".intoto.jsonl", "\n", "it has no statement"],
    [
      "without an envelope",
      ".intoto.jsonl",
      JSON.stringify(statement(sha256)),
      "line 1 has no DSSE envelope with a payload",
    ],
  ])("%s", async (_, ending, content, reason) => {
    const { exitCode, stdout, stderr } = await ingest(built({ [ending]: content }));
    expect([exitCode, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(`error[package-metadata] ${file}${ending} cannot be published beside ${file}: `);
    expect(stderr).toContain(reason);
    expect(stderr).toContain(`hint: Make it again for ${file}, or remove it.`);
  });
});

describe("require.documents", () => {
  const catalog = (kinds: object) => ({ documents: {}, require: { documents: kinds } });

  test("a release without a required document is incomplete", async () => {
    const found = built({ ".asc": "x" }, catalog({ sbom: ["client"], signature: ["client", "image"] }));
    await found.succeed("ingest", "--release", version, "out");
    const message = `warning[artifact-missing] "${file}" has no document of the kind sbom, which require.documents wants of every client`;
    expect(await found.run("check")).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(message) });
    const refused = await found.run("cut", version);
    expect([refused.exitCode, refused.stderr]).toEqual([
      1,
      expect.stringContaining("error[artifact-missing]"),
    ]);
    await found.succeed("cut", version, "--allow-incomplete");
    expect((await found.run("check")).stdout).toContain("no problems");
  });

  test("it needs documents:", async () => {
    const found = built({}, { require: { documents: { sbom: ["client"] } } });
    expect((await found.run("check")).stdout).toContain(
      "error[option-value] require.documents names documents, but ingest collects none",
    );
  });
});

test("a manifest whose document has another name is refused", async () => {
  const document = { kind: "sbom", format: "cyclonedx", file: "other.cdx.json", sha256, size: 1 };
  const found = built({});
  found.write(`releases/${version}/manifests/a.json`, {
    release: version,
    artifacts: [artifact(file, "tar", "a", { documents: [document] })],
  });
  expect((await found.run("check")).stdout).toContain(
    `the document is called "other.cdx.json", expected ${file} with an ending`,
  );
});

test("a document of more than 64 MiB is refused before it is read", async () => {
  const found = built({ ".cdx.json": "{}" });
  truncateSync(join(found.folder, "out", `${file}.cdx.json`), 64 * 1024 * 1024 + 1);
  const { exitCode, stderr } = await ingest(found);
  expect([exitCode, stderr]).toEqual([
    1,
    expect.stringContaining("it has 67108865 bytes, expected 67108864 at most"),
  ]);
});
