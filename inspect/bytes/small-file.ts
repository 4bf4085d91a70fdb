import { malformed } from "../verdict.ts";
import type { ByteSource } from "./byte-source.ts";

/** Larger than any signature, checksum list or package description that is read whole. */
export const maxSmallFileBytes = 1 << 20;

/** Reads a file that should be small. @throws Fault malformed, if it is larger than the limit */
export function readSmall(source: ByteSource): Uint8Array {
  if (source.size > maxSmallFileBytes)
    throw malformed(`${source.name} has ${source.size} bytes, expected ${maxSmallFileBytes} at most`);
  return Uint8Array.from(source.read(0, source.size));
}

export function utf8(bytes: Uint8Array, what: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw malformed(`${what} is not UTF-8`);
  }
}
