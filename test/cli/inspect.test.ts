import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { inspect } from "../../cli/intake/inspect.ts";
import type { Host } from "../../cli/terminal/host.ts";
import type { Inspection } from "../../inspect/inspection.ts";
import { now, pathOf, verdictOf } from "../support/artifacts.ts";
import { relcat, repository, temporaryFolder } from "../support/run.ts";

const fixtures = join(repository, "test/fixtures/artifacts");

/** Signatures of the fixtures, as the tools that verified them print them. */
interface Signer {
  signer?: string | null;
  display?: string;
  fingerprint?: string;
  fingerprint_per_arch?: Record<string, string>;
}

interface Expected {
  file: string;
  type: string;
  expect: string;
  key_id?: string | null;
  signature?: Signer | null;
  cryptolib_post?: { expected_hash: string | Record<string, string> } | null;
  file_signatures?: { name: string; signature?: Signer | null; ima_keyid?: string }[];
  fingerprint_per_arch?: Record<string, { cdhash: string }>;
  inner_sha256?: string | null;
}

type Row = Inspection & { file: string };

const { artifacts } = JSON.parse(readFileSync(join(fixtures, "expected.json"), "utf8")) as {
  artifacts: Expected[];
};
const files = artifacts.map(({ file }) => pathOf(file));
const titled = (list: readonly Expected[]) => list.map((artifact) => [artifact.file, artifact] as const);

/** All certificates except the attacker's. */
function allowedKeys(): string {
  const folder = temporaryFolder();
  for (const name of readdirSync(join(fixtures, "keys")).filter((name) => !name.startsWith("attacker")))
    cpSync(join(fixtures, "keys", name), join(folder, name));
  return folder;
}

/** Runs the verb while the certificates of the fixtures are valid. */
async function run(files: readonly string[], json: boolean, options: Parameters<typeof inspect>[1]) {
  let stdout = "";
  let stderr = "";
  const output = (take: (text: string) => void) => ({
    write: take,
    style: (_: unknown, text: string) => text,
    columns: undefined,
  });
  const host = {
    data: output((text) => (stdout += text)),
    messages: output((text) => (stderr += text)),
    json,
    clock: now,
  } as Host;
  const status = await inspect(files, options, host);
  return { status, stdout, stderr };
}

let keys: string;
let rows: Map<string, Row>;
const rowOf = ({ file }: Expected): Row => rows.get(pathOf(file)) as Row;

beforeAll(async () => {
  keys = allowedKeys();
  const { stdout } = await run(files, true, { keys });
  rows = new Map((JSON.parse(stdout).artifacts as Row[]).map((row) => [row.file, row]));
});

test("reports every file once, in the given order, and nothing else", async () => {
  expect(artifacts).toHaveLength(112);
  expect([...rows.keys()]).toEqual(files);
  const some = [pathOf("tar/SHA256SUMS.asc"), pathOf("deb/signed-ed25519.deb")];
  const { stdout, stderr, status } = await run(some, true, { keys });
  const document = JSON.parse(stdout);
  expect(Object.keys(document)).toEqual(["schema_version", "artifacts"]);
  expect(document.schema_version).toBe(1);
  expect((document.artifacts as Row[]).map(({ file }) => file)).toEqual(some);
  expect(Object.keys(document.artifacts[0])).toEqual([
    "file",
    "type",
    "verdict",
    "reason",
    "key_id",
    "signature",
    "file_signatures",
    "cryptolib_post",
    "facts",
    "notes",
    "uncovered",
    "package",
  ]);
  expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
});

describe("reports the verdict, the key and the signer of", () => {
  test.each(titled(artifacts))("%s", (_, artifact) => {
    const row = rowOf(artifact);
    expect(row.verdict).toBe(verdictOf(artifact as never));
    expect(row.reason === "").toBe(row.verdict === "ok");
    if (artifact.key_id !== undefined) expect(row.key_id).toBe(artifact.key_id);
    if (artifact.signature === null) expect(row.signature).toBeNull();
    if (!artifact.signature) return;
    const { signer, display, fingerprint } = artifact.signature;
    // No file contains the owner of an OpenPGP key that is not allowed.
    const isUnknown = row.verdict === "untrusted-key" && ["rpm", "deb"].includes(artifact.type);
    expect(row.signature).toMatchObject({
      signer: isUnknown ? fingerprint : signer,
      fingerprint,
      ...(display && { display }),
    });
  });
});

describe("reports the expected hash of the self-check of", () => {
  const isWhole = (artifact: Expected) => ["ok", "unsigned", "adhoc"].includes(rowOf(artifact).verdict);
  test.each(titled(artifacts.filter(({ cryptolib_post }) => cryptolib_post)))("%s", (_, artifact) => {
    const { cryptolib_post: found } = rowOf(artifact);
    const expected = artifact.cryptolib_post?.expected_hash;
    // Content of an invalid package may be missing, but must not differ.
    if (found === null) return expect(isWhole(artifact)).toBe(false);
    expect(Object.values(found)).toEqual([expected]);
  });
});

