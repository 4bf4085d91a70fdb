import { areZeros } from "../bytes/byte-source.ts";
import { pass, pushReader, type Steps, type TakePiece, type Wanted } from "../bytes/push.ts";
import { malformed, refused, unsupported } from "../verdict.ts";

export const blockSize = 512;

interface Header {
  /** Type flag: 0 file, 1 hard link, 2 symbolic link, 5 folder, S sparse file; x g L K describe the next entry. */
  kind: string;
  path: string;
  linkname: string;
  size: number;
  /** The whole header, for fields that only some kinds have. */
  block: Buffer;
}

/** @returns undefined for a block of zeros, which ends an archive. @throws Fault malformed */
function readHeader(bytes: Uint8Array): Header | undefined {
  const block = Buffer.from(bytes);
  if (areZeros(block)) return undefined;
  if (sumOf(block) !== tarNumber(block.subarray(148, 156)))
    throw malformed("the tar archive has a header whose checksum is wrong");
  const magic = block.toString("latin1", 257, 265);
  if (magic !== "ustar\x0000" && magic !== "ustar  \0" && magic !== "\0".repeat(8))
    throw malformed(`the tar archive has a header of the kind ${JSON.stringify(magic)}, expected ustar`);
  const prefix = magic === "ustar\x0000" ? tarText(block.subarray(345, 500)) : "";
  const name = tarText(block.subarray(0, 100));
  return {
    kind: kindOf(block, name),
    path: prefix ? `${prefix}/${name}` : name,
    linkname: tarText(block.subarray(157, 257)),
    size: tarNumber(block.subarray(124, 136)),
    block,
  };
}

/** The checksum distinguishes a tar header from any other data. */
export function isTarHeader(bytes: Uint8Array): boolean {
  if (bytes.length < blockSize) return false;
  try {
    return readHeader(bytes.subarray(0, blockSize)) !== undefined;
  } catch {
    return false;
  }
}

/** POSIX: the sum of all bytes, with the checksum field read as blanks. */
function sumOf(block: Uint8Array): number {
  let sum = 8 * 0x20;
  for (let at = 0; at < block.length; at++) if (at < 148 || at >= 156) sum += block[at] ?? 0;
  return sum;
}

function kindOf(block: Uint8Array, name: string): string {
  const flag = String.fromCharCode(block[156] ?? 0);
  if (flag !== "0" && flag !== "\0" && flag !== "7") return flag;
  // Before ustar, only the trailing slash marked a folder.
  return name.endsWith("/") ? "5" : "0";
}

function tarText(field: Buffer): string {
  const end = field.indexOf(0);
  return field.toString("utf8", 0, end < 0 ? field.length : end);
}

/** An octal number or, if that is too small, GNU's base 256. @throws Fault malformed */
function tarNumber(field: Buffer): number {
  const digits = field
    .toString("latin1")
    .replace(/[\0 ]+$/, "")
    .trimStart();
  const value = field[0] === 0x80 ? base256(field) : Number.parseInt(digits || "0", 8);
  if ((field[0] === 0x80 || /^[0-7]*$/.test(digits)) && Number.isSafeInteger(value)) return value;
  throw malformed(`the tar archive has ${JSON.stringify(field.toString("latin1"))} for a number`);
}

const base256 = (field: Uint8Array): number =>
  field.subarray(1).reduce((value, byte) => value * 256 + byte, 0);

export interface TarEntry {
  /** Without a leading `./` or a trailing `/`; `.` is the root folder. */
  path: string;
  /** Content size in bytes, including holes. */
  size: number;
  type: "file" | "directory" | "link" | "other";
  linkname?: string;
}

const types: Readonly<Record<string, TarEntry["type"]>> = {
  0: "file",
  S: "file",
  1: "link",
  2: "link",
  3: "other",
  4: "other",
  5: "directory",
  6: "other",
};

/** Accepts only entries whose paths stay inside the archive. @throws Fault malformed, for others */
function pathGuard(): (header: Header) => TarEntry {
  const links = pathSet();
  return ({ kind, path: written, linkname, size }) => {
    const type = types[kind];
    if (!type) throw malformed(`the tar archive has an entry of the unknown type ${JSON.stringify(kind)}`);
    if (type !== "file" && size > 0) throw malformed(`${written} is not a file, but has ${size} bytes`);
    const path = inside(written);
    const through = linkOn(path, links);
    if (through !== undefined) throw malformed(`the tar archive has ${path} behind the link ${through}`);
    if (type !== "link") return { path, size, type };
    if (kind === "1") inside(linkname);
    else if (climbsOut(path, linkname))
      throw malformed(`the link ${path} leads out of the archive, to ${linkname}`);
    if (kind === "2") links.add(path);
    return { path, size, type, linkname };
  };
}

