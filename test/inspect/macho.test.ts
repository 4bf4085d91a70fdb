import { describe, expect, test } from "vitest";
import { inspectMachO } from "../../inspect/packages/macho/file.ts";
import { inspectBytes, optionsWith } from "../support/artifacts.ts";
import { allowing, identity, timeStamping } from "../support/certificates.ts";
import { integer } from "../support/der.ts";
import { blob, type CodeSigning, machO, type Program, universal } from "../support/macho.ts";
import { timestamp } from "../support/signed-data.ts";

const root = identity("Root", { isCa: true });
const signer = identity("Signer", { issuer: root });

const inspected = (bytes: Uint8Array) =>
  inspectBytes(inspectMachO, bytes, optionsWith(allowing(root)), "agent");
const made = (signature: CodeSigning = {}, program: Program = {}) =>
  machO({ ...program, signature: { signer, ...signature } });
const verdict = async (bytes: Uint8Array) => {
  const { verdict, reason } = await inspected(bytes);
  return `${verdict}: ${reason}`;
};
const changed = (bytes: Buffer, change: (bytes: Buffer) => unknown) => {
  change(bytes);
  return bytes;
};

const requirements = blob(0xfade0c01, Buffer.from("requirements"));
const entitlements = blob(0xfade7171, Buffer.from("entitlements"));

describe("a program has a valid signature", () => {
  const agility = { digests: ["sha1", "sha256"] as const, bound: ["sha256"] as const };
  test.each<[string, Buffer]>([
    ["with SHA-256", made()],
    ["with SHA-384", made({ digests: ["sha384"] })],
    ["with requirements and entitlements", made({ blobs: { 2: requirements, 5: entitlements } })],
    ["with room after its signature", made({ room: 4096 })],
    ["with a weak CodeDirectory for old systems, and a strong one that the signature knows", made(agility)],
    ["for several architectures", universal([made({}, { arch: "x86_64" }), made({}, { arch: "arm64" })])],
    [
      "for several architectures at places of 64 bits",
      universal([made({}, { arch: "x86_64" }), made({}, { arch: "arm64e" })], { isLong: true }),
    ],
    ["with something outside that is not here", made({ special: { 3: Buffer.from("CodeResources") } })],
  ])("%s", async (_, bytes) => {
    expect(await verdict(bytes)).toBe("ok: ");
  });

  test("by an expired certificate with a timestamp", async () => {
    const old = identity("Old", { issuer: root, to: "2025-01-01" });
    const clock = identity("Clock", { issuer: root, usages: [timeStamping] });
    const bytes = made({ signer: old, signing: { unsigned: timestamp(clock, "2024-06-01T12:00:00Z") } });
    const { verdict, key_id, signature } = await inspected(bytes);
    expect([verdict, key_id]).toEqual(["ok", "Old"]);
    expect(signature?.display).toBe("Apple code signature, EC/SHA256, Old, timestamped 2024-06-01T12:00:00Z");
  });

  test("with its identifier, team and architectures", async () => {
    const { facts, file_signatures } = await inspected(
      universal([made({}, { arch: "x86_64" }), made({}, { arch: "arm64" })]),
    );
    expect(facts).toEqual({ archs: ["x86_64", "arm64"], identifier: "com.example.acme", team: "TEAM1" });
    const print = expect.stringMatching(/^[0-9a-f]{40}$/);
    expect(file_signatures).toEqual([
      {
        name: "agent",
        signature: { signer: "CN=Signer", fingerprint_per_arch: { x86_64: print, arm64: print } },
        verdict: "ok",
      },
    ]);
  });
});