const perArch = (row: Row) =>
  row.file_signatures.flatMap(({ signature }) =>
    signature && "fingerprint_per_arch" in signature ? [signature.fingerprint_per_arch] : [],
  );

describe("reports the signatures of files inside", () => {
  const withFiles = artifacts.filter(({ file_signatures }) => file_signatures);
  test.each(titled(withFiles))("%s", (_, artifact) => {
    const byName = (a: { name: string }, b: { name: string }) => (a.name < b.name ? -1 : 1);
    const expected = (artifact.file_signatures ?? []).map(({ name, signature, ima_keyid }) => ({
      name,
      signature: ima_keyid ? { fingerprint: ima_keyid } : (signature ?? null),
    }));
    const found = rowOf(artifact).file_signatures.map(({ name, signature }) => ({ name, signature }));
    expect(found).toHaveLength(expected.length);
    for (const [index, { name, signature }] of expected.sort(byName).entries()) {
      const { signer, fingerprint, fingerprint_per_arch } = signature ?? {};
      const wanted = {
        ...(signer && { signer }),
        ...(fingerprint && { fingerprint }),
        ...(fingerprint_per_arch && { fingerprint_per_arch }),
      };
      expect(found.sort(byName)[index]).toEqual({ name, signature: signature && wanted });
    }
  });
});

test("reports the fingerprints of each architecture and the digests of the unpacked contents", () => {
  for (const artifact of artifacts) {
    const { file, fingerprint_per_arch: archs, inner_sha256 } = artifact;
    const row = rowOf(artifact);
    const [found = {}] = perArch(row);
    if (archs)
      expect([file, found]).toEqual([
        file,
        Object.fromEntries(Object.entries(archs).map(([arch, { cdhash }]) => [arch, cdhash])),
      ]);
    if (inner_sha256 !== undefined)
      expect([file, row.facts.inner_sha256 ?? null]).toEqual([file, inner_sha256]);
  }
});

