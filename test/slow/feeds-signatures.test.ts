import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import * as openpgp from "openpgp";
import { beforeAll, describe, expect, test } from "vitest";
import { dearmored } from "../../shared/openpgp-armor.ts";
import { aptClient } from "../support/apt-client.ts";
import { feedKey, feedSecrets, fingerprintOf, type ListedKey, writeFeedKeys } from "../support/feed-keys.ts";
import { freePort } from "../support/port.ts";
import { relcat, temporaryFolder } from "../support/run.ts";
import { signedFeeds } from "../support/signed-feeds.ts";
import { newSigner } from "../support/stock-packages.ts";
import { serveFiles } from "../trust/support.ts";

/** Signatures of package repositories, checked by gpgv, sqv and apt of Debian. */

type Key = openpgp.PrivateKey;
type Project = Awaited<ReturnType<typeof signedFeeds>>;

const kinds = ["InRelease", "Release.gpg", "repomd.xml.asc"] as const;
type Kind = (typeof kinds)[number];

interface SignedFiles {
  /** Armored signature, or the clear-signed file. */
  signature: string;
  /** File that it signs; undefined: the text in the file itself. */
  signed: string | undefined;
}

const filesOf = (kind: Kind): { signature: string; signed?: string } =>
  ({
    InRelease: { signature: "dists/jammy/InRelease" },
    "Release.gpg": { signature: "dists/jammy/Release.gpg", signed: "dists/jammy/Release" },
    "repomd.xml.asc": {
      signature: "yum/stable/repodata/repomd.xml.asc",
      signed: "yum/stable/repodata/repomd.xml",
    },
  })[kind];

function readSigned({ dist }: Project, kind: Kind): SignedFiles {
  const { signature, signed } = filesOf(kind);
  const read = (path: string) => readFileSync(join(dist, path), "utf8");
  return { signature: read(signature), signed: signed === undefined ? undefined : read(signed) };
}

/** Writes files into a folder of their own. */
function written(files: Record<string, string | Uint8Array>): (name: string) => string {
  const folder = temporaryFolder();
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  return (name) => join(folder, name);
}

/** Keyring of a client. */
const keyring = (...certificates: string[]) =>
  Buffer.concat(certificates.flatMap((text) => dearmored("PGP PUBLIC KEY BLOCK", text)));

/** Fingerprints whose signature gpgv finds good. */
async function gpgv({ signature, signed }: SignedFiles, ...certificates: string[]): Promise<string[]> {
  const at = written({
    signature,
    "keyring.gpg": keyring(...certificates),
    ...(signed !== undefined && { signed }),
  });
  const args = ["--status-fd", "1", "--keyring", at("keyring.gpg"), at("signature")];
  const { stdout } = await execa("gpgv", [...args, ...(signed === undefined ? [] : [at("signed")])], {
    reject: false,
  });
  const found = stdout.matchAll(/VALIDSIG .* ([0-9A-F]{40})$/gm);
  return [...new Set(found.map(([, fingerprint = ""]) => fingerprint))];
}

/** Whether sqv accepts it. It reads detached signatures alone: apt takes InRelease apart in the same way. */
async function sqv({ signature, signed }: SignedFiles, ...certificates: string[]): Promise<boolean> {
  const [, text = "", armor = ""] =
    /^[\s\S]*?\n\n([\s\S]*)\n(-----BEGIN PGP SIGNATURE-----[\s\S]*)$/.exec(signature) ?? [];
  const at = written({
    signature: signed === undefined ? armor : signature,
    signed: signed ?? text,
    "keyring.gpg": keyring(...certificates),
  });
  const { exitCode } = await execa("sqv", ["--keyring", at("keyring.gpg"), at("signature"), at("signed")], {
    reject: false,
  });
  return exitCode === 0;
}

const tampered = ({ signature, signed }: SignedFiles): SignedFiles =>
  signed === undefined
    ? { signature: signature.replace("Suite: jammy", "Suite: jammx"), signed }
    : { signature, signed: `${signed} ` };

async function signBuild(made: Project, env: Record<string, string>): Promise<void> {
  await made.succeed("build", "--released");
  const { exitCode, stderr } = await relcat(made.folder, ["sign"], { env: { ...made.env, ...env } });
  expect(exitCode, stderr).toBe(0);
}

let old: Key;
let next: Key;
beforeAll(async () => {
  const date = new Date("2026-09-01T00:00:00Z");
  [old, next] = [await feedKey({ type: "rsa", rsaBits: 3072, date }), await feedKey({ date })];
});
const certificateOf = (key: Key): string => key.toPublic().armor();

