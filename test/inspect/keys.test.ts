import { generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import type { PrivateKey } from "openpgp";
import { beforeAll, describe, expect, test } from "vitest";
import { readKeys } from "../../inspect/read-keys.ts";
import { RelcatError } from "../../shared/errors.ts";
import { allowedKeys, keysIn, pathOf } from "../support/artifacts.ts";
import { made, newKey, publicFile } from "../support/openpgp.ts";

let key: PrivateKey;
let other: PrivateKey;
beforeAll(async () => {
  [key, other] = [await newKey(), await newKey()];
});

const problemsOf = async (name: string, bytes: Uint8Array | string) => {
  const error = await readKeys([{ name, bytes: Buffer.from(bytes as string) }]).then(
    () => undefined,
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(RelcatError);
  return (error as RelcatError).problems;
};

const fingerprints = async (bytes: Uint8Array) =>
  (await readKeys([{ name: "keys", bytes }])).openpgp.flatMap(({ signing }) =>
    signing.map(({ fingerprint }) => fingerprint),
  );

describe("certificates are read", () => {
  test("if they are armored, binary, or several in one file", async () => {
    const both = [key.getFingerprint(), other.getFingerprint()];
    expect(await fingerprints(Buffer.from(key.toPublic().armor()))).toEqual([key.getFingerprint()]);
    expect(await fingerprints(Buffer.from(key.toPublic().armor() + other.toPublic().armor()))).toEqual(both);
    expect(await fingerprints(Buffer.concat([key.toPublic().write(), other.toPublic().write()]))).toEqual(
      both,
    );
  });

  test("as PEM, as several of them with text between, and as DER", async () => {
    const { x509 } = await keysIn("ima.crt", "ima.der", "ova.crt");
    const [pem, der, ova] = x509.map(({ certificate }) => certificate);
    if (!pem || !ova) throw new Error("the fixtures are gone");
    expect(pem.fingerprint256).toBe(der?.fingerprint256);
    const bytes = Buffer.from(`subject: one\n${pem}\nsubject: two\n${ova}\n`);
    const several = await readKeys([{ name: "bundle.pem", bytes }]);
    expect(several.x509.map(({ file, certificate }) => [file, certificate.fingerprint256])).toEqual([
      ["bundle.pem", pem.fingerprint256],
      ["bundle.pem", ova.fingerprint256],
    ]);
  });

  test("from a folder that also contains lists for people", async () => {
    const { openpgp, x509 } = await allowedKeys();
    expect(new Set(openpgp.map(({ file }) => file)).size).toBe(8);
    expect(x509.map(({ file }) => file)).not.toContain("x509-certs.txt");
  });

  test("with their allowed time, their own end and their owner", async () => {
    const bytes = (await newKey({ keyExpirationTime: 3600 })).toPublic().write();
    const { openpgp } = await readKeys([{ name: "short.gpg", bytes, notBefore: 1, notAfter: 2 }]);
    expect(openpgp).toMatchObject([
      {
        file: "short.gpg",
        notBefore: 1,
        notAfter: 2,
        signing: [
          {
            userId: "Somebody <somebody@release.example>",
            expires: made.getTime() + 3_600_000,
            isRevoked: false,
          },
        ],
      },
    ]);
  });

  test("with all signing subkeys, and no others", async () => {
    const encrypting = await newKey({ subkeys: [{ sign: true }, {}] });
    expect(await fingerprints(encrypting.toPublic().write())).toEqual([
      encrypting.getFingerprint(),
      encrypting.subkeys[0]?.getFingerprint(),
    ]);
  });
});

describe("a key file is refused with", () => {
  const unknown = "holds no certificate, expected OpenPGP or X.509";
  const pem = (title: string, bytes: Uint8Array) =>
    `-----BEGIN ${title}-----\n${Buffer.from(bytes).toString("base64")}\n-----END ${title}-----\n`;
  const secret = generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" });
  const der = readFileSync(pathOf("../keys/ima.der"));
  const whole = readFileSync(pathOf("../keys/ed25519.asc"), "utf8");
  const mixed = "holds more than certificates of one kind, expected OpenPGP or X.509 alone, each complete";
  test.each([
    ["nothing", "", unknown],
    ["some text", "some text", unknown],
    [
      "a secret key as PEM",
      secret,
      "holds a private key, expected certificates; move it to where only its owner can read it",
    ],
    [
      "a certificate that cannot be read",
      pem("CERTIFICATE", Buffer.from("none")),
      "holds a certificate that cannot be read, expected X.509 as PEM or DER",
    ],
    [
      "DER that is no certificate",
      Buffer.from("3003020101", "hex"),
      "holds a certificate that cannot be read, expected X.509 as PEM or DER",
    ],
    [
      "two certificates as DER",
      Buffer.concat([der, der]),
      "holds a certificate that cannot be read, expected X.509 as PEM or DER",
    ],
    ["certificates of both kinds", pem("CERTIFICATE", der) + whole, mixed],
    ["a second certificate cut off", whole + whole.slice(0, 100), mixed],
    ["a certificate and a list of revocations", pem("CERTIFICATE", der) + pem("X509 CRL", der), mixed],
    ["a certificate cut off", "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nAAAA\n", unknown],
  ])("%s", async (_, bytes, message) => {
    expect(await problemsOf("file", bytes)).toMatchObject([
      {
        code: "key-unusable",
        message: `file ${message}`,
        hint: expect.stringMatching(/^Put nothing but certificates there/),
      },
    ]);
  });

  test("an OpenPGP secret key, armored or binary", async () => {
    expect(await problemsOf("file", key.armor())).toMatchObject([
      { message: expect.stringContaining("holds a private key") },
    ]);
    expect(await problemsOf("file", key.write())).toMatchObject([
      { message: expect.stringContaining("holds a private key") },
    ]);
  });

  test("a certificate that cannot sign", async () => {
    const bare = await newKey();
    bare.users = [];
    expect(await problemsOf("file", bare.toPublic().write())).toMatchObject([
      { message: `file holds ${bare.getFingerprint()}, which cannot sign` },
    ]);
  });

  test("several faults in one report", async () => {
    const files = ["a", "b"].map((name) => ({ name, bytes: Buffer.from("none") }));
    await expect(readKeys([...files, publicFile(key)])).rejects.toMatchObject({
      problems: [{ message: expect.stringMatching(/^a /) }, { message: expect.stringMatching(/^b /) }],
    });
  });
});