test("docs/inspection.md lists every range that a signature of the fixtures leaves uncovered", () => {
  const page = readFileSync(join(repository, "docs/inspection.md"), "utf8");
  const reasons = [...rows.values()].flatMap(({ uncovered }) => uncovered.map(({ why }) => why));
  const general = reasons.map((why) =>
    why
      .replace(/ of \S+ in the archive$/, " of a member in the archive")
      .replace(/that may follow \S+ in the archive$/, "that may follow its name")
      .replace(/ _gpg[a-z]+$/, "")
      .replace(/ in the compound file's directory$/, ""),
  );
  expect([...new Set(general)].filter((why) => !page.includes(why))).toEqual([]);
  expect(general.length).toBeGreaterThan(1000);
});

test("the text output has verdict, type and file, the checks or the fault, and the signer", async () => {
  const shown = ["rpm/signed-rsa4096-ima.rpm", "deb/tampered-data.deb", "vm/acme-1.2.3-amazon.raw.xz"];
  const { stdout, stderr, status } = await run(shown.map(pathOf), false, { keys });
  expect(stdout.replaceAll(`${fixtures}/artifacts/`, "")).toMatchInlineSnapshot(`
    "ok             rpm  rpm/signed-rsa4096-ima.rpm
      checked     every signature that relcat can read, digests of header and payload, signatures of the files inside
      signed by   Example Release Signing RSA <rsa@release.example>, RSA/SHA512, Sat Nov 21 00:51:12 2026, Key ID 3c87b87169042f69
      says        name acme-agent, epoch 2, version 1.2.3, release 1, architecture x86_64
      self-check  B1719822BE4DB4BBAD9C482B9DEB6328A4FD7AFA6B233A503974AC6F051F2F79
      inside      /etc/acme.conf, ok, 0a262bf7
      inside      /usr/bin/acme-agent, ok, 0a262bf7
      inside      /usr/bin/acme-ctl, ok, 0a262bf7
    bad-signature  deb  deb/tampered-data.deb
      reason  its signature by 3936fbf37043da2a414edc513c87b87169042f69 does not fit what it should sign
      claims  Example Release Signing RSA <rsa@release.example>, key 3936fbf37043da2a414edc513c87b87169042f69, Signature made Sat Nov 21 00:51:12 2026 UTC
    ok             raw  vm/acme-1.2.3-amazon.raw.xz
      checked  size and partition table; it has no signature
      says     compression xz, unpacked size 1048576, inner sha256 52f5882fdea1a0ef74036a7b206d02f8e8e05563d86a26b1c9f9d7f5de984ff6, format raw, variant raw, virtual size 1048576, boot bios
    "
  `);
  expect({ stderr, status }).toEqual({ stderr: "3 files, 2 ok.\n", status: 1 });
});

test("packages that rpm accepts are not called damaged or unreadable", async () => {
  const folder = join(repository, "test/fixtures/foreign-rpm");
  const names = ["Rimmer-1.0.2-2.x86_64.rpm", "empty-signed-v6-multiple-0-0.x86_64.rpm"];
  const { stdout } = await run(
    names.map((name) => join(folder, name)),
    false,
    {},
  );
  expect(stdout.replaceAll(`${folder}/`, "")).toMatchInlineSnapshot(`
    "unsigned       rpm  Rimmer-1.0.2-2.x86_64.rpm
      reason  it has no signature
      says    name Rimmer, version 1.0.2, release 2, architecture x86_64
      note    The payload unpacks to 544 bytes, but the package says 420.
    untrusted-key  rpm  empty-signed-v6-multiple-0-0.x86_64.rpm
      reason  it is signed by d888bf9469701ec37d429716183f6899719ce7a5, which is not an allowed key
      claims  d888bf9469701ec37d429716183f6899719ce7a5, RSA/SHA512, Sat Mar  7 21:05:02 2026, Key ID 183f6899719ce7a5
      says    name empty, version 0, release 0, architecture x86_64
    "
  `);
});

test("without --keys every signer is untrusted, and the output says so", async () => {
  const { stdout, stderr, status } = await run([pathOf("rpm/signed-rsa4096.rpm")], false, {});
  expect(stdout).toContain("untrusted-key  rpm  ");
  expect({ stderr, status }).toEqual({
    stderr: "1 file, 0 ok.\nNo key is allowed without --keys FOLDER.\n",
    status: 1,
  });
});

test("--self-check names the file that has the hash", async () => {
  const verdictWith = async (selfCheck: string) => {
    const { stdout } = await run([pathOf("deb/signed-ed25519.deb")], true, { keys, selfCheck });
    const [row] = JSON.parse(stdout).artifacts as Row[];
    return [row?.verdict, row?.reason];
  };
  expect(await verdictWith("usr/bin/*-agent")).toEqual(["ok", ""]);
  expect(await verdictWith("usr/bin/other")).toEqual([
    "malformed",
    "there is no usr/bin/other inside, expected there the self-check hash",
  ]);
});

describe("a file with a damaged beginning has the type of its name, and never the verdict ok:", () => {
  test.each(
    artifacts.filter(({ type, expect: to }) => /^(rpm|deb|msi|pkg|helm-prov)$/.test(type) && to === "ok"),
  )("$file", async ({ file }) => {
    const folder = temporaryFolder();
    const damaged = join(folder, file.replace(/.*\//, ""));
    const bytes = readFileSync(pathOf(file));
    bytes.writeUInt8(bytes.readUInt8(0) ^ 1, 0);
    writeFileSync(damaged, bytes);
    const { stdout } = await run([damaged], true, { keys });
    const [row] = JSON.parse(stdout).artifacts as Row[];
    expect(row?.verdict).not.toBe("ok");
    expect(row?.type).toBe(rows.get(pathOf(file))?.type);
  });
});

test("a signed list of checksums reads no file outside of its folder", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "inside"));
  const sums = join(folder, "inside/SHA256SUMS.asc");
  cpSync(pathOf("tar/SHA256SUMS.asc"), sums);
  cpSync(pathOf("tar/acme-client-1.2.3.tar.xz"), join(folder, "acme-client-1.2.3.tar.xz"));
  const { stdout } = await run([sums], true, { keys });
  expect((JSON.parse(stdout).artifacts as Row[])[0]?.notes).toEqual([
    "Not compared, because the files are missing: acme-client-1.2.3.tar.xz.",
  ]);
});

describe("refuses", () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "empty"));
  mkdirSync(join(folder, "odd"));
  writeFileSync(join(folder, "odd/notes.md"), "no key");
  writeFileSync(join(folder, "some.deb"), "!<arch>\n");

  test.each([
    [["gone.rpm"], "error[input-missing] there is no file gone.rpm\n  hint: Check the path; name each file."],
    [
      ["empty", "some.deb"],
      "error[input-missing] empty is a folder, expected a file\n  hint: Check the path; name each file.",
    ],
    [
      ["some.deb", "--keys", "keys"],
      "error[folder-missing] there is no folder keys\n  hint: Give the folder with the OpenPGP and X.509 certificates of the allowed signers.",
    ],
    [
      ["some.deb", "--keys", "empty"],
      "error[key-unusable] empty has no certificate in it, expected one at least\n  hint: Give the folder with the OpenPGP and X.509 certificates of the allowed signers.",
    ],
    [["some.deb", "--keys", "odd"], "error[key-unusable] odd/notes.md "],
    [[], "error[usage] the argument file is missing"],
  ])("%j", async (args, message) => {
    const { stdout, stderr, exitCode } = await relcat(folder, ["inspect", ...args]);
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
    expect(stderr.slice(0, message.length)).toBe(message);
  });
});
