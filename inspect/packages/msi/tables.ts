import type { Architecture, MsiMetadata } from "../../../shared/package-metadata.ts";
import { architectureNamed } from "../../architecture.ts";
import { openCompoundFile, type Storage } from "../../archives/compound-file.ts";
import type { ByteSource } from "../../bytes/byte-source.ts";
import { malformed, unsupported } from "../../verdict.ts";

export type MsiTables = ReturnType<typeof msiTables>;
type Pool = ReturnType<typeof poolOf>;

interface Column {
  name: string;
  isText: boolean;
  width: number;
}

/** More than the tables of the largest installers. */
const maxTableBytes = 1 << 26;

/** Tables are column-oriented streams whose texts are indexes into one string pool. @throws Fault malformed */
export function msiTables(root: Storage) {
  const streams = new Map(root.streams.map(({ entry, content }) => [streamName(entry.name), content]));
  const bytesOf = (name: string): Buffer => {
    const content = streams.get(`!${name}`);
    if (!content) return Buffer.alloc(0);
    if (content.size > maxTableBytes)
      throw malformed(`the table ${name} has ${content.size} bytes, expected ${maxTableBytes} at most`);
    return Buffer.from(content.read(0, content.size));
  };
  const pool = poolOf(bytesOf("_StringPool"), bytesOf("_StringData"));
  const columns = columnsOf(bytesOf("_Columns"), pool);

  return {
    /** Text columns of a table, row by row; empty if the table or column is missing. @throws Fault malformed */
    *rows(table: string, names: readonly string[]) {
      const all = columns.get(table) ?? [];
      const wanted = names.map((name) => placeOf(all, name));
      if (wanted.includes(undefined)) return;
      const bytes = bytesOf(table);
      const rowSize = all.reduce((sum, { width }) => sum + width, 0);
      const count = wholeRows(bytes, rowSize, table);
      for (let row = 0; row < count; row++) {
        yield wanted.map((before) =>
          pool.text(bytes.readUIntLE((before ?? 0) * count + row * pool.width, pool.width)),
        );
      }
    },
  };
}

/** Byte offset of a text column in a row; undefined: missing, or not text. */
function placeOf(columns: readonly Column[], name: string): number | undefined {
  const index = columns.findIndex((column) => column.name === name && column.isText);
  return index === -1 ? undefined : columns.slice(0, index).reduce((sum, { width }) => sum + width, 0);
}

function wholeRows(bytes: Buffer, rowSize: number, table: string): number {
  const count = bytes.length / rowSize;
  if (!Number.isSafeInteger(count))
    throw malformed(`the table ${table} has ${bytes.length} bytes, expected rows of ${rowSize}`);
  return count;
}

/** Each row of `_Columns` has the table, the column number from 1, the name and the type. */
function columnsOf(bytes: Buffer, { text, width }: Pool): Map<string, Column[]> {
  const count = wholeRows(bytes, 2 * width + 4, "_Columns");
  const numbers = (before: number, size: number) =>
    Array.from({ length: count }, (_, row) => bytes.readUIntLE(before * count + row * size, size));
  const names = numbers(width + 2, width);
  const types = numbers(2 * width + 2, 2).map((type) => type ^ 0x8000);
  const columns = new Map<string, Column[]>();
  for (const [row, table] of numbers(0, width).entries()) {
    const type = types[row] ?? 0;
    // Type bits: 0x800 is text, 0x100 alone a stream, 0x1000 nullable; otherwise the size of a number.
    const isStream = (type & ~0x1000) === 0x900;
    const isText = (type & 0x800) !== 0 && !isStream;
    const size = isText ? width : isStream || (type & 0xff) <= 2 ? 2 : 4;
    const found = columns.get(text(table));
    const column = { name: text(names[row] ?? 0), isText, width: size };
    if (found) found.push(column);
    else columns.set(text(table), [column]);
  }
  return columns;
}

/** One stream concatenates all texts, the other has the length and reference count of each. `width` is in bytes. */
function poolOf(pool: Buffer, data: Buffer) {
  if (pool.length % 4 !== 0) throw malformed(`the pool of texts has ${pool.length} bytes, expected pairs`);
  const [codePage, flags] = pool.length === 0 ? [0, 0] : [pool.readUInt16LE(0), pool.readUInt16LE(2)];
  const decoder = decoderOf(codePage);
  const places: [number, number][] = [];
  let at = 0;
  for (let entry = 4; entry < pool.length; entry += 4) {
    let length = pool.readUInt16LE(entry);
    // For a text of 64 KiB or more, the next entry holds the length.
    if (length === 0 && pool.readUInt16LE(entry + 2) !== 0 && entry + 8 <= pool.length) {
      entry += 4;
      length = pool.readUInt16LE(entry) + pool.readUInt16LE(entry + 2) * 0x10000;
    }
    places.push([at, at + length]);
    at += length;
  }
  if (at !== data.length)
    throw malformed(`the texts of the database have ${data.length} bytes, and ${at} are announced`);
  const text = (number: number) => {
    const place = number === 0 ? [0, 0] : places[number - 1];
    if (!place)
      throw malformed(`a table of the database refers to text ${number}, and there are ${places.length}`);
    return decoder.decode(data.subarray(place[0], place[1]));
  };
  return { text, width: flags & 0x8000 ? 3 : 2 };
}

