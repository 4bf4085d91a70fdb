import { createHash } from "node:crypto";
import { join } from "node:path";
import * as openpgp from "openpgp";
import { beforeAll, describe, expect, test } from "vitest";
import type { FeedKey } from "../../../pipeline/documents/feeds/keys.ts";
import { readCertificate, refuseTufKeys } from "../../../pipeline/trust/feeds/certificates.ts";
import { feedsToSign, signFeeds } from "../../../pipeline/trust/feeds/sign-feeds.ts";
import { openFeedSigners } from "../../../pipeline/trust/stores/feed-signers.ts";
import { feedKey, feedSecrets, fingerprintOf, writeProgram } from "../../support/feed-keys.ts";
import { temporaryFolder } from "../../support/run.ts";

const start = Date.parse("2026-10-01T00:00:00Z");
const minute = 60_000;
const day = 24 * 60 * minute;
const madeAt = new Date(start - day);

type Key = openpgp.PrivateKey;
type Files = Record<string, string>;

const body = (sum = "a") =>
  `Origin: Acme\nSuite: jammy\nArchitectures: amd64\nSHA256:\n ${sum.repeat(64)} 7 main/binary-amd64/Packages\n`;
const repomd = (revision = 0) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<repomd><revision>${revision}</revision></repomd>\n`;
const built = (changes: Files = {}): Files => ({
  "dists/jammy/Release.undated": body(),
  "yum/stable/repodata/repomd.xml": repomd(),
  [`yum/stable/repodata/${"b".repeat(64)}-primary.xml.gz`]: "packages",
  ...changes,
});

const listed = (key: Key, state: FeedKey["state"] = "signing"): FeedKey => ({
  fingerprint: fingerprintOf(key),
  armored: key.toPublic().armor(),
  state,
  since: "2026-09-30T00:00:00Z",
});

const trustOf = (spec: object, folder = ".") =>
  ({ profile: "simple", online: { env: "X" }, openpgp: [spec].flat(), folder }) as never;
const variable = trustOf({ env: "RELCAT_OPENPGP_KEY" });

interface Signing {
  keys: FeedKey[];
  secrets: Key[];
  files?: Files;
  /** Files from an earlier signing. */
  earlier?: Files[];
  now?: number;
  trust?: never;
  validDays?: number;
}

/** The files that signing adds. */
async function sign({
  keys,
  secrets,
  files = built(),
  earlier = [],
  now = start,
  trust = variable,
  validDays = 14,
}: Signing): Promise<Files> {
  const build = {
    schema_version: 1 as const,
    base_url: "https://downloads.example.com/acme",
    provisional: [],
    files: Object.fromEntries(Object.keys(files).map((path) => [path, { sha256: "", size: 0 }])),
  };
  const signers = await openFeedSigners({ trust, feedKeys: keys }, feedSecrets(...secrets), now);
  const made = await signFeeds({
    ...feedsToSign(build),
    build,
    read: (path) => Buffer.from(files[path] ?? ""),
    earlier: async (path) => earlier.flatMap((each) => each[path] ?? []).map((text) => Buffer.from(text)),
    signers,
    validDays,
    now,
  });
  return Object.fromEntries(made.map(({ path, bytes }) => [path, Buffer.from(bytes).toString()]));
}

/** Fingerprints whose signature openpgp.js finds good, by the file that is signed. */
async function verified(files: Files, keys: readonly Key[], path: string): Promise<string[]> {
  const certificates = keys.map((key) => key.toPublic());
  const options = { verificationKeys: certificates, date: new Date(start + 365 * day) };
  const result = path.endsWith("InRelease")
    ? await openpgp.verify({
        message: await openpgp.readCleartextMessage({ cleartextMessage: files[path] ?? "" }),
        ...options,
      })
    : await openpgp.verify({
        message: await openpgp.createMessage({
          binary: Buffer.from(files[path.replace(/\.(gpg|asc)$/, "")] ?? ""),
        }),
        signature: await openpgp.readSignature({ armoredSignature: files[path] ?? "" }),
        format: "binary",
        ...options,
      });
  const good = await Promise.all(
    result.signatures.map(async ({ keyID, verified: outcome }) => {
      await outcome;
      return keys.find((key) => key.getKeyID().equals(keyID));
    }),
  );
  return good.flatMap((key) => (key ? fingerprintOf(key) : []));
}

const datesOf = (release = "") => ({
  date: Date.parse(/^Date: (.*)$/m.exec(release)?.[1] ?? ""),
  until: Date.parse(/^Valid-Until: (.*)$/m.exec(release)?.[1] ?? ""),
});

const signatureTime = async (armoredSignature = "") =>
  (await openpgp.readSignature({ armoredSignature })).packets.map(({ created }) => Number(created));

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

let first: Key;
let second: Key;
let rsa: Key;
beforeAll(async () => {
  first = await feedKey({ date: madeAt });
  second = await feedKey({ date: madeAt });
  rsa = await feedKey({ type: "rsa", rsaBits: 2048, date: madeAt });
});

describe("an apt suite", () => {
  test("has InRelease, and Release with Release.gpg, with dates that allow for slow clocks", async () => {
    const made = await sign({ keys: [listed(rsa)], secrets: [rsa] });
    const release = made["dists/jammy/Release"] ?? "";
    expect(release).toBe(
      body().replace(
        "SHA256:",
        "Date: Wed, 30 Sep 2026 23:55:00 UTC\nValid-Until: Wed, 14 Oct 2026 23:55:00 UTC\nSHA256:",
      ),
    );
    expect(made["dists/jammy/InRelease"]).toContain(
      `Hash: SHA512\n\n${release}-----BEGIN PGP SIGNATURE-----\n`,
    );
    for (const path of ["dists/jammy/InRelease", "dists/jammy/Release.gpg"])
      expect(await verified(made, [rsa], path)).toEqual([fingerprintOf(rsa)]);
    expect(await signatureTime(made["dists/jammy/Release.gpg"])).toEqual([start - 5 * minute]);
  });

  test.each([["Ed25519"], ["RSA"]])("signed twice with %s, has the same bytes", async (kind) => {
    const key = kind === "RSA" ? rsa : first;
    const signing = { keys: [listed(key)], secrets: [key] };
    expect(await sign(signing)).toEqual(await sign(signing));
  });

  test("keeps its signature until half of its lifetime is over", async () => {
    const signing = { keys: [listed(first)], secrets: [first] };
    const before = await sign(signing);
    expect(await sign({ ...signing, earlier: [before], now: start + 6 * day })).toEqual(before);
    const renewed = await sign({ ...signing, earlier: [before], now: start + 7 * day });
    expect(datesOf(renewed["dists/jammy/Release"])).toEqual({
      date: start + 7 * day - 5 * minute,
      until: start + 21 * day - 5 * minute,
    });
  });

  test("has a new signature for other content, another number of days, and other keys", async () => {
    const signing = { keys: [listed(first)], secrets: [first] };
    const earlier = [await sign(signing)];
    const later = { ...signing, earlier, now: start + day };
    for (const changed of [
      { files: built({ "dists/jammy/Release.undated": body("c") }) },
      { validDays: 7 },
      { keys: [listed(first), listed(second)], secrets: [first, second] },
    ]) {
      const made = await sign({ ...later, ...changed });
      expect(datesOf(made["dists/jammy/InRelease"]).date).toBe(start + day - 5 * minute);
    }
  });

  test("never has an earlier date than the live one, unless a clock that was ahead made that", async () => {
    const signing = { keys: [listed(first)], secrets: [first] };
    const live = await sign(signing);
    const files = built({ "dists/jammy/Release.undated": body("c") });
    const dateAt = async (now: number) =>
      datesOf((await sign({ ...signing, files, earlier: [live], now }))["dists/jammy/InRelease"]).date;
    expect(await dateAt(start - 2 * minute)).toBe(start - 5 * minute);
    expect(await dateAt(start - 60 * minute)).toBe(start - 65 * minute);
    const same = await sign({ ...signing, earlier: [live], now: start - 60 * minute });
    expect(datesOf(same["dists/jammy/Release"]).date).toBe(start - 65 * minute);
  });

  test("takes no date from what another key signed, and keeps nothing that was changed", async () => {
    const signing = { keys: [listed(first)], secrets: [first] };
    const forged = await sign({ keys: [listed(second)], secrets: [second], now: start + 1000 * day });
    const made = await sign(signing);
    expect(await sign({ ...signing, earlier: [forged] })).toEqual(made);
    const path = "dists/jammy/InRelease";
    const changes: ((text: string) => string)[] = [
      (text) => text.replace("Origin: Acme", "Origin: Evil"),
      (text) => `${text}Origin: Evil\n`,
      (text) => text.replace("Hash: SHA512", "Hash: SHA512\nComment: Evil"),
      (text) => text.replace("SIGNATURE-----\n\n", "SIGNATURE-----\nComment: Evil\n\n"),
    ];
    for (const change of changes) {
      const planted = { ...made, [path]: change(made[path] ?? "") };
      expect(planted[path]).not.toBe(made[path]);
      expect((await sign({ ...signing, earlier: [planted] }))[path]).toBe(made[path]);
    }
  });
});

describe("a yum repository", () => {
  const asc = "yum/stable/repodata/repomd.xml.asc";

  test("is in a folder that is named after index and signature, and its mirrorlist names the folder", async () => {
    const made = await sign({ keys: [listed(rsa)], secrets: [rsa] });
    const folder = `yum/${sha256(repomd() + made[asc])}`;
    expect(made["yum/stable.mirrorlist"]).toBe(
      `https://downloads.example.com/acme/${folder}/\nhttps://downloads.example.com/acme/\n`,
    );
    expect(made[`${folder}/repodata/repomd.xml`]).toBe(repomd());
    expect(made[`${folder}/repodata/repomd.xml.asc`]).toBe(made[asc]);
    expect(made[`${folder}/repodata/${"b".repeat(64)}-primary.xml.gz`]).toBe("packages");
    const all = { ...built(), ...made };
    expect(await verified(all, [rsa], asc)).toEqual([fingerprintOf(rsa)]);
  });

  test("is signed at the time of its newest change, or when the key was made", async () => {
    const signing = { keys: [listed(first)], secrets: [first] };
    expect(await signatureTime((await sign(signing))[asc])).toEqual([Number(madeAt)]);
    const files = built({ "yum/stable/repodata/repomd.xml": repomd(start / 1000 - 3600) });
    expect(await signatureTime((await sign({ ...signing, files }))[asc])).toEqual([start - 3_600_000]);
  });

  test("is not signed in the future if its newest change has such a date", async () => {
    const files = built({ "yum/stable/repodata/repomd.xml": repomd(start / 1000 + 30 * 86_400) });
    const signing = { keys: [listed(first)], secrets: [first], files };
    const live = await sign(signing);
    expect(await signatureTime(live[asc])).toEqual([start]);
    expect((await sign({ ...signing, earlier: [live], now: start + day }))[asc]).toBe(live[asc]);
    const ahead = await sign({ ...signing, now: start + 40 * day });
    expect(await signatureTime((await sign({ ...signing, earlier: [ahead] }))[asc])).toEqual([start]);
  });

  test("has the same folder after a renewal, and another one for other keys", async () => {
    const signing = { keys: [listed(first)], secrets: [first] };
    const before = await sign(signing);
    const yumFiles = (files: Files) => Object.entries(files).filter(([path]) => path.startsWith("yum/"));
    expect(yumFiles(await sign({ ...signing, now: start + 100 * day }))).toEqual(yumFiles(before));
    const rotated = await sign({
      keys: [listed(first), listed(second)],
      secrets: [second, first],
      earlier: [before],
    });
    expect(rotated["yum/stable.mirrorlist"]).not.toBe(before["yum/stable.mirrorlist"]);
  });
});

