import { beforeAll, describe, expect, test } from "vitest";
import type { FileSignature, Inspection } from "../../inspect/inspection.ts";
import type { Keys } from "../../inspect/keys.ts";
import { allowedKeys, inspectArtifact, keysIn } from "../support/artifacts.ts";
import { type Case, cases, titled } from "./cms-readers.ts";

let keys: Keys;
beforeAll(async () => {
  keys = await allowedKeys();
});

describe("the verdict, the key and the signer are those of", () => {
  test.each(titled(cases.filter(({ type }) => type !== "macho")))("%s", async (file, artifact) => {
    const { verdict, reason, key_id, signature, facts } = await inspectArtifact(artifact.read, file, keys);
    const { signer, fingerprint, digest = facts.digest } = artifact.signature ?? {};
    expect({ verdict, key_id }).toEqual({ verdict: artifact.verdict, key_id: artifact.key_id });
    expect(signature && { ...signature, display: "", digest: facts.digest }).toEqual(
      artifact.signature && { signer, fingerprint, digest, display: "" },
    );
    expect(reason === "").toBe(verdict === "ok");
  });
});

describe("the verdict and the fingerprints are those of", () => {
  test.each(titled(cases.filter(({ type }) => type === "macho")))("%s", async (file, artifact) => {
    const { verdict, facts, file_signatures } = await inspectArtifact(artifact.read, file, keys);
    const expected = Object.entries(artifact.fingerprint_per_arch ?? {});
    const fingerprints = Object.fromEntries(expected.map(([arch, { cdhash }]) => [arch, cdhash]));
    expect(verdict).toBe(artifact.verdict);
    expect(facts.identifier).toBe(expected[0]?.[1].identifier);
    expect(fingerprintsOf(file_signatures[0])).toEqual(fingerprints);
  });
});

const fingerprintsOf = (file: FileSignature | undefined): unknown =>
  file?.signature && "fingerprint_per_arch" in file.signature ? file.signature.fingerprint_per_arch : {};

const byName = (one: { name: string }, other: { name: string }) => (one.name < other.name ? -1 : 1);

/** Without verdicts, which the fixtures write differently. */
const fileSignatures = ({ file_signatures }: Inspection) =>
  file_signatures.map(({ name, signature }) => ({ name, signature })).sort(byName);

function expected({ file_signatures = [] }: Case) {
  const plain = file_signatures.map(({ name, signature }) => {
    if (!signature) return { name, signature };
    const { signer, fingerprint, fingerprint_per_arch } = signature;
    const prints = fingerprint ? { fingerprint } : { fingerprint_per_arch };
    return { name, signature: { ...(signer && { signer }), ...prints } };
  });
  return plain.sort(byName);
}

describe("the signatures of the files inside are those of", () => {
  test.each(titled(cases.filter(({ type }) => type === "msi" || type === "pkg")))(
    "%s",
    async (file, artifact) => {
      const inspection = await inspectArtifact(artifact.read, file, keys);
      expect(fileSignatures(inspection)).toEqual(expected(artifact));
      for (const { name, verify_rc } of artifact.file_signatures ?? []) {
        const found = inspection.file_signatures.find((one) => one.name === name);
        if (verify_rc !== undefined) expect(found?.verdict === "ok").toBe(verify_rc === 0);
      }
    },
  );
});

describe("the expected hash of the self-check is that of", () => {
  const isWhole = ({ verdict }: Case) => !["bad-digest", "bad-signature", "malformed"].includes(verdict);
  const withHash = cases.filter((artifact) => artifact.cryptolib_post && isWhole(artifact));
  test.each(titled(withHash))("%s", async (file, artifact) => {
    const { cryptolib_post } = await inspectArtifact(artifact.read, file, keys);
    const hash = artifact.cryptolib_post?.expected_hash;
    expect(cryptolib_post).toEqual(
      typeof hash === "string" ? { expected_hash: hash } : { expected_hash_per_arch: hash },
    );
  });
});

test.each(titled(cases.filter(({ verdict, type }) => verdict === "ok" && type !== "macho" && type !== "pe")))(
  "%s contains its name and its version",
  async (file, { read }) => {
    const { facts } = await inspectArtifact(read, file, keys);
    expect(facts).toMatchObject({ name: "Acme Agent", version: "1.2.3" });
  },
);

test("the verdict of a file inside is reported in addition to the package's verdict", async () => {
  const verdicts = async (file: string) => {
    const read = cases.find((artifact) => artifact.file === file)?.read;
    if (!read) throw new Error(`${file} is gone`);
    const { verdict, file_signatures } = await inspectArtifact(read, file, keys);
    return [verdict, ...file_signatures.map(({ verdict }) => verdict)];
  };
  expect(await verdicts("msi/signed-with-attacker-exe.msi")).toEqual(["ok", "untrusted-key", "ok"]);
  expect(await verdicts("msi/signed-with-unsigned-exe.msi")).toEqual(["ok", "unsigned", "ok"]);
  expect(await verdicts("pkg/signed-sha256.pkg")).toEqual(["ok", "ok", "adhoc", "unsigned"]);
});

test("an attacker's signature is valid only under the attacker's CA", async () => {
  const attacker = await keysIn("attacker-ca.crt");
  for (const { file, read, verdict } of cases) {
    const inspection = await inspectArtifact(read, file, attacker);
    if (file.includes("signed-attacker") || file.includes("agent-attacker"))
      expect(inspection.verdict).toBe("ok");
    else if (verdict === "ok") expect([file, inspection.verdict]).toEqual([file, "untrusted-key"]);
  }
});

test("an allowed leaf without its CA allows its signatures, but not its timestamps", async () => {
  const read = cases.find(({ file }) => file === "msi/signed-timestamped.msi")?.read;
  if (!read) throw new Error("the fixture is gone");
  const leaf = await inspectArtifact(read, "msi/signed-timestamped.msi", await keysIn("codesign.crt"));
  expect(leaf.verdict).toBe("ok");
  expect(leaf.signature?.display).toBe("Authenticode, RSA/SHA256, Example Release AG");
  expect(leaf.notes[0]).toBe(
    "its signature has a timestamp that does not count: the certificate of Example Timestamp Authority is neither allowed nor issued by an allowed CA",
  );
  const both = await inspectArtifact(
    read,
    "msi/signed-timestamped.msi",
    await keysIn("codesign.crt", "tsa.crt"),
  );
  expect(both.signature?.display).toBe(
    "Authenticode, RSA/SHA256, Example Release AG, timestamped 2026-01-01T00:01:40Z",
  );
});
