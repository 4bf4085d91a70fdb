import { createHash } from "node:crypto";
import { gunzipSync, gzipSync } from "node:zlib";
import type { PrivateKey } from "openpgp";
import { beforeAll, describe, expect, test } from "vitest";
import type { Inspection } from "../../inspect/inspection.ts";
import type { Keys } from "../../inspect/keys.ts";
import { inspectRpm } from "../../inspect/packages/rpm/rpm.ts";
import { inspectBytes, optionsWith } from "../support/artifacts.ts";
import { unnoticedBits } from "../support/bit-flips.ts";
import { often } from "../support/effort.ts";
import { keysWith, newKey, signed } from "../support/openpgp.ts";
import {
  binary,
  cpio,
  cpioFile,
  integers,
  longs,
  named,
  type RpmTag,
  rpmFile,
  rpmHeader,
  rpmPackage,
  shorts,
  text,
  texts,
} from "../support/rpm.ts";

let key: PrivateKey;
let keys: Keys;
beforeAll(async () => {
  key = await newKey({ curve: "ed25519Legacy" });
  keys = await keysWith(key);
});

const hash = (name: string, bytes: Uint8Array) => createHash(name).update(bytes).digest("hex");
const inspect = (bytes: Uint8Array, selfCheck?: string): Promise<Inspection> =>
  inspectBytes(inspectRpm, bytes, { ...optionsWith(keys), selfCheck });

const payload = cpio();
const covering = (bytes: Uint8Array = payload, name = "sha256", algorithm = 8) => [
  texts(5092, hash(name, bytes)),
  integers(5093, algorithm),
];

async function signedPackage(
  tags: readonly RpmTag[],
  bytes = payload,
  more: readonly RpmTag[] = [],
): Promise<Buffer> {
  const main = rpmHeader(63, tags);
  return rpmFile(rpmHeader(62, [binary(267, await signed(key, main)), ...more]), main, bytes);
}

describe("a package made by hand", () => {
  test("is ok if its signature covers header and payload", async () => {
    expect(await inspect(await signedPackage([...named, ...covering()]))).toMatchObject({
      verdict: "ok",
      key_id: key.getKeyID().toHex(),
      signature: { signer: "Somebody <somebody@release.example>", fingerprint: key.getFingerprint() },
      facts: { name: "agent", epoch: null, version: "1.2.3", release: "1", architecture: "x86_64" },
    });
  });

  test("can have a signature over header and payload, but needs the payload's digest in the header", async () => {
    const old = async (tags: readonly RpmTag[], other = payload) => {
      const main = rpmHeader(63, tags);
      const signature = binary(1005, await signed(key, Buffer.concat([main, payload])));
      return inspect(rpmFile(rpmHeader(62, [signature]), main, other));
    };
    expect(await old([...named, ...covering()])).toMatchObject({ verdict: "ok" });
    expect(await old(named)).toMatchObject({ verdict: "payload-not-covered" });
    expect(await old([...named, ...covering()], cpio(cpioFile("other", "")))).toMatchObject({
      verdict: "bad-signature",
    });
  });

  test("has the verdict of its worst signature", async () => {
    const tags = [...named, ...covering()];
    const other = binary(1005, await signed(await newKey(), Buffer.concat([rpmHeader(63, tags), payload])));
    expect(await inspect(await signedPackage(tags, payload, [other]))).toMatchObject({
      verdict: "untrusted-key",
      key_id: key.getKeyID().toHex(),
    });
  });

  test("is damaged if a digest differs, even if its key is not allowed", async () => {
    const tags = [...named, ...covering()];
    const other = await newKey();
    const main = rpmHeader(63, tags);
    const by = async (content: Buffer) =>
      rpmFile(rpmHeader(62, [binary(267, await signed(other, main))]), main, content);
    expect(await inspect(await by(payload))).toMatchObject({ verdict: "untrusted-key" });
    expect(await inspect(await by(cpio(cpioFile("other", ""))))).toMatchObject({
      verdict: "bad-digest",
      key_id: other.getKeyID().toHex(),
    });
  });

  test.each([
    ["md5", 1],
    ["sha1", 2],
  ])("with a payload digest by %s only is weak-digest", async (name, algorithm) => {
    expect(
      await inspect(await signedPackage([...named, ...covering(payload, name, algorithm)])),
    ).toMatchObject({
      verdict: "weak-digest",
    });
  });
});

