import type { ByteSource } from "../../system/byte-source.ts";
import { malformed } from "../inspection.ts";

/** Longer than any signature, list of checksums or description of a package that is read whole. */
export const mostBytes = 1 << 20;

/** All bytes of a file that is short by its nature. @throws Fault malformed, when it is not */
export function readSmall(source: ByteSource): Uint8Array {
  if (source.size > mostBytes)
    throw malformed(`${source.name} has ${source.size} bytes, expected ${mostBytes} at most`);
  return Uint8Array.from(source.read(0, source.size));
}

/** @throws Fault malformed */
export function utf8(bytes: Uint8Array, what: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw malformed(`${what} is no UTF-8`);
  }
}