function decoderOf(codePage: number): TextDecoder {
  try {
    return new TextDecoder(codePage === 65001 || codePage === 0 ? "utf-8" : `windows-${codePage}`);
  } catch {
    return new TextDecoder("windows-1252");
  }
}

const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz._";

/** Stream names pack two letters into a code unit; table names start with a marker, `!` here. */
export const streamName = (name: string): string =>
  name.replace(/[㠀-䡀]/g, (unit) => {
    const code = unit.charCodeAt(0);
    if (code === 0x4840) return "!";
    if (code >= 0x4800) return letters.charAt(code - 0x4800);
    return letters.charAt((code - 0x3800) & 0x3f) + letters.charAt((code - 0x3800) >> 6);
  });

/** Class id of an installer's root: {000C1084-0000-0000-C000-000000000046}. */
const installerClass = "84100c0000000000c000000000000046";

/** @throws Fault malformed; unsupported-format, if it is another compound file */
export function openInstaller(source: ByteSource) {
  const file = openCompoundFile(source);
  if (file.root.entry.classId.toString("hex") !== installerClass)
    throw unsupported(`${source.name} is a compound file, but not an installer package`);
  return file;
}

export const summaryName = "\u0005SummaryInformation";

/** Properties (https://learn.microsoft.com/windows/win32/msi/summary-information-stream-property-set). */
const ids = { template: 7, wordCount: 15 };
const types = { integer: 3, text: 30 };
/** Larger than any summary; the texts are short. */
const maxTextBytes = 1 << 16;
const sectionAt = 44;

/** Reads the first property set (MS-OLEPS 2.21). @throws Fault malformed */
function installerSummary({ streams }: Storage) {
  const content = streams.find(({ entry }) => entry.name === summaryName)?.content;
  if (!content || content.size > maxTextBytes) throw malformed("it has no summary information, or too much");
  const bytes = Buffer.from(content.read(0, content.size));
  const number = (at: number) => {
    if (at + 4 <= bytes.length) return bytes.readUInt32LE(at);
    throw malformed(`its summary information ends at byte ${bytes.length}, expected a number at ${at}`);
  };
  const section = number(sectionAt);
  /** Offset of the value; 0 if there is none of this type. */
  const valueAt = (id: number, type: number): number => {
    const count = Math.min(number(section + 4), bytes.length >> 3);
    for (let at = section + 8; at < section + 8 + count * 8; at += 8) {
      const value = section + number(at + 4);
      if (number(at) === id && number(value) === type) return value + 4;
    }
    return 0;
  };
  const [text, words] = [valueAt(ids.template, types.text), valueAt(ids.wordCount, types.integer)];
  return {
    /** Platform and languages, such as `x64;1033`. */
    template: text === 0 ? "" : latin1(bytes.subarray(text + 4, text + 4 + number(text))),
    /** Bits that describe the source files. */
    wordCount: words === 0 ? 0 : number(words),
  };
}

const latin1 = (bytes: Buffer): string => bytes.toString("latin1").split("\0", 1).join("");

/** Platforms of the property Template; without one, it is Intel. */
const platforms = new Map<string, Architecture>([
  ["", "i386"],
  ["Intel", "i386"],
  ["x64", "amd64"],
  ["AMD64", "amd64"],
  ["Arm64", "arm64"],
  ["Arm", "armhf"],
]);

/** Reads properties and summary, without the files. @throws Fault malformed; unsupported-format */
export function msiMetadata(source: ByteSource): MsiMetadata {
  const { root } = openInstaller(source);
  const properties = new Map<string, string>();
  for (const [name = "", value = ""] of msiTables(root).rows("Property", ["Property", "Value"]))
    properties.set(name, value);
  const summary = installerSummary(root);
  const property = (name: string): string => {
    const value = properties.get(name);
    if (value) return value;
    throw malformed(`it has no property ${name}`);
  };
  const upgradeCode = properties.get("UpgradeCode");
  return {
    type: "msi",
    product_name: property("ProductName"),
    manufacturer: property("Manufacturer"),
    product_version: property("ProductVersion"),
    product_code: property("ProductCode"),
    ...(upgradeCode && { upgrade_code: upgradeCode }),
    arch: architectureNamed(summary.template.split(";")[0] ?? "", platforms),
    scope: scopeOf(properties, summary),
  };
}

/** Word count: the package needs no elevated privileges. */
const unprivileged = 8;

/** https://learn.microsoft.com/windows/win32/msi/allusers: 2 means machine, unless the user decides otherwise. */
function scopeOf(
  properties: ReadonlyMap<string, string>,
  { wordCount }: ReturnType<typeof installerSummary>,
): MsiMetadata["scope"] {
  const allUsers = properties.get("ALLUSERS");
  if (allUsers === "1") return "machine";
  const isPerUser = properties.get("MSIINSTALLPERUSER") === "1" || (wordCount & unprivileged) !== 0;
  return allUsers === "2" && !isPerUser ? "machine" : "user";
}