describe("a program has an invalid signature", () => {
  const signatureAt = (bytes: Buffer) => bytes.readUInt32LE(40);
  const inSignature = (at: number, value: number, make = made()) =>
    changed(make, (bytes) => bytes.writeUInt32BE(value, signatureAt(bytes) + at));
  const stranger = identity("Stranger");
  test.each<[string, Buffer, string | RegExp]>([
    ["without a signature", machO(), "unsigned: arm64: agent has no code signature"],
    ["ad hoc", machO({ signature: {} }), "adhoc: arm64: agent has hashes of its code, but no signature"],
    [
      "when the signature was taken away",
      machO({ signature: { isAdhoc: false } }),
      "unsigned: arm64: agent has hashes of its code without the signature that they are meant to have",
    ],
    [
      "by a stranger",
      made({ signer: stranger }),
      "untrusted-key: arm64: the certificate of Stranger is neither allowed nor issued by an allowed CA",
    ],
    [
      "when a page was changed",
      changed(made(), (bytes) => bytes.writeUInt8(9, 4500)),
      "bad-digest: arm64: the page of agent at byte 4096 is not the one that was signed",
    ],
    [
      "when its hashes were changed with it",
      inSignature(8 + 12 + 100, 9),
      "bad-digest: arm64: its code signature does not match the content it came with",
    ],
    [
      "over another CodeDirectory",
      made({ signing: { content: Buffer.from("else") } }),
      "bad-digest: arm64: its code signature does not match the content it came with",
    ],
    [
      "with SHA-1 alone",
      made({ digests: ["sha1"] }),
      "weak-digest: arm64: its CodeDirectory uses SHA1, expected SHA-256 or stronger",
    ],
    [
      "when the signature does not know the strong CodeDirectory",
      made({ digests: ["sha1", "sha256"] }),
      "payload-not-covered: arm64: its code signature is not over its CodeDirectory with SHA256",
    ],
    [
      "when the signature knows another one",
      made({ digests: ["sha1", "sha256"], bound: ["sha1"] }),
      "payload-not-covered: arm64: its code signature is not over its CodeDirectory with SHA256",
    ],
    [
      "over content of its own",
      made({ signing: { inside: integer(1) } }),
      "malformed: arm64: agent has a code signature that contains its own content; expected a detached signature",
    ],
    [
      "when not all of it is hashed",
      made({ codeLimit: 4096 }),
      /^payload-not-covered: arm64: agent has \d+ bytes, of which 4096 are hashed and \d+ are its signature$/,
    ],
    ["when bytes follow the signature", Buffer.concat([made(), Buffer.alloc(4)]), /^payload-not-covered/],
    [
      "with entitlements that are not hashed",
      made({ blobs: { 5: entitlements }, special: {} }),
      "payload-not-covered: arm64: agent has data in slot 5 that its signature does not cover",
    ],
    [
      "with other entitlements",
      made({ blobs: { 5: entitlements }, special: { 5: requirements } }),
      "bad-digest: arm64: agent has something else in slot 5 than what was signed",
    ],
    [
      "with entitlements that are missing",
      made({ special: { 5: entitlements } }),
      "bad-digest: arm64: agent has something else in slot 5 than what was signed",
    ],
    [
      "when one architecture is not signed",
      universal([made({}, { arch: "x86_64" }), machO()]),
      "unsigned: arm64: agent has no code signature",
    ],
    [
      "when one architecture is ad hoc",
      universal([made({}, { arch: "x86_64" }), machO({ signature: {} })]),
      /^adhoc: arm64/,
    ],
    [
      "when one architecture is worse than the other",
      universal([machO({ arch: "x86_64" }), changed(made(), (bytes) => bytes.writeUInt8(9, 4500))]),
      /^bad-digest: arm64/,
    ],
  ])("%s", async (_, bytes, expected) => {
    expect(await verdict(bytes)).toMatch(expected);
  });

  const directory = 12 + 8 * 2;
  test.each<[string, Buffer, string | RegExp]>([
    [
      "has no code signature where it says",
      inSignature(0, 1),
      "malformed: arm64: agent has no code signature where it says",
    ],
    [
      "is longer than its room",
      inSignature(4, 0xffffff),
      "malformed: arm64: agent has no code signature where it says",
    ],
    [
      "has parts without end",
      inSignature(8, 0xffffff),
      "malformed: arm64: agent has a code signature of 16777215 parts",
    ],
    [
      "has a part beyond its end",
      inSignature(16, 0xffffff),
      "malformed: arm64: agent has a part of its code signature at 16777215 that does not end",
    ],
    [
      "has parts that overlap",
      inSignature(24, directory),
      "malformed: arm64: agent has parts of its code signature that overlap",
    ],
    [
      "has a part in its index",
      changed(inSignature(16, 16), (bytes) => bytes.writeUInt32BE(16, signatureAt(bytes) + 20)),
      "malformed: arm64: agent has parts of its code signature that overlap",
    ],
    [
      "numbers further CodeDirectories from elsewhere than the beginning",
      inSignature(20, 0x1001, made({ digests: ["sha1", "sha256"], bound: ["sha256"] })),
      "malformed: arm64: agent has further CodeDirectories that are not numbered one after the other",
    ],
    [
      "has a slot twice",
      inSignature(20, 0),
      "malformed: arm64: agent has a slot of its code signature twice",
    ],
    [
      "has no CodeDirectory",
      inSignature(12, 9),
      "malformed: arm64: agent has a code signature without a CodeDirectory",
    ],
    [
      "has something else for a CodeDirectory",
      inSignature(directory, 0xfade0c01),
      "malformed: arm64: agent has something else in slot 0 of its code signature",
    ],
    [
      "has pages of another number",
      inSignature(directory + 28, 9),
      /^malformed: arm64: agent has a CodeDirectory with 9 pages for \d+ bytes$/,
    ],
    [
      "has hashes beyond its end",
      inSignature(directory + 16, 0xffffff),
      /^malformed: arm64: agent has a CodeDirectory with 2 pages/,
    ],
    [
      "has a name without end",
      inSignature(directory + 20, 0xffffff),
      "malformed: arm64: agent has a CodeDirectory with a text that does not end",
    ],
    [
      "has scattered pages",
      inSignature(directory + 44, 1),
      "unsupported-format: arm64: agent has a CodeDirectory with scattered pages",
    ],
    [
      "has another hash",
      inSignature(directory + 36, 0x20090000),
      /^unsupported-format: arm64: agent has a CodeDirectory of hash type 9/,
    ],
  ])("if it %s", async (_, bytes, expected) => {
    expect(await verdict(bytes)).toMatch(expected);
  });
});
