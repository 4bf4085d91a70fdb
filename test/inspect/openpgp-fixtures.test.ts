import { beforeAll, describe, expect, test } from "vitest";
import type { Keys } from "../../inspect/keys.ts";
import { allowedKeys, inspectArtifact, keysIn, verdictOf } from "../support/artifacts.ts";
import { type Case, cases } from "./openpgp-readers.ts";

let keys: Keys;
beforeAll(async () => {
  keys = await allowedKeys();
});

const titled = (list: readonly Case[]) => list.map((artifact) => [artifact.file, artifact] as const);
/** The content of a package with an invalid signature is not inspected. */
const isRead = (artifact: Case) => ["ok", "unsigned"].includes(verdictOf(artifact));

describe("the verdict and the claimed key are those of", () => {
  test.each(titled(cases))("%s", async (file, artifact) => {
    const { verdict, reason, key_id } = await inspectArtifact(artifact.read, file, keys);
    expect({ verdict, key_id }).toEqual({ verdict: verdictOf(artifact), key_id: artifact.key_id ?? null });
    expect(reason === "").toBe(verdict === "ok");
  });
});

describe("the signer is that of", () => {
  const signed = cases.filter((artifact) => artifact.signature !== undefined);
  test.each(titled(signed))("%s", async (file, artifact) => {
    const inspection = await inspectArtifact(artifact.read, file, keys);
    const { signer, display, fingerprint } = artifact.signature ?? {};
    // No file has the owner of a key that is not allowed.
    const known = inspection.verdict === "untrusted-key" ? fingerprint : signer;
    expect(inspection.signature).toEqual(artifact.signature && { signer: known, display, fingerprint });
  });
});

describe("the expected hash of the self-check, name and version are those of", () => {
  test.each(titled(cases.filter((artifact) => isRead(artifact) && artifact.cryptolib_post)))(
    "%s",
    async (file, artifact) => {
      const { cryptolib_post, facts } = await inspectArtifact(artifact.read, file, keys);
      expect(cryptolib_post).toEqual({ expected_hash: artifact.cryptolib_post?.expected_hash });
      const { name, epoch, version, release, architecture } = facts;
      if (artifact.type === "rpm")
        expect(`${name}-${epoch}:${version}-${release}.${architecture}`).toBe(artifact.nevra);
      else
        expect([`Package: ${name}`, `Version: ${version}`, `Architecture: ${architecture}`]).toEqual(
          artifact.control,
        );
    },
  );
});

describe("the signatures of files are those of", () => {
  const packages = cases.filter((artifact) => artifact.type === "rpm" && verdictOf(artifact) === "ok");
  test.each(titled(packages))("%s", async (file, artifact) => {
    const { file_signatures } = await inspectArtifact(artifact.read, file, keys);
    expect(file_signatures).toEqual(
      artifact.file_signatures?.map(({ name, ima_keyid }) => ({
        name,
        signature: { fingerprint: ima_keyid },
        verdict: "ok",
      })),
    );
  });
});

test("a damaged package has no report about its content", async () => {
  const damaged = ["malformed", "bad-signature", "bad-digest"];
  for (const { file, read } of cases.filter((artifact) => damaged.includes(verdictOf(artifact)))) {
    const { cryptolib_post, file_signatures } = await inspectArtifact(read, file, keys);
    expect([file, cryptolib_post, file_signatures]).toEqual([file, null, []]);
  }
});

test("an attacker's signature is valid only under the attacker's key", async () => {
  const attacker = await keysIn("attacker.asc");
  for (const { file, type, read, signature } of cases.filter(({ file }) => file.includes("attacker"))) {
    const inspection = await inspectArtifact(read, file, attacker);
    expect([file, inspection.verdict]).toEqual([file, "ok"]);
    if (!type.startsWith("helm")) expect(inspection.signature).toMatchObject({ signer: signature?.signer });
  }
});

test("a package whose files are signed by a key that is not allowed is untrusted", async () => {
  const rpm = cases.find(({ file }) => file === "rpm/signed-rsa4096-ima.rpm");
  if (!rpm) throw new Error("the fixture is gone");
  const inspection = await inspectArtifact(rpm.read, rpm.file, await keysIn("rsa4096.gpg", "ova.crt"));
  expect(inspection.verdict).toBe("untrusted-key");
  expect(inspection.reason).toBe(
    "the signature of the file /etc/acme.conf inside does not hold: untrusted-key",
  );
  expect(inspection.file_signatures.map(({ verdict }) => verdict)).toEqual(Array(3).fill("untrusted-key"));
});