/** Enough for 300,000 ordinary paths. */
const maxMemoryBytes = 1 << 25;
/** The usual path limit of operating systems. */
const maxPathCharacters = 4096;

/** A set with a memory limit. @returns `add` throws Fault refuse when the limit is reached */
export function pathSet(): { has(path: string): boolean; add(path: string): void } {
  const paths = new Set<string>();
  let memory = 0;
  return {
    has: (path) => paths.has(path),
    add(path) {
      memory += path.length + 64;
      if (memory > maxMemoryBytes) throw refused(`the tar archive has over ${paths.size} paths to remember`);
      paths.add(path);
    },
  };
}

function inside(path: string): string {
  const names = path.split("/");
  if (path === "" || path.length > maxPathCharacters || path.startsWith("/") || names.includes(".."))
    throw malformed(
      `the tar archive has the path ${JSON.stringify(path.slice(0, maxPathCharacters))}, expected one inside the archive`,
    );
  return names.filter((name) => name !== "" && name !== ".").join("/") || ".";
}

/** The first link among the folders of a path and the path itself. */
function linkOn(path: string, links: ReturnType<typeof pathSet>): string | undefined {
  for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1))
    if (links.has(path.slice(0, at))) return path.slice(0, at);
  return links.has(path) ? path : undefined;
}

function climbsOut(path: string, linkname: string): boolean {
  if (linkname === "") return true;
  if (linkname.startsWith("/")) return false;
  let depth = path.split("/").length - 1;
  return linkname.split("/").some((name) => {
    if (name === "..") depth--;
    else if (name !== "" && name !== ".") depth++;
    return depth < 0;
  });
}

interface Part {
  size: number;
  isHole: boolean;
}

/**
 * Reads a sparse file of GNU tar (`tar --sparse`, the old GNU format of 1.12 and later).
 * @param room bytes that holes may still expand to, reduced here
 * @throws Fault malformed; refuse, for holes beyond the limit; unsupported-format, if no holes are allowed
 */
function* readParts(header: Header, room: { holes: number }): Generator<Wanted, Part[], Uint8Array> {
  if (room.holes === 0) throw unsupported(`${header.path} is written with holes, which nothing expects here`);
  const size = tarNumber(header.block.subarray(483, 495));
  const parts: Part[] = [];
  let at = 0;
  for (const { from, length } of yield* readMap(header.block)) {
    if (from < at) throw malformed(`${header.path} has parts that overlap`);
    parts.push({ size: from - at, isHole: true }, { size: length, isHole: false });
    at = from + length;
  }
  parts.push({ size: size - at, isHole: true });
  const written = parts.reduce((sum, part) => (part.isHole ? sum : sum + part.size), 0);
  if (at > size || written !== header.size)
    throw malformed(`${header.path} has parts that do not make up its size`);
  room.holes -= size - written;
  if (room.holes < 0) throw refused(`${header.path} unpacks to ${size} bytes, beyond the limit`);
  return parts;
}

/** More parts than a 1 TiB file has if every other 4 MiB is a hole. */
const maxParts = 1 << 17;

interface Place {
  from: number;
  length: number;
}

function* readMap(first: Buffer): Generator<Wanted, Place[], Uint8Array> {
  const places = placesIn(first.subarray(386, 482));
  for (let more = first[482]; more; ) {
    const block = Buffer.from(yield { exactly: blockSize });
    places.push(...placesIn(block.subarray(0, 504)));
    if (places.length > maxParts) throw refused(`the tar archive has a file of over ${maxParts} parts`);
    more = block[504];
  }
  return places;
}

function placesIn(bytes: Buffer): Place[] {
  const places: Place[] = [];
  for (let at = 0; at < bytes.length && bytes[at] !== 0; at += 24)
    places.push({
      from: tarNumber(bytes.subarray(at, at + 12)),
      length: tarNumber(bytes.subarray(at + 12, at + 24)),
    });
  return places;
}

/** Data before an entry that overrides fields of its header. */
interface Names {
  path?: string;
  linkname?: string;
  size?: number;
}

/**
 * @param kind L and K: GNU long path and long link; x and g: pax attributes of one entry, of all following entries
 * @throws Fault malformed, for a repeated value; unsupported-format, for pax sparse files
 */
