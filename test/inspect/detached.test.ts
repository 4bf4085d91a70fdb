import { config, enums, type PrivateKey, type SignaturePacket } from "openpgp";
import { beforeAll, describe, expect, test } from "vitest";
import { inspectSignatureFile } from "../../inspect/detached.ts";
import type { Keys } from "../../inspect/keys.ts";
import { readKeys } from "../../inspect/read-keys.ts";
import { inspectBytes, now, optionsWith } from "../support/artifacts.ts";
import {
  day,
  framed,
  keysWith,
  made,
  newKey,
  publicFile,
  signaturePacket,
  signed,
} from "../support/openpgp.ts";

const content = Buffer.from("what is signed\n");
let key: PrivateKey;
let keys: Keys;
beforeAll(async () => {
  key = await newKey();
  keys = await keysWith(key);
});

const inspect = (
  signature: Uint8Array,
  allowed: Keys,
  beside: Record<string, Uint8Array> = { file: content },
) => inspectBytes(inspectSignatureFile, signature, optionsWith(allowed, beside), "file.sig");

describe("a signature is valid with every kind of key that gpg makes", () => {
  test.each([
    ["Ed25519 as gpg has it", { type: "ecc", curve: "ed25519Legacy" }],
    ["Ed25519 of RFC 9580", { type: "curve25519" }],
    ["Ed448", { type: "curve448" }],
    ["NIST P-256", { type: "ecc", curve: "nistP256" }],
    ["NIST P-521", { type: "ecc", curve: "nistP521" }],
    ["RSA", { type: "rsa", rsaBits: 2048 }],
  ] as const)("%s", async (_, options) => {
    const other = await newKey(options);
    const allowed = await keysWith(other);
    const signature = await signed(other, content);
    const inspection = await inspect(signature, allowed);
    expect(inspection).toMatchObject({
      verdict: "ok",
      key_id: other.getFingerprint(),
      facts: { signs: "file" },
    });
    expect((await inspect(signature, allowed, { file: Buffer.from("what is else\n") })).verdict).toBe(
      "bad-signature",
    );
  });
});

describe("a signature is refused", () => {
  const cases: [string, string, string, Parameters<typeof signed>[2]][] = [
    [
      "from a time before its key",
      "untrusted-key",
      "before its key",
      { date: new Date(made.getTime() - day) },
    ],
    ["from a time in two days", "untrusted-key", "which is in the future", { date: new Date(now + 2 * day) }],
    ["for text data", "unsupported-format", "not over binary data", { type: enums.signature.text }],
    [
      "after it expired",
      "expired-certificate",
      "expired on 2026-11-20",
      {
        change: (packet) =>
          Object.assign(packet, { signatureExpirationTime: 3600, signatureNeverExpires: false }),
      },
    ],
    [
      "with an unknown critical notation",
      "unsupported-format",
      "notation strange@release.example",
      { change: (packet: SignaturePacket) => packet.rawNotations.push({ ...notation, critical: true }) },
    ],
  ];
  const notation = {
    name: "strange@release.example",
    value: Buffer.from("x"),
    humanReadable: true,
    critical: false,
  };

  test.each(cases)("%s", async (_, verdict, reason, changes) => {
    const inspection = await inspect(await signed(key, content, changes), keys);
    expect(inspection).toMatchObject({ verdict, reason: expect.stringContaining(reason) });
  });

  test.each([
    [1, "weak-digest", "it is signed over MD5, expected SHA256 or better"],
    [2, "weak-digest", "it is signed over SHA1, expected SHA256 or better"],
    [3, "weak-digest", "it is signed over RIPEMD160, expected SHA256 or better"],
    [99, "unsupported-format", "it is signed over digest 99, which is unknown"],
    [8, "bad-signature", `does not fit what it should sign`],
  ])("with the claim of digest %d", async (digest, verdict, reason) => {
    const body = Buffer.from((await signaturePacket(key, content)).write());
    body[3] = digest;
    const inspection = await inspect(framed(body), keys);
    expect(inspection).toMatchObject({ verdict, reason: expect.stringContaining(reason) });
  });

  test("except for a harmless notation, or a clock that is ahead by a minute", async () => {
    const change = (packet: SignaturePacket) => packet.rawNotations.push(notation);
    const signature = await signed(key, content, { change, date: new Date(now + 60_000) });
    expect(await inspect(signature, keys)).toMatchObject({ verdict: "ok" });
  });
});

