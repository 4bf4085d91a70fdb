import { createHash } from "node:crypto";
import { authenticode, subjects } from "./authenticode.ts";
import type { Identity } from "./certificates.ts";
import { compoundFile, type Member, type Wishes } from "./compound-file.ts";
import type { digestOids, Signing } from "./signed-data.ts";

const installerClass = Buffer.from("84100c0000000000c000000000000046", "hex");

const letters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz._";

/** The name of a stream as installers pack it, two letters to a code unit; `!` marks a table. */
export function streamName(name: string): string {
  const isTable = name.startsWith("!");
  const codes = [...name.slice(isTable ? 1 : 0)].map((letter) => letters.indexOf(letter));
  const units: number[] = isTable ? [0x4840] : [];
  for (let at = 0; at < codes.length; at += 2) {
    const [one = 0, other] = codes.slice(at, at + 2);
    units.push(other === undefined ? 0x4800 + one : 0x3800 + one + 64 * other);
  }
  return String.fromCharCode(...units);
}

/** Columns of a table: texts, or numbers of this many bytes. */
export type Columns = Readonly<Record<string, "text" | 2 | 4>>;

export interface Table {
  name: string;
  columns: Columns;
  rows: readonly (readonly (string | number)[])[];
}

/** The streams of a database. @param width bytes of a reference to a text */
export function tables(
  all: readonly Table[],
  { width = 2, codePage = 65001 }: { width?: 2 | 3; codePage?: number } = {},
): Member[] {
  const texts: Buffer[] = [];
  const places = new Map<string, number>([["", 0]]);
  const place = (text: string): number => {
    if (!places.has(text))
      places.set(text, texts.push(Buffer.from(text, codePage === 65001 ? "utf8" : "latin1")));
    return places.get(text) ?? 0;
  };
  const number = (value: number, size: number) => {
    const bytes = Buffer.alloc(size);
    bytes.writeUIntLE(value, 0, size);
    return bytes;
  };
  const column = (type: Columns[string], values: readonly (string | number)[]) =>
    Buffer.concat(
      values.map((value) =>
        type === "text" ? number(place(String(value)), width) : number(Number(value), type),
      ),
    );
  const streams = all.map(({ name, columns, rows }) => ({
    name: streamName(`!${name}`),
    content: Buffer.concat(
      Object.values(columns).map((type, index) =>
        column(
          type,
          rows.map((row) => row[index] ?? 0),
        ),
      ),
    ),
  }));
  const listed = all.flatMap(({ name, columns }) =>
    Object.entries(columns).map(
      ([column, type], index) =>
        [name, index + 1 + 0x8000, column, (type === "text" ? 0xdff : 0x500 + type) ^ 0x8000] as const,
    ),
  );
  const described = [0, 1, 2, 3].map((index) =>
    column(
      index % 2 ? 2 : "text",
      listed.map((row) => row[index] ?? 0),
    ),
  );
  return [
    ...streams,
    { name: streamName("!_Columns"), content: Buffer.concat(described) },
    { name: streamName("!_StringPool"), content: poolOf(texts, width, codePage) },
    { name: streamName("!_StringData"), content: Buffer.concat(texts) },
  ];
}

function poolOf(texts: readonly Buffer[], width: number, codePage: number): Buffer {
  const words = [codePage, width === 3 ? 0x8000 : 0];
  for (const { length } of texts)
    words.push(...(length < 0x10000 ? [length, 1] : [0, 1, length & 0xffff, length >>> 16]));
  const bytes = Buffer.alloc(2 * words.length);
  for (const [index, word] of words.entries()) bytes.writeUInt16LE(word, 2 * index);
  return bytes;
}

/** The hash of an installer: what is in each storage in the order of names, then the storage's class. */
function updateAll(hash: ReturnType<typeof createHash>, members: readonly Member[], classId: Buffer): void {
  const raw = ({ name }: Member) => Buffer.from(`${name}\0`, "utf16le");
  for (const member of [...members].sort((one, other) => Buffer.compare(raw(one), raw(other)))) {
    if (member.members) updateAll(hash, member.members, member.classId ?? Buffer.alloc(16));
    else hash.update(member.content ?? "");
  }
  hash.update(classId);
}

export interface SigningOfMsi extends Wishes {
  signer?: Identity;
  digest?: keyof typeof digestOids;
  subject?: string;
  signing?: Partial<Signing>;
}

/** An installer, signed if there is a signer. */
export function msi(
  members: readonly Member[],
  { signer, digest = "sha256", subject = subjects.msi, signing, ...wishes }: SigningOfMsi = {},
): Buffer {
  const classId = wishes.classId ?? installerClass;
  if (!signer) return compoundFile(members, { ...wishes, classId });
  const hash = createHash(digest);
  updateAll(hash, members, classId);
  const signature = authenticode(hash.digest(), { signer, digest, subject, signing });
  return compoundFile([...members, { name: "\u0005DigitalSignature", content: signature }], {
    ...wishes,
    classId,
  });
}
