import { crc32, gunzipSync } from "node:zlib";
import { xz } from "@napi-rs/lzma";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inspectImage } from "../../inspect/images/image.ts";
import type { Inspection, InspectOptions } from "../../inspect/inspection.ts";
import { bytesOf, inspectBytes, optionsWith } from "./artifacts.ts";

const nobody = { openpgp: [], x509: [] };

/** Inspects bytes under this file name. */
export const inspected = (
  bytes: Uint8Array,
  name = "image",
  options: Partial<InspectOptions> = {},
): Promise<Inspection> => inspectBytes(inspectImage, bytes, { ...optionsWith(nobody), ...options }, name);

/** Verdict and reason. */
export async function verdictOn(
  bytes: Uint8Array,
  name?: string,
  options?: Partial<InspectOptions>,
): Promise<string> {
  const { verdict, reason } = await inspected(bytes, name, options);
  return verdict === "ok" ? verdict : `${verdict}: ${reason}`;
}

/** Uncompressed content of an artifact. */
export function unpackedArtifact(file: string): Buffer {
  const bytes = bytesOf(file);
  return file.endsWith(".gz") ? gunzipSync(bytes) : Buffer.from(xz.decompressSync(bytes));
}

/** A changed copy of bytes. */
export function changed(bytes: Uint8Array, change: (copy: Buffer) => unknown): Buffer {
  const copy = Buffer.from(bytes);
  change(copy);
  return copy;
}

/** A disk of 1 MiB with these partitions in its MBR, by their types. */
export function mbrDisk(types: readonly number[], size = 1 << 20): Buffer {
  const disk = Buffer.alloc(size);
  for (const [index, type] of types.entries()) disk.writeUInt8(type, 446 + index * 16 + 4);
  disk.writeUInt16LE(0xaa55, 510);
  return disk;
}

/** The bytes of a GUID in a GPT. */
export const partitionTypes = {
  esp: "28732ac11ff8d211ba4b00a0c93ec93b",
  biosBoot: "4861682149646f6e744e656564454649",
  linux: "af3dc60f838472478e793d69d8477de4",
} as const;

/** A GPT behind a protective MBR, with partitions of these types and attributes. */
export function gptDisk(
  ids: readonly (readonly [id: string, attributes?: number])[],
  sector = 512,
  types = [0xee],
): Buffer {
  const disk = mbrDisk(types);
  const table = disk.subarray(2 * sector, 2 * sector + 128 * 128);
  for (const [index, [id, attributes = 0]] of ids.entries()) {
    table.write(id, index * 128, "hex");
    table.writeUInt8(attributes, index * 128 + 48);
  }
  const header = disk.subarray(sector, sector + 92);
  header.write("EFI PART");
  header.writeUInt32LE(0x10000, 8);
  header.writeUInt32LE(92, 12);
  header.writeBigUInt64LE(2n, 72);
  header.writeUInt32LE(128, 80);
  header.writeUInt32LE(128, 84);
  header.writeUInt32LE(crc32(table), 88);
  header.writeUInt32LE(crc32(header), 16);
  return disk;
}

type Case = readonly [what: string, change: (copy: Buffer) => unknown, said: string];

/** Each change of a good image gets the expected verdict and reason. */
export function refusals(good: () => Buffer, cases: readonly Case[]): void {
  let image: Uint8Array = new Uint8Array();
  beforeAll(() => {
    image = good();
  });
  afterAll(() => {
    image = new Uint8Array();
  });

  test("is ok if it is unchanged", async () => {
    expect(await verdictOn(image, "disk")).toBe("ok");
  });

  test.each(cases)("%s", async (_, change, expected) => {
    expect(await verdictOn(changed(image, change), "disk")).toBe(expected);
  });
}
