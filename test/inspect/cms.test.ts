import { describe, expect, test } from "vitest";
import { readAsn1 } from "../../inspect/signatures/asn1.ts";
import { readSignedData, verifyTrusted } from "../../inspect/signatures/cms.ts";
import { usages } from "../../inspect/signatures/x509.ts";
import { Fault } from "../../inspect/verdict.ts";
import { optionsWith } from "../support/artifacts.ts";
import { allowing, codeSigning, identity, keyIdOf, timeStamping } from "../support/certificates.ts";
import { algorithm, context, der, integer, octets, oid, open, sequence, set } from "../support/der.ts";
import {
  attribute,
  contentTypes,
  digestOids,
  type Signing,
  signedData,
  timestamp,
} from "../support/signed-data.ts";

const root = identity("Root", { isCa: true });
const signer = identity("Signer", { issuer: root });
const rsaSigner = identity("RSA signer", { issuer: root, kind: "rsa" });
const tsa = identity("Clock", { issuer: root, usages: [timeStamping] });
const content = Buffer.from("what is signed");

function trusted(bytes: Buffer, of: Uint8Array = content, keys = allowing(root)) {
  const [what, options] = ["it", optionsWith(keys)];
  return verifyTrusted(readSignedData(bytes, what), of, bytes, { usage: usages.codeSigning, what, options });
}

function verdict(bytes: Buffer, of?: Uint8Array): string {
  try {
    trusted(bytes, of);
    return "ok";
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return `${error.verdict}: ${error.message}`;
  }
}

const made = (wishes: Partial<Signing> = {}) => signedData({ signer, content, ...wishes });

describe("a signature is valid if", () => {
  test.each<[string, () => Buffer]>([
    ["made with ECDSA", () => made()],
    ["made with RSA", () => made({ signer: rsaSigner })],
    ["made with SHA-384", () => made({ digest: "sha384" })],
    [
      "its algorithm names the digest",
      () => made({ signer: rsaSigner, instead: { algorithm: algorithm("1.2.840.113549.1.1.11") } }),
    ],
    [
      "others' certificates come with it",
      () => made({ certificates: [root.certificate, tsa.certificate, signer.certificate] }),
    ],
    [
      "its signer is named by a key identifier",
      () => {
        const id = der(0x80, keyIdOf(publicKey(signer.certificate)));
        return made({ version: 3, instead: { identifier: id, signerVersion: integer(3) } });
      },
    ],
  ])("%s", (_, make) => {
    expect(verdict(make())).toBe("ok");
  });
});

const partsOf = (bytes: Uint8Array) => readAsn1(bytes, "it").inside.map(({ raw }) => raw);

function publicKey(certificate: Buffer): Uint8Array {
  const [body = certificate] = partsOf(certificate);
  return partsOf(body)[6] ?? body;
}

test("elements of indefinite length are read as Apple writes them", () => {
  const [type, wrapped] = partsOf(made()) as [Buffer, Buffer];
  const [inner] = partsOf(wrapped) as [Buffer];
  expect(verdict(open(0x30, type, open(0xa0, open(0x30, ...partsOf(inner)))))).toBe("ok");
});