test("while two keys sign, a client that knows one of them accepts everything, the oldest key first", async () => {
  const keys = [listed(second, "retired"), listed(first), listed(rsa), listed(second, "announced")].slice(1);
  const made = await sign({ keys, secrets: [rsa, first, second] });
  const all = { ...built(), ...made };
  for (const path of ["dists/jammy/InRelease", "dists/jammy/Release.gpg"])
    expect(await verified(all, [first, rsa], path)).toEqual([first, rsa].map(fingerprintOf));
  // zypper checks the last signature only.
  const repomd = await verified(all, [first, rsa], "yum/stable/repodata/repomd.xml.asc");
  expect(repomd).toEqual([first, rsa, first].map(fingerprintOf));
});

describe("a key is refused", () => {
  const refused = (signing: Partial<Signing>): Promise<{ code: string; message: string }> =>
    sign({ keys: [listed(first)], secrets: [first], ...signing }).then(
      () => expect.fail("it signed"),
      (error) => error.problems[0],
    );

  test("if it ends within 90 days", async () => {
    const ending = async (days: number) =>
      feedKey({ date: madeAt, keyExpirationTime: (start - Number(madeAt)) / 1000 + days * 86_400 });
    const [soon, later] = [await ending(89), await ending(91)];
    expect(await refused({ keys: [listed(soon)], secrets: [soon] })).toMatchObject({
      code: "feed-key",
      message: `the OpenPGP key ${fingerprintOf(soon)} ends on 2026-12-29, expected at least 90 days from now`,
      hint: expect.stringContaining("docs/runbooks/repository-key.md"),
    });
    await sign({ keys: [listed(later)], secrets: [later] });
    // Beside another key it serves the clients that know only it, as long as it lasts.
    const both = { keys: [listed(soon), listed(first)], secrets: [soon, first] };
    await sign(both);
    expect((await refused({ ...both, now: start + 89 * day })).message).toContain("ended on 2026-12-29");
  });

  test("if its signing subkey ends within 90 days", async () => {
    const keyExpirationTime = (start - Number(madeAt)) / 1000 + 80 * 86_400;
    const key = await feedKey({ date: madeAt, subkeys: [{ sign: true, keyExpirationTime } as never] });
    expect((await refused({ keys: [listed(key)], secrets: [key] })).message).toContain("ends on 2026-12-20");
  });

  test("with self-signatures over SHA-1", async () => {
    const weak = new openpgp.SignaturePacket();
    Object.assign(weak, {
      signatureType: openpgp.enums.signature.certPositive,
      hashAlgorithm: openpgp.enums.hash.sha1,
      publicKeyAlgorithm: rsa.keyPacket.algorithm,
      keyFlags: [openpgp.enums.keyFlags.certifyKeys | openpgp.enums.keyFlags.signData],
    });
    const sign = weak.sign.bind(weak) as unknown as (...args: unknown[]) => Promise<void>;
    const bound = { userID: rsa.users[0]?.userID, key: rsa.keyPacket };
    const config = { ...openpgp.config, nonDeterministicSignaturesViaNotation: false };
    await sign(rsa.keyPacket, bound, madeAt, false, config);
    const list = rsa.toPublic().toPacketList();
    list.splice(
      list.findIndex((packet) => packet instanceof openpgp.SignaturePacket),
      1,
      weak,
    );
    const armored = openpgp.armor(openpgp.enums.armor.publicKey, list.write());
    await (await openpgp.readKey({ armoredKey: armored })).getSigningKey();
    expect((await refused({ keys: [{ ...listed(rsa), armored }], secrets: [rsa] })).message).toContain(
      "has no self-signature that lets it sign, expected one of version 4 over SHA-256 or better",
    );
  });

  test("with self-signatures of version 3", async () => {
    const list = first.toPublic().toPacketList();
    const packets = Buffer.concat(
      list.map((packet) => {
        const one = new openpgp.PacketList<typeof packet>();
        one.push(packet);
        const bytes = Buffer.from(one.write());
        // RFC 9580, 5.2.2: version, length 5, type, time, key id, algorithms, two octets of the hash, the signature.
        const v3 = Buffer.concat([
          Buffer.from([0xc2, 19 + 2 + 32 + 2 + 32, 3, 5, 0x13, 0, 0, 0, 1]),
          Buffer.from(first.getKeyID().toHex(), "hex"),
          Buffer.from([22, 10, 0, 0]),
          ...[Buffer.from([1, 0]), Buffer.alloc(32, 0xff), Buffer.from([1, 0]), Buffer.alloc(32, 0xff)],
        ]);
        return packet instanceof openpgp.SignaturePacket ? v3 : bytes;
      }),
    );
    const armored = openpgp.armor(openpgp.enums.armor.publicKey, packets);
    expect((await refused({ keys: [{ ...listed(first), armored }] })).message).toContain(
      "has no self-signature",
    );
  });

  test("if it is revoked", async () => {
    const key = await feedKey({ date: madeAt });
    const { publicKey } = await openpgp.revokeKey({ key, date: madeAt, format: "object" });
    const keys = [{ ...listed(key), armored: publicKey.armor() }];
    expect((await refused({ keys, secrets: [key] })).message).toContain("is revoked");
  });

  test("if GnuPG cannot read its kind", async () => {
    const key = await feedKey({ type: "curve25519", curve: undefined as never, date: madeAt });
    expect((await refused({ keys: [listed(key)], secrets: [key] })).message).toContain(
      "is of the kind ed25519, expected RSA, or EdDSA as GnuPG makes it",
    );
  });

  test("if it was made after the time of signing", async () => {
    expect((await refused({ now: Number(madeAt) - day })).message).toContain(
      "is valid from 2026-09-30 on, which is after the time of signing",
    );
  });

  test("if its certificate belongs to another key or is missing", async () => {
    const wrong = [{ ...listed(second), fingerprint: fingerprintOf(first) }];
    expect((await refused({ keys: wrong })).message).toContain(
      `has the certificate of ${fingerprintOf(second)} in its file`,
    );
    const broken = [
      { ...listed(first), armored: openpgp.armor(openpgp.enums.armor.publicKey, Buffer.from("x")) },
    ];
    expect((await refused({ keys: broken })).message).toContain("cannot be read: ");
  });

  test("if it is missing, unknown, or has a passphrase", async () => {
    expect(await refused({ keys: [listed(first), listed(second)] })).toMatchObject({
      code: "key-unusable",
      message: `RELCAT_OPENPGP_KEY lacks the OpenPGP key ${fingerprintOf(second)}, which has signed since 2026-09-30`,
    });
    expect(await refused({ secrets: [first, second] })).toMatchObject({
      code: "key-untrusted",
      message: `RELCAT_OPENPGP_KEY has the OpenPGP key ${fingerprintOf(second)}, which releases/trust/openpgp does not list`,
    });
    expect(await refused({ secrets: [] })).toMatchObject({
      code: "key-unusable",
      message: "RELCAT_OPENPGP_KEY is not set, expected an OpenPGP private key in ASCII armor",
    });
    const locked = await openpgp.encryptKey({ privateKey: first, passphrase: "x" });
    expect((await refused({ secrets: [locked] })).message).toContain("has a key with a passphrase");
  });

  test("if it is a key of the TUF metadata too", async () => {
    const { Q = new Uint8Array() } = first.keyPacket.publicParams as { Q?: Uint8Array };
    const certificate = await readCertificate(first.toPublic().armor());
    const refuse = (...keys: Uint8Array[]) => refuseTufKeys([certificate], keys);
    expect(() => refuse(Buffer.alloc(32), Q.subarray(1))).toThrow(
      `feed-key: the OpenPGP key ${fingerprintOf(first)} is a key of the TUF metadata too`,
    );
    refuse(Buffer.alloc(32));
  });

  test("if none signs yet", async () => {
    expect(await refused({ keys: [listed(first, "announced")] })).toMatchObject({
      code: "feed-unsigned",
      hint: expect.stringContaining("relcat trust init KEYS-FOLDER --openpgp"),
    });
  });
});

