import { type ByteSource, overlap, partOf } from "../../bytes/byte-source.ts";
import { malformed, unsupported } from "../../verdict.ts";

export type Slice = ReturnType<typeof thinSlice>;

const magics = {
  fat: 0xcafebabe,
  fat64: 0xcafebabf,
  thin: 0xcefaedfe,
  thin64: 0xcffaedfe,
  bigEndian: 0xfeedface,
  bigEndian64: 0xfeedfacf,
};
const codeSignatureCommand = 0x1d;
const maxSlices = 16;
/** More than the load commands of any program. */
const maxCommandBytes = 1 << 24;

/** The low byte of the subtype is the variant; the high byte holds capability flags. */
const archs = new Map([
  ["1000007", "x86_64"],
  ["100000c", "arm64"],
  ["100000c.2", "arm64e"],
  ["7", "i386"],
  ["c", "arm"],
]);

/** @param head at least eight bytes: Java classes share the fat magic, and have a version number in the next field */
export function isMachO(head: Uint8Array): boolean {
  if (head.length < 8) return false;
  const bytes = Buffer.from(head.subarray(0, 8));
  const magic = bytes.readUInt32BE(0);
  if (magic === magics.fat || magic === magics.fat64) return bytes.readUInt32BE(4) <= maxSlices;
  return Object.values(magics).includes(magic);
}

/** @throws Fault malformed; unsupported-format */
export function slicesOf(source: ByteSource): Slice[] {
  const head = Buffer.from(source.read(0, 8));
  const magic = head.readUInt32BE(0);
  if (magic !== magics.fat && magic !== magics.fat64) return [thinSlice(source, 0, source)];
  const count = head.readUInt32BE(4);
  if (count === 0 || count > maxSlices)
    throw malformed(`${source.name} has ${count} architectures, expected 1 to ${maxSlices}`);
  const size = magic === magics.fat ? 20 : 32;
  const table = Buffer.from(source.read(8, count * size));
  const slices = Array.from({ length: count }, (_, index) =>
    fatSlice(source, table.subarray(index * size, (index + 1) * size)),
  );
  refuseOverlap(slices, 8 + table.length, source);
  return slices;
}

function fatSlice(source: ByteSource, entry: Buffer): Slice {
  const isLong = entry.length === 32;
  const at = (index: number) =>
    isLong ? Number(entry.readBigUInt64BE(8 + 8 * index)) : entry.readUInt32BE(8 + 4 * index);
  const [from, size, align] = [at(0), at(1), entry.readUInt32BE(isLong ? 24 : 16)];
  if (align > 30 || from % 2 ** align !== 0)
    throw malformed(`${source.name} has a part at byte ${from} that is not aligned as it says`);
  const slice = thinSlice(partOf(source, from, size), from, source);
  const header = Buffer.from(slice.content.read(4, 8));
  if (header.readUInt32LE(0) !== entry.readUInt32BE(0) || header.readUInt32LE(4) !== entry.readUInt32BE(4))
    throw malformed(
      `${source.name} says that its part at byte ${from} is of another architecture than that says itself`,
    );
  return slice;
}

function refuseOverlap(slices: readonly Slice[], start: number, { name, size }: ByteSource): void {
  const ranges = slices.map(({ from, content }) => ({ from, to: from + content.size }));
  if (overlap([{ from: 0, to: start }, ...ranges]) !== undefined)
    throw malformed(`${name} has parts that overlap`);
  const end = Math.max(...ranges.map(({ to }) => to));
  if (end !== size) throw malformed(`${name} has ${size - end} bytes after its last part`);
  if (new Set(slices.map(({ arch }) => arch)).size < slices.length)
    throw malformed(`${name} has an architecture twice`);
}

/** One architecture of a Mach-O file (mach-o/loader.h, mach-o/fat.h). @param from its offset in the file */
function thinSlice(content: ByteSource, from: number, { name }: ByteSource) {
  const head = Buffer.from(content.read(0, 28));
  const magic = head.readUInt32BE(0);
  if (magic === magics.bigEndian || magic === magics.bigEndian64)
    throw unsupported(`${name} is for big-endian processors`);
  if (magic !== magics.thin && magic !== magics.thin64)
    throw malformed(`${name} has no Mach-O header at byte ${from}`);
  const arch = archOf(head.readUInt32LE(4), head.readUInt32LE(8) & 0xffffff);
  const [count, size] = [head.readUInt32LE(16), head.readUInt32LE(20)];
  if (size > maxCommandBytes) throw malformed(`${name} has load commands of ${size} bytes`);
  const commands = Buffer.from(content.read(magic === magics.thin64 ? 32 : 28, size));
  return { arch, from, content, signature: signatureIn(commands, count, name) };
}

function archOf(type: number, subtype: number): string {
  const key = type.toString(16);
  return archs.get(`${key}.${subtype}`) ?? archs.get(key) ?? `0x${key}`;
}

/** Range inside the slice; undefined: no code signature. */
function signatureIn(commands: Buffer, count: number, name: string) {
  let found: { from: number; size: number } | undefined;
  let at = 0;
  for (let index = 0; index < count; index++) {
    const size = at + 8 <= commands.length ? commands.readUInt32LE(at + 4) : 0;
    if (size < 8 || at + size > commands.length)
      throw malformed(`${name} has a load command that does not end`);
    if (commands.readUInt32LE(at) === codeSignatureCommand) {
      if (found || size !== 16) throw malformed(`${name} has its code signature twice`);
      found = { from: commands.readUInt32LE(at + 8), size: commands.readUInt32LE(at + 12) };
    }
    at += size;
  }
  return found;
}