describe("a signature is invalid if", () => {
  const stranger = identity("Signer");
  test.each<[string, () => Buffer, string]>([
    [
      "it is over other content",
      () => made({ content: Buffer.from("else") }),
      "bad-digest: it does not match the content it came with",
    ],
    [
      "another key made it",
      () => made({ signer: { ...signer, key: stranger.key } }),
      "bad-signature: it was not made by the key of its certificate, or was changed",
    ],
    [
      "its key is not allowed",
      () => made({ signer: stranger }),
      "untrusted-key: the certificate of Signer is neither allowed nor issued by an allowed CA",
    ],
    [
      "it is with SHA-1",
      () => made({ digest: "sha1" }),
      "weak-digest: it uses SHA1, expected SHA-256 or stronger",
    ],
    [
      "its attributes are for other content",
      () =>
        made({
          instead: {
            attributes: context(
              0,
              attribute("1.2.840.113549.1.9.3", oid(contentTypes.indirect)),
              attribute("1.2.840.113549.1.9.4", octets(content)),
            ),
          },
        }),
      "malformed: it is for another kind of content than it came with",
    ],
    [
      "its algorithm goes with another digest",
      () => made({ signer: rsaSigner, instead: { algorithm: algorithm("1.2.840.113549.1.1.5") } }),
      "malformed: it names an algorithm that does not match its key and digest",
    ],
    [
      "its algorithm goes with another key",
      () => made({ instead: { algorithm: algorithm("1.2.840.113549.1.1.11") } }),
      "malformed: it names an algorithm that does not match its key and digest",
    ],
    [
      "its algorithm is another",
      () => made({ signer: rsaSigner, instead: { algorithm: algorithm("1.2.840.113549.1.1.10") } }),
      "unsupported-format: it is made with 1.2.840.113549.1.1.10 (rsa), expected RSA PKCS #1 or ECDSA",
    ],
    [
      "its digest is unknown",
      () => made({ instead: { digests: set(algorithm("1.2.3")) } }),
      "unsupported-format: it uses the digest 1.2.3, expected SHA-256, SHA-384 or SHA-512",
    ],
    [
      "it announces another digest than it uses",
      () => made({ instead: { digests: set(algorithm(digestOids.sha384)) } }),
      "malformed: it announces the digests sha384, and its signer uses sha256",
    ],
    [
      "its digest has parameters",
      () => made({ instead: { digests: set(algorithm(digestOids.sha256, integer(1))) } }),
      "malformed: it has an algorithm with parameters, expected none",
    ],
    ["its version is another", () => made({ version: 3 }), "malformed: it has version 3, expected 1"],
    [
      "its signer's version is another",
      () => made({ instead: { signerVersion: integer(3) } }),
      "malformed: it has a signer of version 3, expected 1",
    ],
    [
      "it has no signer",
      () => made({ instead: { signers: set() } }),
      "unsupported-format: it has 0 signers, expected one",
    ],
    [
      "it has two signers",
      () => made({ instead: { signers: set(integer(1), integer(1)) } }),
      "unsupported-format: it has 2 signers, expected one",
    ],
    [
      "the signer's certificate is missing",
      () => made({ certificates: [root.certificate] }),
      "malformed: it does not hold the certificate of its signer",
    ],
    [
      "it has no certificates",
      () => made({ instead: { certificates: context(1) } }),
      "malformed: it does not hold the certificate of its signer",
    ],
    [
      "it holds certificates without end",
      () => made({ certificates: Array.from({ length: 40 }, () => signer.certificate) }),
      "unsupported-format: it holds 40 certificates, expected a few",
    ],
    [
      "a certificate is not one",
      () => made({ certificates: [signer.certificate, sequence(integer(1))] }),
      "malformed: a certificate has the tag 0x2 where 0x30 was expected",
    ],
    [
      "an attribute is repeated",
      () => made({ attributes: [attribute("1.2.840.113549.1.9.3", oid(contentTypes.data))] }),
      "malformed: it has the attribute 1.2.840.113549.1.9.3 twice",
    ],
    [
      "an attribute has two values",
      () =>
        made({
          instead: {
            attributes: context(
              0,
              attribute("1.2.840.113549.1.9.3", oid(contentTypes.data), oid(contentTypes.data)),
            ),
          },
        }),
      "malformed: it has 2 values of 1.2.840.113549.1.9.3, expected one",
    ],
    [
      "it has no signed attributes",
      () => made({ instead: { attributes: integer(1) } }),
      "unsupported-format: it has no signed attributes, expected the digest there",
    ],
    [
      "it has another content type",
      () => sequence(oid(contentTypes.data), context(0, integer(1))),
      "malformed: it is not SignedData",
    ],
    [
      "it has a second SignedData",
      () => sequence(oid("1.2.840.113549.1.7.2"), context(0, integer(1), integer(1))),
      "malformed: it holds more than one SignedData",
    ],
  ])("%s", (_, make, expected) => {
    expect(verdict(make())).toBe(expected);
  });
});

