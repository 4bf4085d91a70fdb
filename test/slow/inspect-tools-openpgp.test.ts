import { createHash } from "node:crypto";
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bytesSource } from "../../inspect/bytes/byte-source.ts";
import { inspectSignatureFile } from "../../inspect/detached.ts";
import type { Reader } from "../../inspect/inspection.ts";
import type { Keys } from "../../inspect/keys.ts";
import { inspectDeb } from "../../inspect/packages/deb/deb.ts";
import { readRpmLayout } from "../../inspect/packages/rpm/layout.ts";
import { inspectRpm } from "../../inspect/packages/rpm/rpm.ts";
import { readKeys } from "../../inspect/read-keys.ts";
import { cases } from "../inspect/openpgp-readers.ts";
import { allowedKeys, inspectArtifact, inspectBytes, optionsWith, pathOf } from "../support/artifacts.ts";
import { allowDebsig, debsigFolders } from "../support/debsig.ts";
import { binary, integers, type RpmTag, rpmFile, rpmHeader, text } from "../support/rpm.ts";
import { dpkgDeb, gpg, newSigner, rpmbuild, rpmsign, type Signer } from "../support/stock-packages.ts";

/** Compares relcat with rpm, debsig-verify and gpgv of Debian. */
const keyFolder = resolve(import.meta.dirname, "../fixtures/artifacts/keys");
const owners = ["rsa4096", "ed25519", "subkey", "revoked"];

let folder: string;
/** Content of the packages. */
let tree: string;
let keys: Keys;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "relcat-tools-"));
  tree = join(folder, "tree");
  mkdirSync(join(tree, "usr/bin"), { recursive: true });
  writeFileSync(join(tree, "usr/bin/agent"), "agent\n");
  keys = await allowedKeys();
  for (const owner of owners) await rpmkeys("--import", join(keyFolder, `${owner}.asc`));
  for (const key of keys.openpgp.filter(({ file }) => file.endsWith(".gpg")))
    allowDebsig(folder, key, readFileSync(join(keyFolder, key.file)));
  writeFileSync(
    join(folder, "keyring.gpg"),
    Buffer.concat(owners.map((owner) => readFileSync(join(keyFolder, `${owner}.gpg`)))),
  );
});
// The agents of gpg end when their folder is gone; until then they may still write into it.
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));

const rpmkeys = (...args: string[]) =>
  execa("rpmkeys", ["--dbpath", join(folder, "rpmdb"), ...args], { reject: false });

const debsigVerify = (file: string) =>
  execa("debsig-verify", [...debsigFolders(folder), file], { reject: false });

const gpgv = (...args: string[]) =>
  execa("gpgv", ["--keyring", join(folder, "keyring.gpg"), ...args], { reject: false });

/** Fixtures that only the tool accepts, and one that only relcat accepts, with the reasons. */
const differences: Readonly<Record<string, string>> = {
  "rpm/signed-revoked.rpm": "rpm imports a revoked key like any other",
  "rpm/stripped.rpm": "rpm takes digests alone for good",
  "rpm/unsigned-gzip.rpm": "rpm takes digests alone for good",
  "rpm/unsigned-xz.rpm": "rpm takes digests alone for good",
  "rpm/unsigned-zstd.rpm": "rpm takes digests alone for good",
  "deb/duplicate-data.deb": "debsig-verify takes the first of two data members, dpkg may take the other",
  "deb/extra-member.deb": "debsig-verify passes over members that it does not know",
  "deb/signed-revoked.deb": "debsig-verify does not ask whether the key is revoked",
  "deb/signed-subkey.deb":
    "debsig-verify looks for a policy of the subkey, relcat allows all that a certificate binds",
  "helm/tampered-chart/acme-1.2.3.tgz.prov": "gpgv sees the signature alone, not the chart",
  "helm/trailing/acme-1.2.3.tgz.prov": "gpgv passes over text after the signature",
  "helm/wrong-name/acme-1.2.3.tgz.prov": "gpgv sees the signature alone, not the chart",
};

describe("the tool and relcat agree, except for the files of the table, about", () => {
  const compared = cases.filter(({ type }) => type !== "helm");
  const passes = async (file: string, type: string): Promise<boolean> => {
    const path = pathOf(file);
    const tools: Record<string, () => Promise<{ exitCode?: number | undefined }>> = {
      rpm: () => rpmkeys("--checksig", path),
      deb: () => debsigVerify(path),
      "helm-prov": () => gpgv(path),
      openpgp: () => (file.endsWith("SUMS.asc") ? gpgv(path) : gpgv(path, path.slice(0, -".asc".length))),
    };
    return (await tools[type]?.())?.exitCode === 0;
  };
  test.each(compared.map(({ file, type, read }) => ({ file, type, read })))(
    "$file",
    async ({ file, type, read }) => {
      const { verdict } = await inspectArtifact(read, file, keys);
      const isSame = (await passes(file, type)) === (verdict === "ok");
      expect(isSame).toBe(differences[file] === undefined);
    },
  );
});