describe("unsigned digests must match too:", () => {
  const main = rpmHeader(63, named);
  const whole = Buffer.concat([main, payload]);
  const unpacked = 124;

  test.each([
    ["SHA-256 of the header", text(273, hash("sha256", main)), text(273, hash("sha256", payload))],
    ["SHA-1 of the header", text(269, hash("sha1", main)), text(269, hash("sha1", payload))],
    [
      "MD5 of header and payload",
      binary(1004, Buffer.from(hash("md5", whole), "hex")),
      binary(1004, Buffer.alloc(16)),
    ],
    ["SHA3-256 of the header", text(279, hash("sha3-256", main)), text(279, hash("sha256", main))],
  ])("%s", async (_, good, bad) => {
    expect(await inspect(rpmPackage(named, [good]))).toMatchObject({
      verdict: "unsigned",
      reason: "it has no signature",
    });
    expect(await inspect(rpmPackage(named, [bad]))).toMatchObject({
      verdict: "bad-digest",
      reason: expect.stringMatching(/the package says/),
    });
  });

  test("in capital letters too, as in rpm", async () => {
    const capitals = (name: string, bytes: Buffer) => hash(name, bytes).toUpperCase();
    const good = rpmPackage([...named, texts(5092, capitals("sha256", payload))], []);
    expect(await inspect(good)).toMatchObject({ verdict: "unsigned" });
    for (const digest of [text(269, capitals("sha1", main)), text(279, capitals("sha3-256", main))])
      expect(await inspect(rpmPackage(named, [digest]))).toMatchObject({ verdict: "unsigned" });
  });

  test.each([
    ["SHA-256 of the payload", texts(5092, hash("sha256", payload)), texts(5092, hash("sha256", main))],
    ["SHA-512 of the payload", text(5121, hash("sha512", payload)), text(5121, hash("sha512", main))],
    ["SHA3-256 of the payload", text(5123, hash("sha3-256", payload)), text(5123, hash("sha3-256", main))],
  ])("%s", async (_, good, bad) => {
    expect(await inspect(rpmPackage([...named, good]))).toMatchObject({ verdict: "unsigned" });
    expect(await inspect(rpmPackage([...named, bad]))).toMatchObject({ verdict: "bad-digest" });
  });

  test("except the digest of a payload that was unpacked, because the header has another one for it", async () => {
    const tar = gunzipSync(payload);
    const tags = [...named, ...covering(), texts(5097, hash("sha256", tar))];
    expect(await inspect(rpmPackage(tags, [], tar))).toMatchObject({ verdict: "unsigned" });
    expect(await inspect(rpmPackage(tags, [], gzipSync(tar, { level: 1 })))).toMatchObject({
      verdict: "bad-digest",
    });
  });

  const other = `but the package says ${unpacked + 4}.`;
  test.each([
    ["size", integers(1000, whole.length), integers(1000, whole.length + 1), "Header and payload have"],
    ["size in 64 bits", longs(270, whole.length), longs(270, 1), "but the package says 1."],
    ["size unpacked", integers(1007, unpacked), integers(1007, unpacked + 4), other],
    ["size unpacked in 64 bits", longs(271, unpacked), longs(271, unpacked + 4), other],
  ])("%s, but another one is only a note", async (_, good, bad, note) => {
    expect(await inspect(rpmPackage(named, [good]))).toMatchObject({ verdict: "unsigned", notes: [] });
    expect(await inspect(rpmPackage(named, [bad]))).toMatchObject({
      verdict: "unsigned",
      reason: "it has no signature",
      notes: [expect.stringContaining(note)],
    });
  });
});

