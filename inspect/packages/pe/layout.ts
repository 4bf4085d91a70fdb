import type { ByteSource } from "../../bytes/byte-source.ts";
import { Fault, malformed, unsupported } from "../../verdict.ts";

/** Offsets in a Windows executable (PE Format, Microsoft), from the beginning of the file. */
export interface PeLayout {
  machine: string;
  /** Two fields that the signature cannot cover: the checksum and the location of the certificate table. */
  checksumAt: number;
  certificatesAt: number;
  /** At the end of the file; size 0: unsigned. */
  certificates: { from: number; size: number };
  headerSize: number;
  pageSize: number;
  /** The ranges that Windows loads into memory. */
  sections: readonly { from: number; size: number }[];
}

const machines = new Map([
  [0x14c, "x86"],
  [0x8664, "x86_64"],
  [0xaa64, "arm64"],
]);

const directoryOfCertificates = 4;

export const isPe = (head: Uint8Array): boolean => head[0] === 0x4d && head[1] === 0x5a;

/** @throws Fault malformed; unsupported-format, for programs of DOS and 16-bit Windows */
export function peLayout(source: ByteSource): PeLayout {
  const start = view(source, 0, 64).getUint32(60, true);
  if (start + 24 > source.size)
    throw unsupported(`${source.name} is not a PE file, although it begins with MZ`);
  const coff = view(source, start, 24);
  if (coff.getUint32(0, false) !== 0x50450000)
    throw unsupported(`${source.name} is not a PE file, although it begins with MZ`);
  const machine = coff.getUint16(4, true);
  const [sections, optionalSize] = [coff.getUint16(6, true), coff.getUint16(20, true)];
  const at = start + 24;
  const optional = view(source, at, optionalSize);
  const magic = optionalSize >= 112 ? optional.getUint16(0, true) : 0;
  if (magic !== 0x10b && magic !== 0x20b)
    throw malformed(`${source.name} has no optional header of PE32 or PE32+ where a PE file has it`);
  const directories = magic === 0x20b ? 112 : 96;
  const entry = directories + 8 * directoryOfCertificates;
  if (optional.getUint32(directories - 4, true) <= directoryOfCertificates || optionalSize < entry + 8)
    throw new Fault("unsigned", `${source.name} has no place for a signature in its header`);
  const [pageSize, headerSize] = [optional.getUint32(32, true), optional.getUint32(60, true)];
  const certificates = { from: optional.getUint32(entry, true), size: optional.getUint32(entry + 4, true) };
  return {
    machine: machines.get(machine) ?? `0x${machine.toString(16)}`,
    checksumAt: at + 64,
    certificatesAt: at + entry,
    certificates: refuseElsewhere(certificates, at + optionalSize, source),
    headerSize,
    pageSize,
    sections: sectionsOf(view(source, at + optionalSize, 40 * sections)),
  };
}

/**
 * The signature covers nothing after its table, and Windows programs can find data there, so nothing may
 * follow.
 */
function refuseElsewhere(table: PeLayout["certificates"], headerEnd: number, source: ByteSource) {
  const { from, size } = table;
  if (from === 0 && size === 0) return { from: source.size, size: 0 };
  if (from < headerEnd || from % 8 !== 0 || from + size !== source.size)
    throw malformed(
      `${source.name} has its signature at bytes ${from} to ${from + size}, expected it to end the file of ${source.size}`,
    );
  return table;
}

function sectionsOf(table: DataView): PeLayout["sections"] {
  const found = [];
  for (let at = 0; at < table.byteLength; at += 40) {
    found.push({ from: table.getUint32(at + 20, true), size: table.getUint32(at + 16, true) });
  }
  return found;
}

/** A copy, so that it stays valid after the next read. */
function view(source: ByteSource, from: number, length: number): DataView {
  return new DataView(Uint8Array.from(source.read(from, length)).buffer);
}
