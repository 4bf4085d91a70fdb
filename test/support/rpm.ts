import { gzipSync } from "node:zlib";

/** Writes packages with possible faults in every byte. */
export interface RpmTag {
  tag: number;
  type: number;
  count: number;
  bytes: Buffer;
}

export const text = (tag: number, value: string): RpmTag => ({
  tag,
  type: 6,
  count: 1,
  bytes: Buffer.from(`${value}\0`),
});
export const texts = (tag: number, ...values: string[]): RpmTag => ({
  tag,
  type: 8,
  count: values.length,
  bytes: Buffer.from(values.map((value) => `${value}\0`).join("")),
});
export const integers = (tag: number, ...values: number[]): RpmTag => {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, index * 4);
  return { tag, type: 4, count: values.length, bytes };
};
export const longs = (tag: number, ...values: number[]): RpmTag => {
  const bytes = Buffer.alloc(values.length * 8);
  for (const [index, value] of values.entries()) bytes.writeBigUInt64BE(BigInt(value), index * 8);
  return { tag, type: 5, count: values.length, bytes };
};
export const shorts = (tag: number, ...values: number[]): RpmTag => {
  const bytes = Buffer.alloc(values.length * 2);
  for (const [index, value] of values.entries()) bytes.writeUInt16BE(value, index * 2);
  return { tag, type: 3, count: values.length, bytes };
};
export const binary = (tag: number, bytes: Uint8Array): RpmTag => ({
  tag,
  type: 7,
  count: bytes.length,
  bytes: Buffer.from(bytes),
});

/** An entry of the index: tag, type, offset, count. */
export type Index = [tag: number, type: number, offset: number, count: number][];

/** @param change damages the index */
export function rpmHeader(
  region: number,
  tags: readonly RpmTag[],
  change: (index: Index) => void = () => {},
): Buffer {
  let store = Buffer.alloc(0);
  const index: Index = tags.map(({ tag, type, count, bytes }) => {
    const size = { 3: 2, 4: 4, 5: 8 }[type] ?? 1;
    const fill = -store.length & (size - 1);
    store = Buffer.concat([store, Buffer.alloc(fill), bytes]);
    return [tag, type, store.length - bytes.length, count];
  });
  const trailer = entry(region, 7, -(index.length + 1) * 16, 16);
  const whole: Index = [[region, 7, store.length, 16], ...index];
  change(whole);
  const start = Buffer.from("8eade8010000000000000000ffffffff", "hex");
  start.writeUInt32BE(whole.length, 8);
  start.writeUInt32BE(store.length + 16, 12);
  return Buffer.concat([start, ...whole.map((fields) => entry(...fields)), store, trailer]);
}

function entry(...fields: readonly number[]): Buffer {
  const bytes = Buffer.alloc(16);
  for (const [index, field] of fields.entries()) bytes.writeInt32BE(field | 0, index * 4);
  return bytes;
}

/** A file of a cpio archive in the form `070701`. */
export function cpioFile(name: string, content: string, mode = 0o100644): Buffer {
  const fields = [0, mode, 0, 0, 1, 0, content.length, 0, 0, 0, 0, name.length + 1, 0];
  const header = `070701${fields.map((field) => field.toString(16).padStart(8, "0")).join("")}${name}\0`;
  return Buffer.concat(
    [header, content].map((part) => Buffer.concat([Buffer.from(part), Buffer.alloc(-part.length & 3)])),
  );
}

export const cpio = (...files: Buffer[]): Buffer =>
  gzipSync(Buffer.concat([...files, cpioFile("TRAILER!!!", "", 0)]));

export const named: readonly RpmTag[] = [
  text(1000, "agent"),
  text(1001, "1.2.3"),
  text(1002, "1"),
  text(1022, "x86_64"),
  text(1044, "agent-1.2.3-1.src.rpm"),
];

/** Lead, signature header, header and payload, one after the other. */
export function rpmFile(signatures: Buffer, main: Buffer, payload: Buffer = cpio()): Buffer {
  const lead = Buffer.alloc(96);
  lead.write("edabeedb0300", "hex");
  lead.writeUInt16BE(5, 78);
  return Buffer.concat([lead, signatures, Buffer.alloc(-signatures.length & 7), main, payload]);
}

/** An unsigned package. */
export const rpmPackage = (
  tags: readonly RpmTag[],
  signatureTags: readonly RpmTag[] = [],
  payload = cpio(),
): Buffer => rpmFile(rpmHeader(62, signatureTags), rpmHeader(63, tags), payload);