describe("the verdict depends on the key:", () => {
  test("an unknown key is untrusted", async () => {
    expect(await inspect(await signed(key, content), await keysWith(await newKey()))).toMatchObject({
      verdict: "untrusted-key",
      key_id: key.getFingerprint(),
      reason: `it is signed by ${key.getFingerprint()}, which is not an allowed key`,
    });
  });

  test("a key that is expired now is refused, even if it was valid then", async () => {
    const short = await newKey({ keyExpirationTime: (19.5 * day) / 1000 });
    const signature = await signed(short, content, { date: new Date(now - day) });
    expect(await inspect(signature, await keysWith(short))).toMatchObject({
      verdict: "expired-certificate",
      reason: expect.stringMatching(/expired on 2026-11-21$/),
    });
  });

  test.each([
    [{ notBefore: now - day / 2 }, "untrusted-key"],
    [{ notAfter: now - 2 * day }, "untrusted-key"],
    [{ notBefore: now - 2 * day, notAfter: now }, "ok"],
  ])("a key counts within its configured time: %j is %s", async (window, verdict) => {
    const allowed = await readKeys([{ ...publicFile(key), ...window }]);
    expect(await inspect(await signed(key, content), allowed)).toMatchObject({ verdict });
  });

  test("a revoked key is refused, also if only another copy is revoked, or after the signature", async () => {
    const revoked = await key.revoke(
      { flag: enums.reasonForRevocation.keySuperseded },
      new Date(now - day / 2),
    );
    const signature = await signed(key, content);
    expect(await inspect(signature, await keysWith(key, revoked))).toMatchObject({ verdict: "revoked-key" });
    expect(await inspect(signature, await keysWith(revoked))).toMatchObject({ verdict: "revoked-key" });
  });

  test("a signing subkey is accepted", async () => {
    const several = await newKey({ subkeys: [{ sign: true }] });
    const [subkey] = several.subkeys;
    if (!subkey) throw new Error("it has no subkey");
    const signature = await signed(several, content, { by: subkey });
    const good = await inspect(signature, await keysWith(several));
    expect(good).toMatchObject({ verdict: "ok", key_id: subkey.getFingerprint() });
    several.subkeys[0] = await subkey.revoke(several.keyPacket as never, {}, new Date(now), config as never);
    expect(await inspect(signature, await keysWith(several))).toMatchObject({ verdict: "revoked-key" });
    expect(await inspect(await signed(several, content), await keysWith(several))).toMatchObject({
      verdict: "ok",
    });
  });

  test("a subkey that another person added to a certificate is refused", async () => {
    const [victim, thief] = [await newKey(), await newKey({ subkeys: [{ sign: true }] })];
    const [subkey] = thief.subkeys;
    if (!subkey) throw new Error("it has no subkey");
    const signature = await signed(thief, content, { by: subkey });
    victim.subkeys.push(subkey);
    expect(await inspect(signature, await keysWith(victim))).toMatchObject({ verdict: "untrusted-key" });
  });
});

