import { createReadStream, type ReadStream } from "node:fs";
import { failure } from "../../shared/errors.ts";
import { accessFailure, refuseSpecial } from "./access-failure.ts";

/** @throws RelcatError usage for non-web addresses, which are not file names either */
export function refuseScheme(source: string): void {
  const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(source) ?? [];
  if (scheme === undefined || /^https?$/i.test(scheme)) return;
  throw failure(
    "usage",
    `${source} cannot be read: ${scheme} addresses are not supported`,
    "Give an https address, or a file.",
  );
}

/**
 * Reads a file named by the user, or standard input for "-".
 * @throws RelcatError file-access, file-size
 */
export async function readInput(source: string, limit: number): Promise<Uint8Array> {
  refuseScheme(source);
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    if (source !== "-") refuseSpecial(source);
    const stream: ReadStream =
      source === "-" ? createReadStream("", { fd: 0, autoClose: false }) : createReadStream(source);
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      size += chunk.length;
      if (size > limit) break;
      chunks.push(chunk);
    }
  } catch (error) {
    throw accessFailure(source === "-" ? "cannot read standard input" : `cannot read ${source}`, error);
  }
  if (size > limit)
    throw failure("file-size", `${source} has more than ${limit} bytes`, "Is it the list of a catalog?");
  return Buffer.concat(chunks);
}