test.each(["dists/jammy/Release", "yum/stable.mirrorlist"])(
  "a build that is made without signatures, with %s, is refused",
  (path) => {
    expect(() => feedsToSign({ files: { [path]: { sha256: "", size: 0 } } })).toThrow(
      `feed-unsigned: the build has a package repository without a signature: ${path}`,
    );
  },
);

describe("a program that signs", () => {
  /** Signs as gpg would, with the library of this test. */
  const program = (key: Key, wrong = "") => {
    const folder = temporaryFolder();
    writeProgram(
      join(folder, "signer.mjs"),
      `import { createMessage, readPrivateKey, sign } from ${JSON.stringify(import.meta.resolve("openpgp"))};
import { text } from "node:stream/consumers";
const input = await text(process.stdin)${wrong};
const isText = process.argv[2] === "--textmode";
const signingKeys = await readPrivateKey({ armoredKey: ${JSON.stringify(key.armor())} });
const message = await createMessage(isText ? { text: input } : { binary: Buffer.from(input) });
console.log(await sign({ message, signingKeys, detached: true }));\n`,
    );
    return trustOf({
      exec: [process.execPath, join(folder, "signer.mjs"), "{textmode}"],
      public: fingerprintOf(key),
    });
  };

  test("gives valid signatures, which are kept", async () => {
    const now = Date.now();
    const signing = { keys: [listed(rsa)], secrets: [], trust: program(rsa), now };
    const made = await sign(signing);
    const all = { ...built(), ...made };
    for (const path of [
      "dists/jammy/InRelease",
      "dists/jammy/Release.gpg",
      "yum/stable/repodata/repomd.xml.asc",
    ])
      expect(await verified(all, [rsa], path)).toEqual([fingerprintOf(rsa)]);
    expect(await sign({ ...signing, earlier: [made], now: now + day })).toEqual(made);
  });

  test.each<[string, () => object, string]>([
    ["signs other bytes", () => program(rsa, ' + "x"'), "made a signature that is not valid for"],
    [
      "fails",
      () => trustOf({ exec: ["false"], public: fingerprintOf(rsa) }),
      "the signer false failed: Command failed",
    ],
    [
      "prints no signature",
      () => trustOf({ exec: ["echo"], public: fingerprintOf(rsa) }),
      "it printed no armored signature",
    ],
  ])("is refused if it %s", async (_, trust, message) => {
    const signed = sign({ keys: [listed(rsa)], secrets: [], trust: trust() as never, now: Date.now() });
    await expect(signed).rejects.toThrow(message);
  });
});
