import { malformed } from "../../documents/verdict.ts";
import type { ByteSource } from "../../system/byte-source.ts";
import { type SmallText, smallText } from "../bytes/small-text.ts";
import { type Compression, decompress } from "./decompress.ts";
import { type OnEntry, tarReader } from "./tar.ts";

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
 * Reads the only short text file whose path matches.
 * @param what name for messages
 * @throws Fault malformed, also for no match or several; whatever decompress throws
 */
export async function textInTar(
  packed: PackedTar,
  limit: number,
  path: RegExp,
  what: string,
): Promise<string> {
  const found: SmallText[] = [];
  await readPackedTar(packed, limit, (entry) => {
    if (!path.test(entry.path)) return undefined;
    const text = smallText(entry, what);
    found.push(text);
    return text.take;
  });
  const [text, ...others] = found;
  if (text && others.length === 0) return text.text();
  throw malformed(`${packed.source.name} has ${what} ${found.length} times, expected once`);
}