describe("the key of relcat trust init", () => {
  let made: Project;
  let certificate: string;
  let fingerprint: string;
  beforeAll(async () => {
    made = await signedFeeds([]);
    const keys = join(temporaryFolder(), "keys");
    await made.succeed("trust", "init", keys, "--openpgp");
    ({ fingerprint } = JSON.parse(made.read("releases/trust/openpgp/keys.json")).keys[0]);
    certificate = made.read(`releases/trust/openpgp/${fingerprint}.asc`);
    await signBuild(made, { RELCAT_OPENPGP_KEY: readFileSync(join(keys, "openpgp.asc"), "utf8") });
  });

  test.each(kinds)("makes %s, which gpgv and sqv accept, and refuse if one byte differs", async (kind) => {
    const files = readSigned(made, kind);
    expect(await gpgv(files, certificate)).toEqual([fingerprint]);
    expect(await sqv(files, certificate)).toBe(true);
    expect(await gpgv(tampered(files), certificate)).toEqual([]);
    expect(await sqv(tampered(files), certificate)).toBe(false);
    expect(await gpgv(files, certificateOf(old))).toEqual([]);
    expect(await sqv(files, certificateOf(old))).toBe(false);
  });

  test("is RSA of 4096 bits without an end, for GnuPG too", async () => {
    const at = written({ "key.asc": made.read("dist/keys/acme.asc") });
    const { stdout } = await execa("gpg", ["--with-colons", "--show-keys", at("key.asc")]);
    expect(stdout).toMatch(/^pub:[^:]*:4096:1:[0-9A-F]{16}:\d+::/m);
    expect(stdout).toContain("uid:");
    expect(stdout).toContain("Acme package repository <releases@downloads.example.com>");
  });
});

test.each(kinds)("while two keys sign %s, gpgv and sqv accept it with either keyring", async (kind) => {
  const made = await signedFeeds([
    { key: old, state: "signing" },
    { key: next, state: "signing" },
  ]);
  await signBuild(made, {});
  const files = readSigned(made, kind);
  for (const key of [old, next]) {
    expect(await gpgv(files, certificateOf(key))).toEqual([fingerprintOf(key)]);
    expect(await sqv(files, certificateOf(key))).toBe(true);
  }
  const offered = made.read("dist/keys/acme.asc");
  expect(await gpgv(files, offered)).toEqual([old, next].map(fingerprintOf));
});

test("gpg signs as a program", async () => {
  const signer = await newSigner(join(temporaryFolder(), "gpg"), "rsa3072");
  const certificate = openpgp.armor(openpgp.enums.armor.publicKey, signer.certificate);
  const key = await openpgp.readKey({ armoredKey: certificate });
  const exec = [
    "gpg",
    "--homedir",
    signer.home,
    "--batch",
    "--armor",
    "--detach-sign",
    "--local-user",
    signer.id,
  ];
  const made = await signedFeeds([{ key: key as Key, state: "signing" }], {
    trust: { profile: "simple", openpgp: { key: { exec: [...exec, "{textmode}"], public: signer.id } } },
  });
  await signBuild(made, { RELCAT_OPENPGP_KEY: "" });
  for (const kind of kinds) {
    expect(await gpgv(readSigned(made, kind), certificate)).toEqual([signer.id]);
    expect(await sqv(readSigned(made, kind), certificate)).toBe(true);
  }
  const kept = readSigned(made, "InRelease").signature;
  await signBuild(made, { RELCAT_OPENPGP_KEY: "" });
  expect(readSigned(made, "InRelease").signature).toBe(kept);
});

test("apt with the .sources of before a rotation updates until the old key is retired", async () => {
  const port = await freePort();
  const listed = (before: ListedKey["state"], after?: ListedKey["state"]): ListedKey[] => [
    { key: old, state: before },
    ...(after ? [{ key: next, state: after }] : []),
  ];
  const made = await signedFeeds(listed("signing"), { base_url: `http://127.0.0.1:${port}` });
  mkdirSync(made.dist);
  await serveFiles(made.dist, port);
  const rotate = async (...keys: ListedKey[]) => {
    writeFeedKeys(made.folder, keys);
    await signBuild(made, feedSecrets(...keys.map(({ key }) => key)));
  };
  await rotate(...listed("signing"));
  const client = aptClient();
  client.use(made.read("dist/acme-jammy.sources"));
  const update = async () =>
    (await client.run("apt-get", "update", "-o", "APT::Update::Error-Mode=any")).exitCode;
  expect(await update()).toBe(0);
  await rotate(...listed("signing", "announced"));
  const announced = made.read("dist/acme-jammy.sources");
  expect(await update()).toBe(0);
  await rotate(...listed("signing", "signing"));
  expect(await update()).toBe(0);
  await rotate(...listed("retired", "signing"));
  expect(await update()).not.toBe(0);
  client.use(announced);
  expect(await update()).toBe(0);
});