test("ranges without a signature are reported with their offsets", () => {
  const bytes = made({
    certificates: [root.certificate, signer.certificate],
    unsigned: () => [attribute("1.2.3", integer(1))],
  });
  const { uncovered } = trusted(bytes);
  expect(uncovered.map(({ why }) => why)).toEqual([
    "a certificate that is not needed",
    "unsigned attributes of the signature",
  ]);
  const [needless, unsigned] = uncovered.map(({ from, to }) => bytes.subarray(from, to));
  expect(needless).toEqual(root.certificate);
  expect(unsigned).toEqual(context(1, attribute("1.2.3", integer(1))));
});

describe("a timestamp", () => {
  const old = identity("Old signer", { issuer: root, to: "2025-06-01" });
  const before = "2025-05-01T00:00:00Z";
  const stamped = (unsigned: Signing["unsigned"]) =>
    signedData({ signer: old, content, unsigned: unsigned ?? (() => []) });

  test.each(["1.2.840.113549.1.9.16.2.14", "1.3.6.1.4.1.311.3.3.1"])(
    "with the type %s is the time at which a certificate must be valid",
    (name) => {
      expect(trusted(stamped(timestamp(tsa, before, { name })))).toMatchObject({
        time: Date.parse(before),
        notes: [],
      });
    },
  );

  test.each<[string, Signing["unsigned"], string | RegExp]>([
    [
      "belongs to another signature",
      timestamp(tsa, before, { of: Buffer.from("else") }),
      "the timestamp belongs to another signature",
    ],
    [
      "is by a clock that is not allowed",
      timestamp(identity("Clock", { usages: [timeStamping] }), before),
      "the certificate of Clock is neither allowed nor issued by an allowed CA",
    ],
    [
      "is by a certificate for another purpose",
      timestamp(signer, before),
      "the certificate of Signer is not for timestamps",
    ],
    [
      "is by a clock that may sign code too",
      timestamp(identity("Clock", { issuer: root, usages: [timeStamping, codeSigning] }), before),
      "the certificate of Clock is not for timestamps alone",
    ],
    [
      "is by a clock whose certificate began later",
      timestamp(identity("Clock", { issuer: root, usages: [timeStamping], from: "2026-01-01" }), before),
      /^the certificate of Clock is good from 2026/,
    ],
    [
      "is over a weak digest",
      timestamp(tsa, before, { digest: "sha1" }),
      "the timestamp uses SHA1, expected SHA-256 or stronger",
    ],
    [
      "is in the future",
      timestamp(tsa, "2027-01-01"),
      "the timestamp is of 2027-01-01T00:00:00.000Z, which is in the future",
    ],
    [
      "has another content type",
      () => [attribute("1.2.840.113549.1.9.16.2.14", made())],
      "the timestamp holds something else",
    ],
    [
      "is broken",
      () => [attribute("1.2.840.113549.1.9.16.2.14", integer(1))],
      "the timestamp has the tag 0x2 where 0x30 was expected",
    ],
  ])("is ignored with a note if it %s", (_, unsigned, reason) => {
    expect(verdict(stamped(unsigned))).toMatch(
      /^expired-certificate: .*; it has a timestamp that does not count: /,
    );
    const { notes, time } = trusted(made({ unsigned: unsigned ?? (() => []) }));
    expect(time).toBeUndefined();
    expect(notes).toEqual([expect.stringMatching(/^it has a timestamp that does not count: /)]);
    expect(notes[0]?.replace("it has a timestamp that does not count: ", "")).toMatch(reason);
  });

  test("from before the start of a certificate does not make it valid", () => {
    const young = identity("Young signer", { issuer: root, from: "2026-01-01" });
    expect(verdict(signedData({ signer: young, content, unsigned: timestamp(tsa, before) }))).toMatch(
      /^expired-certificate/,
    );
  });
});
