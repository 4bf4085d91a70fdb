/** An entry of a tar archive, valid or not. */
export interface TarEntry {
  name: string;
  content?: string | Uint8Array;
  /** The type flag; 0: a file. */
  type?: string;
  link?: string;
  /** Size in the header, if it differs from the content's. */
  size?: number;
  magic?: string;
}

/** A tar archive in the form ustar: names of files and their contents. */
export const tar = (files: Readonly<Record<string, string | Uint8Array>>): Buffer =>
  tarOf(Object.entries(files).map(([name, content]) => ({ name, content })));

export const tarOf = (entries: readonly TarEntry[]): Buffer =>
  Buffer.concat([...entries.map(tarEntry), Buffer.alloc(1024)]);

export function tarEntry(entry: TarEntry): Buffer {
  const content = Buffer.from((entry.content ?? "") as string);
  return Buffer.concat([tarHeader(entry, content.length), content, Buffer.alloc(-content.length & 511)]);
}

function tarHeader(
  { name, type = "0", link = "", size, magic = "ustar\x0000" }: TarEntry,
  length: number,
): Buffer {
  const header = Buffer.alloc(512);
  header.write(name);
  header.write("0000644\x000000000\x000000000\0", 100);
  header.write(
    `${(size ?? length).toString(8).padStart(11, "0")}\0${"0".repeat(11)}\0${" ".repeat(8)}${type}`,
    124,
  );
  header.write(link, 157);
  header.write(magic, 257);
  return withSum(header);
}

/** A changed header with its new checksum. */
export function withSum(header: Buffer): Buffer {
  header.write(" ".repeat(8), 148);
  let sum = 0;
  for (let at = 0; at < 512; at++) sum += header.readUInt8(at);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return header;
}