describe("a malformed signature file is refused:", () => {
  const armored = (body: string, more = "") =>
    Buffer.from(`-----BEGIN PGP SIGNATURE-----\n${more}\n${body}-----END PGP SIGNATURE-----\n`);
  const lines = (bytes: Uint8Array) =>
    Buffer.from(bytes)
      .toString("base64")
      .replace(/.{1,64}/g, "$&\n");

  test("with invalid armor", async () => {
    const signature = await signed(key, content);
    const body = lines(signature);
    const cases: [Uint8Array, string, string][] = [
      [armored(body), "ok", ""],
      [armored(body, "Comment: made by hand\n"), "ok", ""],
      [Buffer.from(armored(body).toString().replaceAll("\n", "\r\n")), "ok", ""],
      [armored(body, "Comment\n"), "malformed", "has other headers"],
      [armored(`${body}=AAAA\n`), "malformed", "does not have the checksum"],
      [armored(body.replace(/.\n/, "*\n")), "malformed", "something other than base64"],
      [armored(body.replace("\n", "\n\n")), "malformed", "something other than base64"],
      [armored(body).subarray(0, -30), "malformed", "has no END PGP SIGNATURE"],
      [
        Buffer.concat([armored(body), Buffer.from("more\n")]),
        "malformed",
        "text follows the end of file.sig",
      ],
      [
        Buffer.from(armored(body).toString().replaceAll("SIGNATURE", "MESSAGE")),
        "malformed",
        "does not begin with BEGIN PGP SIGNATURE",
      ],
    ];
    for (const [bytes, verdict, reason] of cases)
      expect(await inspect(bytes, keys)).toMatchObject({ verdict, reason: expect.stringContaining(reason) });
  });

  test.each([
    ["empty", () => Buffer.alloc(0), "is not an OpenPGP packet"],
    ["two signatures", (one: Uint8Array) => Buffer.concat([one, one]), "expected one OpenPGP packet"],
    [
      "longer than its packet",
      (one: Uint8Array) => Buffer.concat([one, Buffer.alloc(1)]),
      "expected one OpenPGP packet",
    ],
    ["a packet in parts", () => Buffer.from([0xc2, 0xe1, 4, 0]), "expected one OpenPGP packet"],
    [
      "another packet",
      () => Buffer.from([0xcb, 2, 0x62, 0]),
      "is an OpenPGP packet of type 11, expected a signature",
    ],
    ["cut off inside", (one: Uint8Array) => framed(one.subarray(6, 26)), "cannot be read"],
    ["too long", () => Buffer.alloc((1 << 20) + 1), "expected 1048576 at most"],
  ])("%s", async (_, change, reason) => {
    const inspection = await inspect(change(await signed(key, content)), keys);
    expect(inspection).toMatchObject({ verdict: "malformed", reason: expect.stringContaining(reason) });
  });

  test.each([[3], [5], [6]])("a signature of version %d", async (version) => {
    const inspection = await inspect(framed(Buffer.from([version, ...Buffer.alloc(20)])), keys);
    expect(inspection).toMatchObject({
      verdict: "unsupported-format",
      reason: `file.sig is a signature of version ${version}, expected 4`,
    });
  });

  test("a signature that names no key, or two", async () => {
    const packet = await signaturePacket(key, content, {
      unhashed: [{ type: 16, critical: false, body: Buffer.alloc(8) }],
    });
    expect(await inspect(framed(packet.write()), keys)).toMatchObject({
      reason: expect.stringContaining("names two issuers"),
    });
    const nobodys = Buffer.from("04001b0a0006050260000000000000".padEnd(160, "0"), "hex");
    expect(await inspect(framed(nobodys), keys)).toMatchObject({
      verdict: "malformed",
      reason: "file.sig does not name its key",
    });
  });

  test("a length that is not the shortest form", async () => {
    const packet = await signaturePacket(key, content, {
      unhashed: [{ type: 100, critical: false, body: Buffer.from([1]) }],
    });
    const body = Buffer.from(packet.write());
    expect(await inspect(framed(body), keys)).toMatchObject({
      verdict: "ok",
      uncovered: [{ to: expect.any(Number) }],
    });
    // The length of its unhashed subpacket, 2, in five octets instead of one.
    const at = packet.signatureData?.length ?? 0;
    const longer = Buffer.concat([
      body.subarray(0, at),
      Buffer.from([0, 7, 255, 0, 0, 0, 2]),
      body.subarray(at + 3),
    ]);
    const inspection = await inspect(framed(longer), keys);
    expect(inspection).toMatchObject({
      verdict: "malformed",
      reason: "file.sig is not written in its shortest form",
    });
  });

  test("without the signed file next to it", async () => {
    expect(await inspect(await signed(key, content), keys, {})).toMatchObject({
      verdict: "refuse",
      reason: "the file that file.sig signs is not next to it, expected file there",
    });
  });
});
