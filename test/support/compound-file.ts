/** Writes compound files (MS-CFB), any part of which tests can damage. */

export interface Member {
  name: string;
  content?: Uint8Array;
  /** Members of a storage. */
  members?: readonly Member[];
  classId?: Buffer;
}

export interface Wishes {
  version?: 3 | 4;
  /** Class id of the root. */
  classId?: Buffer;
  /** Changes entries of the directory before they are written, of 128 bytes each. */
  entries?: (entries: readonly Buffer[]) => void;
}

const marks = { difat: 0xfffffffc, fat: 0xfffffffd, end: 0xfffffffe, free: 0xffffffff };

const wholes = (bytes: Uint8Array, size: number, fill = 0): Buffer =>
  Buffer.concat([bytes, Buffer.alloc(-bytes.length & (size - 1), fill)]);

function words(numbers: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * numbers.length);
  for (const [index, value] of numbers.entries()) bytes.writeUInt32LE(value, 4 * index);
  return bytes;
}

/** Sectors of one size in order, and the table that chains them. */
class Chains {
  readonly table: number[] = [];
  readonly content: Buffer[] = [];
  readonly size: number;

  constructor(size: number) {
    this.size = size;
  }

  /** @returns its first sector */
  add(bytes: Uint8Array): number {
    const first = this.table.length;
    const last = first + Math.ceil(bytes.length / this.size) - 1;
    for (let sector = first; sector <= last; sector++)
      this.table.push(sector < last ? sector + 1 : marks.end);
    this.content.push(wholes(bytes, this.size));
    return bytes.length === 0 ? marks.end : first;
  }
}

/** @returns the file: header, streams, mini stream, directory, tables */
export function compoundFile(members: readonly Member[], wishes: Wishes = {}): Buffer {
  const size = wishes.version === 4 ? 4096 : 512;
  const [whole, mini] = [new Chains(size), new Chains(64)];
  const entries: Buffer[] = [];
  const root = addEntry(
    { name: "Root Entry", members, ...(wishes.classId && { classId: wishes.classId }) },
    5,
  );
  const miniStream = Buffer.concat(mini.content);
  root.writeUInt32LE(whole.add(miniStream), 116);
  root.writeUInt32LE(miniStream.length, 120);
  wishes.entries?.(entries);
  const directory = wholes(Buffer.concat(entries), size);
  const miniTable = wholes(words(mini.table), size, 0xff);
  const places = { directory: whole.add(directory), miniFat: whole.add(miniTable) };
  const counts = { directory: size === 512 ? 0 : directory.length / size, miniFat: miniTable.length / size };
  return withTables(whole, places, counts);

  function addEntry(member: Member, type: number): Buffer {
    const bytes = entryOf(member, type);
    entries.push(bytes);
    if (member.content) {
      const first = (member.content.length < 4096 ? mini : whole).add(member.content);
      bytes.writeUInt32LE(first, 116);
      bytes.writeUInt32LE(member.content.length, 120);
    }
    // An unbalanced tree: each entry has the next one as its right child.
    let link = (index: number) => bytes.writeUInt32LE(index, 76);
    for (const child of [...(member.members ?? [])].sort(inOrder)) {
      link(entries.length);
      const added = addEntry(child, child.members ? 1 : 2);
      link = (index) => added.writeUInt32LE(index, 72);
    }
    return bytes;
  }
}

function entryOf({ name, classId }: Member, type: number): Buffer {
  const bytes = Buffer.alloc(128);
  bytes.write(name, 0, "utf16le");
  bytes.writeUInt16LE(2 * name.length + 2, 64);
  bytes.writeUInt16LE(type | 0x100, 66);
  bytes.fill(0xff, 68, 80);
  classId?.copy(bytes, 80);
  return bytes;
}

const inOrder = ({ name: one }: Member, { name: other }: Member): number =>
  one.length - other.length || (one.toUpperCase() < other.toUpperCase() ? -1 : 1);

interface Each {
  directory: number;
  miniFat: number;
}

/** Header and allocation table; the table grows until it has entries for its own sectors. */
function withTables({ table: chained, content, size }: Chains, first: Each, counts: Each): Buffer {
  const [perFat, perDifat] = [size / 4, size / 4 - 1];
  let [fats, difats] = [0, 0];
  for (let before = -1; before !== fats + difats; ) {
    before = fats + difats;
    fats = Math.ceil((chained.length + fats + difats) / perFat);
    difats = Math.ceil(Math.max(0, fats - 109) / perDifat);
  }
  const table = [...chained, ...Array(fats).fill(marks.fat), ...Array(difats).fill(marks.difat)];
  const places = Array.from({ length: fats }, (_, index) => chained.length + index);
  const firstDifat = chained.length + fats;
  const difat = Array.from({ length: difats }, (_, index) => {
    const listed = places.slice(109 + index * perDifat, 109 + (index + 1) * perDifat);
    const next = index + 1 < difats ? firstDifat + index + 1 : marks.end;
    return words([...listed, ...Array(perDifat - listed.length).fill(marks.free), next]);
  });
  const header = Buffer.alloc(size);
  header.write("d0cf11e0a1b11ae1", 0, "hex");
  header.set([0x3e, 0, size === 512 ? 3 : 4, 0, 0xfe, 0xff, size === 512 ? 9 : 12, 0, 6, 0], 24);
  const { directory, miniFat } = counts;
  const fields = [
    directory,
    fats,
    first.directory,
    0,
    4096,
    first.miniFat,
    miniFat,
    difats === 0 ? marks.end : firstDifat,
    difats,
  ];
  words([...fields, ...places.slice(0, 109), ...Array(Math.max(0, 109 - fats)).fill(marks.free)]).copy(
    header,
    40,
  );
  return Buffer.concat([header, ...content, wholes(words(table), size, 0xff), ...difat]);
}
