import { beforeAll, describe, expect, test } from "vitest";
import type { Reader } from "../../inspect/inspection.ts";
import type { Keys } from "../../inspect/keys.ts";
import { inspectMachO } from "../../inspect/packages/macho/file.ts";
import { inspectMsi } from "../../inspect/packages/msi/msi.ts";
import { inspectPe } from "../../inspect/packages/pe/pe.ts";
import { inspectPkg } from "../../inspect/packages/pkg/pkg.ts";
import { allowedKeys, bytesOf, inspectArtifact, inspectBytes, optionsWith } from "../support/artifacts.ts";
import { unnoticedBits } from "../support/bit-flips.ts";
import { allowing, identity, timeStamping } from "../support/certificates.ts";
import { often } from "../support/effort.ts";
import { blob, machO, universal } from "../support/macho.ts";
import { msi } from "../support/msi.ts";
import { pagesOf, signedPe } from "../support/pe.ts";
import { timestamp } from "../support/signed-data.ts";
import { installer, xar } from "../support/xar.ts";
import { goodCases, titled } from "./cms-readers.ts";

const sample = often(1000, 50);
const long = 3_600_000;

let keys: Keys;
beforeAll(async () => {
  keys = await allowedKeys();
});

describe("inspect notices every changed bit that the format signs, in", () => {
  test.each(titled(goodCases))(
    "%s",
    async (file, { read }) => {
      expect(await unnoticedBits(read, bytesOf(file), optionsWith(keys), sample)).toEqual([]);
    },
    long,
  );
});

test.each(titled(goodCases))("every unsigned range of %s is inside the file", async (file, { read }) => {
  const { length } = bytesOf(file);
  const { uncovered } = await inspectArtifact(read, file, keys);
  for (const { from, to } of uncovered) expect(from >= 0 && from < to && to <= length).toBe(true);
});

describe("inspect notices every changed bit, in a file with", () => {
  const root = identity("Root", { isCa: true });
  const clock = identity("Clock", { issuer: root, usages: [timeStamping] });
  const signer = identity("Signer", { issuer: root });
  const rsa = identity("RSA", { issuer: root, kind: "rsa" });
  const signing = {
    certificates: [root.certificate, signer.certificate],
    unsigned: timestamp(clock, "2024-01-01"),
  };
  const agile = { signer, signing, digests: ["sha1", "sha384"], bound: ["sha384"] } as const;
  const blobs = {
    2: blob(0xfade0c01, Buffer.from("requirements")),
    65538: blob(0xfade0b02, Buffer.from("ticket")),
  };
  const unsigned = bytesOf("msi/agent-unsigned.exe");
  const members = [
    { name: "storage", members: [{ name: "stream", content: Buffer.from("content") }] },
    { name: "large", content: Buffer.alloc(5000, 1) },
    { name: "none", content: Buffer.alloc(0) },
  ];
  test.each<[string, Reader, Buffer]>([
    [
      "two CodeDirectories, a ticket and a timestamp",
      inspectMachO,
      machO({ signature: { ...agile, blobs, special: { 2: blobs[2] }, room: 64 } }),
    ],
    [
      "architectures at places of 64 bits",
      inspectMachO,
      universal([machO({ code: Buffer.alloc(99), signature: { signer } })], { isLong: true, align: 8 }),
    ],
    [
      "page hashes and a timestamp",
      inspectPe,
      signedPe(unsigned, { signer, signing, pages: pagesOf(unsigned) }),
    ],
    ["storages in a compound file of version 4", inspectMsi, msi(members, { signer, signing, version: 4 })],
    ["storages in a compound file of version 3", inspectMsi, msi(members, { signer, signing, version: 3 })],
    [
      "a ticket after the heap and a gap in it",
      inspectPkg,
      xar(installer([]), {
        rsa,
        cms: rsa,
        gap: 7,
        after: Buffer.from("ticket"),
        signing: { unsigned: signing.unsigned },
      }),
    ],
  ])(
    "%s",
    async (_, read, bytes) => {
      const options = optionsWith(allowing(root));
      expect((await inspectBytes(read, bytes, options)).reason).toBe("");
      expect(await unnoticedBits(read, bytes, options, sample)).toEqual([]);
    },
    long,
  );
});
