import { createPublicKey } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type Certificate, chainOf, readCertificate, usages } from "../../inspect/signatures/x509.ts";
import { Fault } from "../../inspect/verdict.ts";
import {
  type Allowed,
  allowing,
  type Identity,
  identity,
  timeStamping,
  type Wishes,
} from "../support/certificates.ts";

const at = Date.parse("2026-01-01");
const read = ({ certificate }: Identity): Certificate => readCertificate(certificate);

/** The verdict on a signer. @param among the certificates of the signature */
function verdict(signer: Identity, allowed: readonly Allowed[], among: readonly Identity[] = [], when = at) {
  try {
    chainOf(read(signer), {
      among: among.map(read),
      keys: allowing(...allowed),
      at: when,
      usage: usages.codeSigning,
    });
    return "ok";
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return `${error.verdict}: ${error.message}`;
  }
}

const root = identity("Root", { isCa: true });
const issued = (name: string, wishes: Wishes = {}) => identity(name, { issuer: root, ...wishes });

describe("a certificate may sign if it", () => {
  const middle = issued("Middle", { isCa: true });
  const leaf = identity("Leaf", { issuer: middle });
  test.each([
    ["is allowed itself", issued("Leaf"), (leaf: Identity) => [leaf], []],
    ["was issued by an allowed CA", issued("Leaf"), () => [root], []],
    ["was issued by a CA that an allowed one issued, and that came along", leaf, () => [root], [middle]],
    [
      "was issued by a CA that an allowed one issued, and that is allowed too",
      leaf,
      () => [root, middle],
      [],
    ],
    ["says nothing of how its key may be used", issued("Leaf", { keyUsage: null }), () => [root], []],
  ])("%s", (_, signer, allowed, among) => {
    expect(verdict(signer, allowed(signer), among)).toBe("ok");
  });
});

describe("a certificate may not sign if", () => {
  const notCa = issued("Not a CA");
  const middle = issued("Middle", { isCa: true });
  const short = identity("Short", { isCa: true, pathLength: 0 });
  const belowShort = identity("Below", { isCa: true, issuer: short });
  const old = issued("Old CA", { isCa: true, to: "2025-01-01" });
  const weak = issued("Weak CA", { isCa: true, digest: "sha1" });
  const forTimes = issued("Times CA", { isCa: true, usages: [timeStamping] });
  const other = identity("Root", { isCa: true });
  test.each<[string, Identity, Identity[], Identity[], string]>([
    [
      "it is not allowed",
      issued("Leaf"),
      [notCa],
      [],
      "untrusted-key: the certificate of Leaf is neither allowed nor issued by an allowed CA",
    ],
    [
      "only its name is allowed",
      issued("Leaf"),
      [issued("Leaf")],
      [],
      "untrusted-key: the certificate of Leaf is neither allowed nor issued by an allowed CA",
    ],
    [
      "another CA of that name is allowed",
      issued("Leaf"),
      [other],
      [root],
      "untrusted-key: the certificate of Leaf is neither allowed nor issued by an allowed CA",
    ],
    [
      "a CA between is missing",
      identity("Leaf", { issuer: middle }),
      [root],
      [],
      "untrusted-key: the certificate of Leaf is neither allowed nor issued by an allowed CA",
    ],
    [
      "an allowed leaf issued it",
      identity("Leaf", { issuer: notCa }),
      [notCa],
      [],
      "untrusted-key: the certificate of Leaf is neither allowed nor issued by an allowed CA",
    ],
    [
      "a leaf between issued it",
      identity("Leaf", { issuer: notCa }),
      [root],
      [notCa],
      "untrusted-key: the certificate of Leaf is neither allowed nor issued by an allowed CA",
    ],
    [
      "a CA allows no other below it",
      identity("Leaf", { issuer: belowShort }),
      [short],
      [belowShort],
      "untrusted-key: the certificate of Short allows 0 CAs below it",
    ],
    [
      "it is for something else",
      issued("Leaf", { usages: [timeStamping] }),
      [root],
      [],
      "untrusted-key: the certificate of Leaf is not for signing code",
    ],
    [
      "it does not say what it is for",
      issued("Leaf", { usages: null }),
      [root],
      [],
      "untrusted-key: the certificate of Leaf is not for signing code",
    ],
    [
      "it is allowed itself, and for something else",
      issued("Leaf", { usages: [timeStamping] }),
      [],
      [],
      "untrusted-key: the certificate of Leaf is not for signing code",
    ],
    [
      "its CA is for something else",
      identity("Leaf", { issuer: forTimes }),
      [root],
      [forTimes],
      "untrusted-key: the certificate of Times CA is not for signing code",
    ],
    [
      "its key is not for signatures",
      issued("Leaf", { keyUsage: 0x20 }),
      [root],
      [],
      "untrusted-key: the certificate of Leaf may not be used for signatures",
    ],
    [
      "it is restricted in a way that is unknown",
      issued("Leaf", { critical: "1.2.3.4" }),
      [root],
      [],
      "untrusted-key: the certificate of Leaf is restricted by 1.2.3.4, which is unknown here",
    ],
    [
      "it has ended",
      issued("Leaf", { to: "2025-06-01" }),
      [root],
      [],
      "expired-certificate: the certificate of Leaf is good from 2020-01-01 to 2025-06-01, expected at 2026-01-01",
    ],
    [
      "it has not begun",
      issued("Leaf", { from: "2026-02-01" }),
      [root],
      [],
      "expired-certificate: the certificate of Leaf is good from 2026-02-01 to 2040-01-01, expected at 2026-01-01",
    ],
    [
      "a CA between has ended",
      identity("Leaf", { issuer: old }),
      [root],
      [old],
      "expired-certificate: the certificate of Old CA is good from 2020-01-01 to 2025-01-01, expected at 2026-01-01",
    ],
    [
      "it is signed with SHA-1",
      issued("Leaf", { digest: "sha1" }),
      [root],
      [],
      "weak-digest: the certificate of Leaf is signed with SHA-1 or MD5, expected SHA-256 or stronger",
    ],
    [
      "a CA between is signed with SHA-1",
      identity("Leaf", { issuer: weak }),
      [root],
      [weak],
      "weak-digest: the certificate of Weak CA is signed with SHA-1 or MD5, expected SHA-256 or stronger",
    ],
  ])("%s", (_, signer, allowed, among, expected) => {
    expect(verdict(signer, allowed.length === 0 ? [signer] : allowed, among)).toBe(expected);
  });
});