describe("a package of rpm 6", () => {
  const main = rpmHeader(63, [...named, ...covering()]);
  const base64 = async (by: PrivateKey, bytes: Uint8Array = main) =>
    Buffer.from(await signed(by, bytes)).toString("base64");
  const withSignatures = (...all: string[]) =>
    inspect(rpmFile(rpmHeader(62, [texts(278, ...all)]), main, payload));

  test("has any number of signatures in one tag, and each must hold", async () => {
    const [one, other] = [await base64(key), await base64(key)];
    expect(await withSignatures(one, other)).toMatchObject({
      verdict: "ok",
      key_id: key.getKeyID().toHex(),
      signature: { fingerprint: key.getFingerprint() },
    });
    expect(await withSignatures(one, await base64(await newKey()))).toMatchObject({
      verdict: "untrusted-key",
    });
    expect(await withSignatures(one, await base64(key, payload))).toMatchObject({ verdict: "bad-signature" });
    expect(await withSignatures(one, `${one}=`)).toMatchObject({
      verdict: "malformed",
      reason: "signature 278, number 2, is not base64",
    });
  });

  test("has no bit in its signatures that can change unnoticed, except those that are listed", async () => {
    const bytes = rpmFile(rpmHeader(62, [texts(278, await base64(key), await base64(key))]), main, payload);
    expect(await unnoticedBits(inspectRpm, bytes, optionsWith(keys), often(600, 60))).toEqual([]);
  });

  /** Another signature by the same key, with one byte of its packet changed. */
  const foreign = async (at: number, value: number) => {
    const bytes = Buffer.from(await base64(key), "base64");
    bytes[at] = value;
    return bytes.toString("base64");
  };

  test.each([
    ["version", 6, 6, "signature 278, number 1, is a signature of version 6, expected 4."],
    ["algorithm", 8, 30, "signature 278, number 1, cannot be read: Unknown signature algorithm."],
    ["digest", 9, 99, "it is signed over digest 99, which is unknown."],
  ])("may have an additional signature of an unknown %s, which a note reports", async (_, at, value, why) => {
    const unknown = await foreign(at, value);
    const other = await newKey();
    const found = await withSignatures(unknown, await base64(key));
    expect(found).toMatchObject({
      verdict: "ok",
      key_id: key.getKeyID().toHex(),
      notes: [`An additional signature is not checked: ${why}`],
    });
    expect(found.uncovered.map((range) => range.why)).toContain(
      "a signature of tag 278 that is not the only signature",
    );
    expect(await withSignatures(unknown)).toMatchObject({ verdict: "unsupported-format", key_id: null });
    expect(await withSignatures(unknown, await base64(key, payload))).toMatchObject({
      verdict: "bad-signature",
    });
    expect(await withSignatures(unknown, await base64(other))).toMatchObject({
      verdict: "untrusted-key",
      key_id: other.getKeyID().toHex(),
    });
  });

  test("is not supported if a signature outside of tag 278 is unknown, because rpm refuses it", async () => {
    const unknown = binary(267, Buffer.from(await foreign(8, 30), "base64"));
    const bytes = rpmFile(rpmHeader(62, [unknown, texts(278, await base64(key))]), main, payload);
    expect(await inspect(bytes)).toMatchObject({ verdict: "unsupported-format" });
  });

  test("may have line ends in its base64, which are the only bits of it that can change unnoticed", async () => {
    const wrapped = (await base64(key)).replace(/.{64}/g, "$&\n");
    expect(await withSignatures(wrapped)).toMatchObject({ verdict: "ok" });
    for (const signature of [await base64(key), wrapped]) {
      const digest = binary(1004, createHash("md5").update(main).update(payload).digest());
      const tags = [
        texts(278, signature),
        text(279, hash("sha3-256", main)),
        binary(999, Buffer.alloc(8)),
        digest,
        digest,
      ];
      const bytes = rpmFile(rpmHeader(62, tags), main, payload);
      expect(await unnoticedBits(inspectRpm, bytes, optionsWith(keys), often(600, 60))).toEqual([]);
    }
  });

  test("may have tags in its signature header that a later version adds", async () => {
    const signature = texts(278, await base64(key));
    const later = { tag: 280, type: 1, count: 4, bytes: Buffer.from("1234") };
    expect(await inspect(rpmFile(rpmHeader(62, [signature, later]), main, payload))).toMatchObject({
      verdict: "ok",
      notes: ["Its signature header has the unknown tag 280, which is not checked."],
    });
  });

  const hashWord = "B1719822BE4DB4BBAD9C482B9DEB6328A4FD7AFA6B233A503974AC6F051F2F79";
  const listed = [
    ["/usr/bin/", "agent", 0o100755, hashWord, 7],
    ["/usr/bin/", "alias", 0o120777, "agent", 8],
    ["/usr/bin/", "first", 0o100755, "linked", 9],
    ["/usr/bin/", "second", 0o100755, "linked", 9],
    ["/usr/", "share", 0o040755, "", 10],
  ] as const;
  const files: readonly RpmTag[] = [
    shorts(1030, ...listed.map(([, , mode]) => mode)),
    integers(1037, ...listed.map(() => 0)),
    integers(1095, ...listed.map(() => 1)),
    integers(1096, ...listed.map(([, , , , inode]) => inode)),
    integers(1116, ...listed.map((_, index) => index)),
    texts(1117, ...listed.map(([, name]) => name)),
    texts(1118, ...listed.map(([folder]) => folder)),
    longs(5008, ...listed.map(([, , mode, content]) => (mode === 0o040755 ? 4096 : content.length))),
    integers(5114, 6),
  ];
  /** Entries are a number; the first of two links has no content. */
  const entries = (numbers: readonly number[]) =>
    numbers.map((index) => {
      const content = index === 2 ? "" : (listed[index]?.[3] ?? "");
      const head = `07070X${index.toString(16).padStart(8, "0")}\0\0`;
      return Buffer.concat([Buffer.from(head + content), Buffer.alloc(-content.length & 3)]);
    });

  test("has a payload that names its files by their number in the header", async () => {
    const bytes = rpmPackage([...named, ...files], [], cpio(...entries([0, 1, 2, 3, 4])));
    expect(await inspect(bytes, "usr/bin/agent")).toMatchObject({
      verdict: "unsigned",
      facts: { name: "agent", format: 6 },
      cryptolib_post: { expected_hash: hashWord },
    });
    expect(await inspect(rpmPackage([...named, ...files], [], cpio(...entries([0, 5]))))).toMatchObject({
      verdict: "malformed",
      reason: "the cpio archive has file 5, which the package header does not list",
    });
  });

  test("is refused quickly if its signature is megabytes of blanks", { tags: ["long"] }, async () => {
    const bytes = rpmPackage(named, [texts(278, "A \n".repeat(8_000_000))]);
    const before = process.cpuUsage();
    expect(await inspect(bytes)).toMatchObject({
      verdict: "malformed",
      reason: "signature 278, number 1, is not an OpenPGP packet",
    });
    expect(process.cpuUsage(before).user).toBeLessThan(2_000_000);
  });

  test("is refused if its paths take far more memory than its header", async () => {
    const names = Array.from({ length: 1000 }, (_, index) => `${index}`);
    const folder = [
      integers(1116, ...names.map(() => 0)),
      texts(1117, ...names),
      texts(1118, `/${"x".repeat(100_000)}/`),
    ];
    expect(await inspect(rpmPackage([...named, ...folder], [], cpio(...entries([0]))))).toMatchObject({
      verdict: "refuse",
      reason: "the paths of its files have over 50000000 characters together",
    });
  });

  test("is named if its payload is aligned to blocks", async () => {
    const aligned = rpmPackage([...named, texts(1049, "rpmlib(PayloadAlignment)")]);
    expect(await inspect(aligned)).toMatchObject({
      verdict: "unsupported-format",
      reason: "its payload is aligned to blocks (rpm 6.2), expected plain cpio",
    });
  });
});

