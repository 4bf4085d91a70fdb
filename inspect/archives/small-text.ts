import { mostBytes, utf8 } from "../bytes/small-file.ts";
import { malformed } from "../verdict.ts";
import type { TarEntry } from "./tar-paths.ts";

/** A short text file inside an archive, kept in memory. */
export interface SmallText {
  take(chunk: Uint8Array): void;
  bytes(): Buffer;
  text(): string;
}

/** @param what name for messages @throws Fault malformed, if it is not a short regular file */
export function smallText({ path, type, size }: TarEntry, what = path): SmallText {
  if (type !== "file" || size > mostBytes)
    throw malformed(`${path} has ${size} bytes, expected a file of ${mostBytes} at most`);
  const chunks: Buffer[] = [];
  const bytes = () => Buffer.concat(chunks);
  return {
    take: (chunk) => void chunks.push(Buffer.from(chunk)),
    bytes,
    text: () => utf8(bytes(), what),
  };
}
