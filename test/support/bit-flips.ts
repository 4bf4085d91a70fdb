import fc from "fast-check";
import { bytesSource } from "../../inspect/bytes/byte-source.ts";
import type { InspectOptions, Reader } from "../../inspect/inspection.ts";
import { isNightly, seed } from "./effort.ts";

/** Every bit under .ci/nightly, otherwise a sample that is the same in each run. */
function* bitsOf(size: number, sample: number): Generator<number> {
  if (isNightly) for (let bit = 0; bit < size; bit++) yield bit;
  else yield* fc.sample(fc.integer({ min: 0, max: size - 1 }), { seed, numRuns: sample });
}

/**
 * Flipped bits of a valid file that the reader does not notice, outside of the ranges that it reports as unsigned.
 * @param name of the file, where it says what the file is
 */
export async function unnoticedBits(
  read: Reader,
  file: Uint8Array,
  options: InspectOptions,
  sample: number,
  name = "file",
): Promise<string[]> {
  const bytes = Buffer.from(file);
  const { uncovered } = await read(bytesSource(bytes, name), options);
  const found: string[] = [];
  for (const bit of bitsOf(bytes.length * 8, sample)) {
    const at = bit >> 3;
    const turn = () => bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << (bit & 7)), at);
    turn();
    const { verdict } = await read(bytesSource(bytes, name), options);
    turn();
    const isUncovered = uncovered.some(({ from, to }) => at >= from && at < to);
    if (verdict === "ok" && !isUncovered) found.push(`bit ${bit & 7} of byte ${at}`);
  }
  return found;
}