function readNames(kind: string, content: Uint8Array, known: Names): Names {
  const bytes = Buffer.from(content);
  const added =
    kind === "L" ? { path: tarText(bytes) } : kind === "K" ? { linkname: tarText(bytes) } : readPax(bytes);
  if (kind === "g" && Object.keys(added).length > 0)
    throw malformed("the tar archive has one path or size for all its entries");
  const again = Object.keys(added).find((name) => Object.hasOwn(known, name));
  if (again) throw malformed(`the tar archive says the ${again} of an entry twice`);
  return { ...known, ...added };
}

/** Records `length key=value` with a line feed; the length includes itself (POSIX pax, extended header). */
function readPax(bytes: Buffer): Names {
  const records = new Map<string, string>();
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(" ", at);
    const length = bytes.toString("latin1", at, space);
    const end = at + Number(length);
    const record = bytes.toString("utf8", space + 1, end - 1);
    const equals = record.indexOf("=");
    const isRecord =
      space > at && /^[1-9]\d{0,6}$/.test(length) && end <= bytes.length && bytes[end - 1] === 10;
    if (!isRecord || equals < 1) throw malformed("the tar archive has pax attributes that cannot be read");
    records.set(record.slice(0, equals), record.slice(equals + 1));
    at = end;
  }
  return namesOf(records);
}

function namesOf(records: ReadonlyMap<string, string>): Names {
  if ([...records.keys()].some((key) => key.startsWith("GNU.sparse.")))
    throw unsupported("the tar archive describes holes by pax, expected tar --format=gnu");
  const [path, linkname, size] = ["path", "linkpath", "size"].map((key) => records.get(key));
  if (`${path}${linkname}`.includes("\0")) throw malformed("the tar archive has a path with a zero byte");
  if (size !== undefined && !(/^\d+$/.test(size) && Number.isSafeInteger(Number(size))))
    throw malformed(`the tar archive has ${JSON.stringify(size)} for a size`);
  return {
    ...(path !== undefined && { path }),
    ...(linkname !== undefined && { linkname }),
    ...(size !== undefined && { size: Number(size) }),
  };
}

export type OnEntry = (entry: TarEntry) => TakePiece | undefined;

const maxEntries = 1 << 20;
/** Longer than any path or attribute in a preceding header. */
const maxNameBytes = 1 << 20;
const zeros = new Uint8Array(1 << 16);

/**
 * Reads a streamed tar archive: POSIX ustar and pax, GNU (long names, sparse files), and older formats.
 * @param holes bytes that holes may expand to; without it, a sparse file is unsupported-format
 * @throws Fault malformed, for a wrong checksum, an impossible size or path, a path or link that leaves the archive or
 * passes through a link, a missing end, or bytes after it. Callers check absolute links, as they know the target folder
 */
export function tarReader(entry: OnEntry, holes = 0) {
  return pushReader(entries(entry, { holes }), "tar archive");
}

function* entries(entry: OnEntry, room: { holes: number }): Steps {
  const guard = pathGuard();
  let names: Names = {};
  let count = 0;
  for (let header = readHeader(yield { exactly: blockSize }); header; ) {
    if (++count > maxEntries) throw refused(`the tar archive has over ${maxEntries} entries`);
    if ("xgLK".includes(header.kind)) names = readNames(header.kind, yield* attributes(header), names);
    else {
      const named = { ...header, ...names };
      const parts: readonly Part[] =
        named.kind === "S" ? yield* readParts(named, room) : [{ size: named.size, isHole: false }];
      const known = guard({ ...named, size: sum(parts) });
      yield* content(parts, entry(known));
      yield* pass(fill(named.size));
      names = {};
    }
    header = readHeader(yield { exactly: blockSize });
  }
  if (Object.keys(names).length > 0)
    throw malformed("the tar archive ends with the name of an entry that is missing");
  if (readHeader(yield { exactly: blockSize })) throw malformed("bytes follow the end of the tar archive");
}

const fill = (size: number): number => -size & (blockSize - 1);

const sum = (parts: readonly Part[]): number => parts.reduce((total, { size }) => total + size, 0);

function* attributes({ size }: Header): Generator<Wanted, Uint8Array, Uint8Array> {
  if (size === 0 || size > maxNameBytes)
    throw malformed(`the tar archive has attributes of ${size} bytes, expected 1 to ${maxNameBytes}`);
  return (yield { exactly: size + fill(size) }).subarray(0, size);
}

function* content(parts: readonly Part[], take: TakePiece | undefined): Steps {
  for (const { size, isHole } of parts) {
    if (!isHole) yield* pass(size, take);
    else if (take) for (let left = size; left > 0; left -= zeros.length) take(zeros.subarray(0, left));
  }
}
