import type { FileSignature } from "./inspection.ts";

/** Executables inside packages need random access, so they are kept in memory; larger ones are reported but not read. */
const maxHeldBytes = 96 << 20;

const headSize = 8;

/**
 * Keeps a file of a package in memory if its first bytes are wanted; other files stream past, to `other`.
 * @param size of the whole file, according to the package
 */
export function heldFile(
  size: number,
  isWanted: (head: Uint8Array) => boolean,
  other = (_chunk: Uint8Array) => {},
) {
  let head: Uint8Array = new Uint8Array(0);
  let held: Uint8Array<ArrayBuffer> | undefined;
  let isKnown = false;
  let done = 0;

  function begin(chunk: Uint8Array): Uint8Array | undefined {
    head = Buffer.concat([head, chunk]);
    if (head.length < Math.min(headSize, size)) return undefined;
    isKnown = true;
    if (isWanted(head)) held = new Uint8Array(size <= maxHeldBytes ? size : 0);
    return head;
  }

  return {
    write(chunk: Uint8Array) {
      const bytes = isKnown ? chunk : begin(chunk);
      if (!bytes) return;
      if (held) held.set(bytes.subarray(0, held.length - done), Math.min(done, held.length));
      else other(bytes);
      done = Math.min(done + bytes.length, held?.length ?? 0);
    },
    /** Undefined: not a wanted file. `too-large`: wanted, but above the memory limit. */
    bytes: () => (held && size > maxHeldBytes ? "too-large" : held?.subarray(0, done)),
    /** Frees the memory now, because the next file may need as much. */
    release: () => void held?.buffer.transfer(0),
  };
}

export const tooLarge = (name: string): FileSignature => ({
  name,
  signature: null,
  verdict: "unsupported-format",
});
