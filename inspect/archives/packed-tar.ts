import { type ByteSource, maxSmallFileBytes, utf8 } from "../bytes/byte-source.ts";
import { malformed } from "../verdict.ts";
import { type Compression, decompress } from "./decompress.ts";
import { type OnEntry, type TarEntry, tarReader } from "./tar.ts";

export interface PackedTar {
  source: ByteSource;
  compression: Compression;
}

/** @throws Fault malformed; whatever decompress throws */
export async function readPackedTar(
  { source, compression }: PackedTar,
  limit: number,
  entry: OnEntry,
): Promise<void> {
  const tar = tarReader(entry);
  await decompress(source, compression, limit, tar.write);
  tar.end();
}

/**
 * @returns short text files by the names that messages use; a file that is missing has none
 * @throws Fault malformed, also for several matches of one path; whatever decompress throws
 */
export async function textsInTar<Name extends string>(
  packed: PackedTar,
  limit: number,
  wanted: Readonly<Record<Name, RegExp>>,
): Promise<Partial<Record<Name, string>>> {
  const found: { what: Name; text: SmallText }[] = [];
  await readPackedTar(packed, limit, (entry) => {
    for (const what in wanted) {
      if (!wanted[what].test(entry.path)) continue;
      const text = smallText(entry, what);
      found.push({ what, text });
      return text.take;
    }
    return undefined;
  });
  const texts: Partial<Record<Name, string>> = {};
  for (const { what, text } of found) {
    const { length } = found.filter((other) => other.what === what);
    if (length > 1) throw malformed(`${packed.source.name} has ${what} ${length} times, expected once`);
    texts[what] = text.text();
  }
  return texts;
}

export type SmallText = ReturnType<typeof smallText>;

/** A file of an archive, kept in memory. @throws Fault malformed, if it is not a short regular file */
export function smallText({ path, type, size }: TarEntry, what = path) {
  if (type !== "file" || size > maxSmallFileBytes)
    throw malformed(`${path} has ${size} bytes, expected a file of ${maxSmallFileBytes} at most`);
  const chunks: Buffer[] = [];
  const bytes = () => Buffer.concat(chunks);
  return {
    take: (chunk: Uint8Array) => void chunks.push(Buffer.from(chunk)),
    bytes,
    text: () => utf8(bytes(), what),
  };
}