test("an allowed root can be signed with SHA-1, because it is trusted directly", () => {
  const old = identity("Old root", { isCa: true, digest: "sha1" });
  expect(verdict(identity("Leaf", { issuer: old }), [old])).toBe("ok");
});

test("an expired certificate can have signed before", () => {
  const leaf = issued("Leaf", { to: "2025-06-01" });
  expect(verdict(leaf, [root], [], Date.parse("2025-05-31"))).toBe("ok");
});

describe("a key is allowed within its configured time", () => {
  const leaf = issued("Leaf");
  const from = Date.parse("2025-01-01");
  const to = Date.parse("2026-06-01");
  test.each([
    ["before", "2024-12-31T23:59:59Z", "untrusted-key"],
    ["at its beginning", "2025-01-01T00:00:00Z", "ok"],
    ["at its end", "2026-06-01T00:00:00Z", "ok"],
    ["after", "2026-06-01T00:00:01Z", "untrusted-key"],
  ])("%s", (_, when, expected) => {
    const allowed = { ...root, notBefore: from, notAfter: to };
    expect(verdict(leaf, [allowed], [], Date.parse(when)).split(":")[0]).toBe(expected);
  });

  test("under a reason that names the file and the time", () => {
    const allowed = { ...root, serial: 7, notAfter: from };
    expect(verdict(leaf, [allowed])).toBe(
      "untrusted-key: 7.crt is allowed to sign from … to 2025-01-01, and not on 2026-01-01",
    );
  });

  test("after which its CA does not allow it either", () => {
    expect(verdict(leaf, [root, { ...leaf, notAfter: from }])).toMatch(
      /^untrusted-key: .* is allowed to sign/,
    );
  });

  test("even without its CA, whose time is over", () => {
    expect(verdict(leaf, [{ ...root, notAfter: from }, leaf])).toBe("ok");
  });
});

test("thirty CAs that all issued each other are checked quickly, and allow nothing", () => {
  const ring = Array.from({ length: 30 }, () => identity("Ring", { isCa: true }));
  const [first = root] = ring;
  const crossed = ring.map((issuer) => identity("Ring", { isCa: true, issuer }));
  const leaf = identity("Leaf", { issuer: first });
  expect(verdict(leaf, [root], [...ring, ...crossed])).toMatch(/^untrusted-key/);
});

test("a certificate without a name is read", () => {
  expect(read(issued("")).unknown).toEqual([]);
});

test("each of many certificates with one name keeps its own key and issuer", () => {
  const namesake = identity("Root", { isCa: true });
  const leaves = Array.from({ length: 100 }, () => issued("Leaf"));
  for (const leaf of [...leaves, ...leaves]) {
    const { publicKey } = read(leaf);
    expect(publicKey.equals(createPublicKey(leaf.key))).toBe(true);
    expect(verdict(leaf, [root])).toBe("ok");
    expect(verdict(leaf, [namesake])).toContain("untrusted-key");
  }
});
