import type { TarEntry } from "../archives/tar.ts";
import { malformed } from "../inspection.ts";
import { mostBytes, utf8 } from "./small-file.ts";

/** A description inside an archive, held in memory. */
export interface SmallText {
  take(chunk: Uint8Array): void;
  bytes(): Buffer;
  /** @throws Fault malformed */
  text(): string;
}

/** @param what it is, for messages @throws Fault malformed, when it is no short file */
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
