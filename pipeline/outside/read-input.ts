import { createReadStream, type ReadStream } from "node:fs";
import { failure } from "../errors.ts";
import { accessFailure } from "./files.ts";

/**
 * The bytes of a file somebody named, or of standard input for "-".
 * @throws RelcatError file-access, file-size
 */
export async function readInput(source: string, limit: number): Promise<Uint8Array> {
  const stream: ReadStream =
    source === "-" ? createReadStream("", { fd: 0, autoClose: false }) : createReadStream(source);
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
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