describe("rpm accepts, and relcat does not call damaged,", () => {
  let main: Buffer;
  let payload: Buffer;
  beforeAll(async () => {
    const bytes = readFileSync(await rpmbuild(join(folder, "claims"), tree, "w6.gzdio"));
    const layout = readRpmLayout(bytesSource(bytes, "agent.rpm"));
    main = bytes.subarray(layout.main.from, layout.main.to);
    payload = bytes.subarray(layout.main.to);
  });

  const digest = (name: string) => createHash(name).update(main).digest("hex");
  const accepted = async (path: string) => {
    const { exitCode } = await rpmkeys("--checksig", "--nosignature", path);
    const { verdict } = await inspectBytes(inspectRpm, readFileSync(path), optionsWith(keys));
    return { rpm: exitCode === 0, verdict };
  };

  test.each([
    ["a package of rpm 4.11.90 with a wrong size", "Rimmer-1.0.2-2.x86_64.rpm", "unsigned"],
    ["signatures of rpm 6", "empty-signed-v6-multiple-0-0.x86_64.rpm", "untrusted-key"],
  ])("%s", async (_, name, verdict) => {
    const path = resolve(import.meta.dirname, "../fixtures/foreign-rpm", name);
    expect(await accepted(path)).toEqual({ rpm: true, verdict });
  });

  test.each<[string, () => RpmTag[], (bytes: Buffer) => Buffer, boolean]>([
    ["the SHA3-256 of rpm 6", () => [text(279, digest("sha3-256"))], (bytes) => bytes, true],
    ["an unknown tag", () => [text(280, "later")], (bytes) => bytes, true],
    ["other sizes", () => [integers(1000, 1), integers(1007, 1)], (bytes) => bytes, true],
    ["a digest twice", () => [text(273, "0".repeat(64))], (bytes) => bytes, true],
    ["something in reserved space", () => [binary(1008, Buffer.from("x"))], (bytes) => bytes, true],
    ["a size of another type", () => [binary(1007, Buffer.alloc(4))], (bytes) => bytes, true],
    ["an unpacked payload", () => [], (bytes) => gunzipSync(bytes), true],
    ["but not a payload that was packed again", () => [], (bytes) => gzipSync(gunzipSync(bytes)), false],
  ])("%s", async (name, more, change, isAccepted) => {
    const path = join(folder, `${name.replaceAll(" ", "-")}.rpm`);
    const tags = [text(269, digest("sha1")), text(273, digest("sha256")), ...more()];
    writeFileSync(path, rpmFile(rpmHeader(62, tags), main, change(payload)));
    const verdict = isAccepted ? "unsigned" : "bad-digest";
    expect(await accepted(path)).toEqual({ rpm: isAccepted, verdict });
  });
});

describe.each([["rsa3072"], ["ed25519"]])(
  "a package that is built and signed here with a %s key is ok",
  (algorithm) => {
    let builder: Signer;
    let home: string;
    let own: Keys;
    beforeAll(async () => {
      home = join(folder, `gnupg-${algorithm}`);
      const { certificate, ...signer } = await newSigner(home, algorithm);
      builder = signer;
      own = await readKeys([{ name: "key.gpg", bytes: certificate }]);
      for (const key of own.openpgp) allowDebsig(folder, key, certificate);
      appendFileSync(join(folder, "keyring.gpg"), certificate);
    });

    const inspect = (read: Reader, path: string, beside: Record<string, Uint8Array> = {}) =>
      inspectBytes(
        read,
        readFileSync(path),
        { ...optionsWith(own, beside), now: Date.now() },
        basename(path),
      );

    test.each([["w9.gzdio"], ["w6.xzdio"], ["w3.zstdio"]])(
      "from rpmbuild and rpmsign, compressed as %s",
      async (compression) => {
        const path = await rpmbuild(join(home, compression), tree, compression);
        expect(await inspect(inspectRpm, path)).toMatchObject({
          verdict: "unsigned",
          facts: { name: "agent", version: "26.8.1" },
        });
        for (const form of [[], ["--rpmv3"]]) {
          await rpmsign(path, builder, ...form);
          expect(await inspect(inspectRpm, path)).toMatchObject({
            verdict: "ok",
            key_id: builder.id.slice(-16).toLowerCase(),
          });
        }
      },
    );

    test.each([["gzip"], ["xz"]])("from dpkg-deb and debsigs, compressed with %s", async (compression) => {
      const path = await dpkgDeb(join(home, `deb-${compression}`), tree, compression);
      expect(await inspect(inspectDeb, path)).toMatchObject({
        verdict: "unsigned",
        facts: { name: "agent", version: "26.8.1" },
      });
      await execa("debsigs", ["--sign=origin", "-k", builder.id, path], { env: { GNUPGHOME: home } });
      expect(await inspect(inspectDeb, path)).toMatchObject({
        verdict: "ok",
        key_id: builder.id.toLowerCase(),
      });
      expect((await debsigVerify(path)).exitCode).toBe(0);
    });

    test("from gpg, detached and around a list", async () => {
      const signed = join(home, "signed");
      writeFileSync(signed, "content\n");
      for (const [ending, form] of [
        ["asc", ["--armor"]],
        ["sig", []],
      ] as const) {
        await gpg(builder, "--output", `${signed}.${ending}`, ...form, "--detach-sign", signed);
        expect(
          await inspect(inspectSignatureFile, `${signed}.${ending}`, { signed: readFileSync(signed) }),
        ).toMatchObject({ verdict: "ok" });
      }
      const list = join(home, "SHA256SUMS");
      writeFileSync(list, `${"0".repeat(64)}  one\n${"1".repeat(64)} *two  \n`);
      await gpg(builder, "--output", `${list}.asc`, "--clearsign", list);
      expect(await inspect(inspectSignatureFile, `${list}.asc`)).toMatchObject({
        verdict: "ok",
        facts: { files: { one: "0".repeat(64) } },
      });
    });
  },
);