test("a source package is named", async () => {
  const source = named.filter(({ tag }) => tag !== 1044);
  expect(await inspect(rpmPackage(source))).toMatchObject({
    verdict: "unsigned",
    notes: ["It is a source package, which the yum repository does not list."],
  });
});

describe("the payload", () => {
  const hashWord = "B1719822BE4DB4BBAD9C482B9DEB6328A4FD7AFA6B233A503974AC6F051F2F79";
  const agent = cpio(cpioFile("./usr/bin/agent", `\0${hashWord}\0`), cpioFile("./usr/bin/other", "other"));

  test("is searched for the hash of the self-check", async () => {
    const expected = { cryptolib_post: { expected_hash: hashWord } };
    expect(await inspect(rpmPackage(named, [], agent))).toMatchObject(expected);
    expect(await inspect(rpmPackage(named, [], agent), "/usr/bin/agent")).toMatchObject(expected);
    const good = await signedPackage([...named, ...covering(agent)], agent);
    expect(await inspect(good, "usr/bin/agent")).toMatchObject({ verdict: "ok", ...expected });
    expect(await inspect(good, "usr/bin/other")).toMatchObject({
      verdict: "malformed",
      reason:
        "usr/bin/other has no self-check hash, expected one word of 64 hexadecimal digits in upper case",
      cryptolib_post: null,
    });
  });

  test.each([
    ["in another format than cpio", "malformed", Buffer.from("no archive"), named, "where an entry begins"],
    [
      "with a path that leads outside",
      "malformed",
      cpio(cpioFile("../../etc/passwd", "x")),
      named,
      "leads out",
    ],
    ["with an early end", "bad-digest", payload.subarray(0, -9), named, ""],
    [
      "in a delta package",
      "unsupported-format",
      payload,
      [...named, text(1124, "drpm")],
      "has the format drpm, expected cpio",
    ],
    ["in bzip2", "unsupported-format", Buffer.from("BZh9"), named, "compressed with bzip2"],
  ] as const)("%s is refused", async (_, verdict, bytes, tags, reason) => {
    expect(await inspect(rpmPackage(tags, [], Buffer.from(bytes)))).toMatchObject({
      verdict,
      reason: expect.stringContaining(reason),
    });
  });

  test("is refused if it unpacks to more than the limit", async () => {
    const bomb = cpio(cpioFile("zeros", "\0".repeat(1 << 20)));
    const options = { ...optionsWith(keys), limit: 1 << 16 };
    expect(await inspectBytes(inspectRpm, rpmPackage(named, [], bomb), options)).toMatchObject({
      verdict: "refuse",
    });
  });
});
