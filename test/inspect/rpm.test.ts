import { createHash } from "node:crypto";
import type { PrivateKey } from "openpgp";
import { beforeAll, describe, expect, test } from "vitest";
import type { Inspection } from "../../pipeline/inspect/inspection.ts";
import type { Keys } from "../../pipeline/inspect/keys.ts";
import { inspectRpm } from "../../pipeline/inspect/packages/rpm/rpm.ts";
import { inspectBytes, optionsWith } from "../support/artifacts.ts";
import { keysWith, newKey, signed } from "../support/openpgp.ts";
import {
  binary,
  cpio,
  cpioFile,
  integers,
  named,
  type RpmTag,
  rpmFile,
  rpmHeader,
  rpmPackage,
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
  const long = (tag: number, value: number): RpmTag => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64BE(BigInt(value));
    return { tag, type: 5, count: 1, bytes };
  };
  const unpacked = 124;

  test.each([
    ["SHA-256 of the header", text(273, hash("sha256", main)), text(273, hash("sha256", payload))],
    ["SHA-1 of the header", text(269, hash("sha1", main)), text(269, hash("sha1", main).toUpperCase())],
    [
      "MD5 of header and payload",
      binary(1004, Buffer.from(hash("md5", whole), "hex")),
      binary(1004, Buffer.alloc(16)),
    ],
    ["size", integers(1000, whole.length), integers(1000, whole.length + 1)],
    ["size in 64 bits", long(270, whole.length), long(270, 1)],
    ["size unpacked", integers(1007, unpacked), integers(1007, unpacked + 4)],
    ["size unpacked in 64 bits", long(271, unpacked), long(271, 0)],
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
