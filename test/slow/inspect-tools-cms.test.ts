import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openXar } from "../../inspect/archives/xar.ts";
import { bytesSource } from "../../inspect/bytes/byte-source.ts";
import type { Keys } from "../../inspect/keys.ts";
import { slicesOf } from "../../inspect/packages/macho/macho.ts";
import { blobsOf, slots } from "../../inspect/packages/macho/signature.ts";
import { inspectMsi } from "../../inspect/packages/msi/msi.ts";
import { inspectPe } from "../../inspect/packages/pe/pe.ts";
import { cases } from "../inspect/cms-readers.ts";
import {
  allowedKeys,
  bytesOf,
  inspectArtifact,
  inspectBytes,
  optionsWith,
  pathOf,
} from "../support/artifacts.ts";
import { allowing, codeSigning, identity, pem, timeStamping } from "../support/certificates.ts";
import { msi } from "../support/msi.ts";
import { pagesOf, signedPe } from "../support/pe.ts";
import { installerSource } from "../support/stock-packages.ts";

/** Compares relcat with osslsigncode, wixl and openssl of Debian. */
const keyFolder = resolve(import.meta.dirname, "../fixtures/artifacts/keys");
const bothCas = ["codesign-ca.crt", "apple-like-ca.crt"];

let folder: string;
let keys: Keys;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "relcat-tools-"));
  keys = await allowedKeys();
  writeFileSync(
    join(folder, "cas.pem"),
    bothCas.map((file) => readFileSync(join(keyFolder, file), "utf8")).join(""),
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function isGoodForOsslsigncode(file: string, cas: string): Promise<boolean> {
  const { exitCode } = await execa(
    "osslsigncode",
    ["verify", "-CAfile", cas, "-TSA-CAfile", cas, "-in", file],
    { reject: false },
  );
  return exitCode === 0;
}

/** Fixtures with different verdicts, and the reasons. */
const differences: Readonly<Record<string, string>> = {
  "msi/signed-sha1.msi": "osslsigncode takes SHA-1, for which other files with the same hash can be made",
};

describe("osslsigncode agrees, except for the files of the table, about", () => {
  const files = cases
    .filter(({ type }) => type === "msi" || type === "pe")
    .map(({ file, read }) => [file, read] as const);
  test.each(files)("%s", async (file, read) => {
    const { verdict } = await inspectArtifact(read, file, keys);
    const tool = await isGoodForOsslsigncode(pathOf(file), join(folder, "cas.pem"));
    if (differences[file] === undefined) expect(tool).toBe(verdict === "ok");
    else expect([tool, verdict === "ok"]).toEqual([true, false]);
  });
});

/** Whether openssl accepts a CMS signature over this content, by one of the two CAs. */
async function isGoodForOpenssl(cms: Uint8Array, content: Uint8Array): Promise<boolean> {
  const [signature, signed] = ["signature.der", "content"].map((name) => join(folder, name)) as [
    string,
    string,
  ];
  writeFileSync(signature, cms);
  writeFileSync(signed, content);
  const { exitCode } = await execa(
    "openssl",
    [
      "cms",
      "-verify",
      "-binary",
      "-inform",
      "DER",
      "-in",
      signature,
      "-content",
      signed,
      "-CAfile",
      join(folder, "cas.pem"),
      "-purpose",
      "any",
      "-out",
      "/dev/null",
    ],
    { reject: false },
  );
  return exitCode === 0;
}

/** Debian has no program for these files, but openssl verifies their signatures over given content. */
describe("openssl agrees about the CMS signature of", () => {
  const broken = ["bad-digest", "bad-signature"];
  const installers = cases.filter(({ type, file }) => type === "pkg" && !/unsigned|rsa-only/.test(file));
  test.each(installers.map(({ file, read }) => [file, read] as const))("%s", async (file, read) => {
    const { verdict } = await inspectArtifact(read, file, keys);
    const { signatures, heap, hash } = await openXar(bytesSource(bytesOf(file)));
    const cms = signatures.find(({ style }) => style === "CMS");
    const bytes = Buffer.from(heap.read(cms?.offset ?? 0, cms?.size ?? 0));
    // These may have errors outside the signature.
    if (!broken.includes(verdict)) expect(await isGoodForOpenssl(bytes, hash)).toBe(verdict === "ok");
    else if (!(await isGoodForOpenssl(bytes, hash))) expect(verdict).not.toBe("ok");
  });

  test("each architecture of pkg/macho-universal-signed", async () => {
    for (const { content, signature } of slicesOf(bytesSource(bytesOf("pkg/macho-universal-signed")))) {
      const blobs = blobsOf(Buffer.from(content.read(signature?.from ?? 0, signature?.size ?? 0)), "it");
      const part = (slot: number) => blobs.find((blob) => blob.slot === slot)?.bytes ?? Buffer.alloc(0);
      const [cms, directory] = [part(slots.cms).subarray(8), part(slots.codeDirectory)];
      expect(await isGoodForOpenssl(cms, directory)).toBe(true);
      expect(await isGoodForOpenssl(cms, directory.subarray(1))).toBe(false);
    }
  });
});

describe("with files that the tools make", () => {
  const root = identity("Root", { isCa: true, kind: "rsa" });
  const signer = identity("Signer", { issuer: root, kind: "rsa", usages: [codeSigning] });
  const old = identity("Old signer", { issuer: root, kind: "rsa", to: "2025-01-01" });
  const clock = identity("Clock", { issuer: root, kind: "rsa", usages: [timeStamping] });
  const options = () => optionsWith(allowing(root));
  const at = (name: string) => join(folder, name);
  const program = () => bytesOf("msi/agent-unsigned.exe");

  beforeAll(async () => {
    for (const [name, { certificate, key }] of Object.entries({ root, signer, old, clock })) {
      writeFileSync(at(`${name}.pem`), pem(certificate));
      writeFileSync(at(`${name}.key`), key.export({ type: "pkcs8", format: "pem" }));
    }
    writeFileSync(at("agent.exe"), await signed("agent", program(), "exe"));
    writeFileSync(at("acme.wxs"), installerSource);
    await execa("wixl", ["-o", "acme.msi", "acme.wxs"], { cwd: folder });
  });

  /** Signs bytes with osslsigncode. */
  async function signed(
    name: string,
    bytes: Buffer,
    ending: "exe" | "msi",
    more: readonly string[] = [],
    by = "signer",
  ): Promise<Buffer> {
    const [input, output] = [at(`${name}-in.${ending}`), at(`${name}-out.${ending}`)];
    writeFileSync(input, bytes);
    rmSync(output, { force: true });
    await execa("osslsigncode", [
      "sign",
      "-h",
      "sha256",
      "-certs",
      at(`${by}.pem`),
      "-key",
      at(`${by}.key`),
      ...more,
      "-in",
      input,
      "-out",
      output,
    ]);
    return readFileSync(output);
  }

  const stamp = (time: string) => [
    "-TSA-certs",
    at("clock.pem"),
    "-TSA-key",
    at("clock.key"),
    "-TSA-time",
    String(Date.parse(time) / 1000),
  ];

  test.each<[string, () => string[], string, string]>([
    ["plainly", () => [], "signer", "ok"],
    ["with SHA-384", () => ["-h", "sha384"], "signer", "ok"],
    ["with names and sizes", () => ["-add-msi-dse"], "signer", "ok"],
    ["with something unsigned in it", () => ["-addUnauthenticatedBlob"], "signer", "ok"],
    ["with a timestamp", () => stamp("2026-01-01T00:00:00Z"), "signer", "ok"],
    ["with a timestamp from when its certificate was good", () => stamp("2024-06-01T00:00:00Z"), "old", "ok"],
    [
      "with a timestamp from when its certificate had ended",
      () => stamp("2025-06-01T00:00:00Z"),
      "old",
      "expired-certificate",
    ],
    ["after its certificate had ended", () => [], "old", "expired-certificate"],
  ])("an installer that is signed %s has the expected verdict", async (_, more, by, verdict) => {
    const bytes = await signed("acme", readFileSync(at("acme.msi")), "msi", more(), by);
    const found = await inspectBytes(inspectMsi, bytes, options());
    expect([found.verdict, found.facts.version]).toEqual([verdict, "26.8.1"]);
    expect(found.file_signatures).toMatchObject([{ name: "acme-agent.exe", verdict: "ok" }]);
    writeFileSync(at("again.msi"), bytes);
    expect(await isGoodForOsslsigncode(at("again.msi"), at("root.pem"))).toBe(verdict === "ok");
  });

  test.each<[string, () => string[]]>([
    ["plainly", () => []],
    ["with page hashes", () => ["-ph"]],
    ["with a timestamp and SHA-384", () => [...stamp("2026-01-01T00:00:00Z"), "-h", "sha384"]],
  ])("a program that is signed %s has the expected verdict", async (_, more) => {
    const bytes = await signed("agent", program(), "exe", more());
    expect((await inspectBytes(inspectPe, bytes, options())).reason).toBe("");
    bytes.writeUInt8(bytes.readUInt8(2000) ^ 1, 2000);
    expect((await inspectBytes(inspectPe, bytes, options())).verdict).toBe("bad-digest");
  });

  test("osslsigncode accepts files that these tests sign themselves", async () => {
    const members = [
      { name: "large", content: Buffer.alloc(9000, 1) },
      { name: "small", content: Buffer.from("small") },
    ];
    const certificates = [signer.certificate, root.certificate];
    const made = {
      "own.msi": msi(members, { signer, signing: { certificates } }),
      "own.exe": signedPe(program(), { signer, signing: { certificates } }),
      "pages.exe": signedPe(program(), { signer, signing: { certificates }, pages: pagesOf(program()) }),
    };
    for (const [name, bytes] of Object.entries(made)) {
      writeFileSync(at(name), bytes);
      expect([name, await isGoodForOsslsigncode(at(name), at("root.pem"))]).toEqual([name, true]);
    }
  });
});
