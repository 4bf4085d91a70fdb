import { createHash, type Hash } from "node:crypto";
import type { ByteSource } from "../../bytes/byte-source.ts";
import { areZeros } from "../../bytes/zeros.ts";
import { Fault, malformed } from "../../verdict.ts";
import type { PeLayout } from "./layout.ts";

const step = 1 << 18;
const longestPage = 1 << 20;

/** Authenticode hash: the whole file except its checksum, the signature and the signature's location. */
export function peDigest(source: ByteSource, layout: PeLayout, digest: string): Buffer {
  const hash = createHash(digest);
  update(hash, source, 0, layout.certificates.from, layout);
  return hash.digest();
}

/** Skips the two fields that the hash does not cover. */
function update(hash: Hash, source: ByteSource, from: number, to: number, layout: PeLayout): void {
  const { checksumAt, certificatesAt } = layout;
  const ranges = [
    [from, Math.min(to, checksumAt)],
    [Math.max(from, checksumAt + 4), Math.min(to, certificatesAt)],
    [Math.max(from, certificatesAt + 8), to],
  ] as const;
  for (const [start, end] of ranges) {
    for (let at = start; at < end; at += step) hash.update(source.read(at, Math.min(step, end - at)));
  }
}

/**
 * Checks the page hashes that Windows checks while it loads a program.
 * @param table pairs of offset and hash: the header, each page of each section, and an end marker with a zero
 * hash
 * @throws Fault bad-digest, malformed
 */
export function checkPages(
  source: ByteSource,
  layout: PeLayout,
  digest: string,
  table: Uint8Array,
  what: string,
): void {
  const size = createHash(digest).digest().length;
  const { pageSize, headerSize, sections } = layout;
  if (pageSize < 512 || pageSize > longestPage)
    throw malformed(`${source.name} has pages of ${pageSize} bytes`);
  const expected = entriesOf(table, size, what);
  const check = (from: number, length: number) => {
    const entry = expected.next().value;
    const hash = createHash(digest);
    update(hash, source, from, from + length, layout);
    hash.update(Buffer.alloc(Math.max(0, pageSize - length)));
    if (entry?.at !== from)
      throw malformed(`${what} has page hashes for other pages than ${source.name} has`);
    if (!hash.digest().equals(entry.hash))
      throw new Fault(
        "bad-digest",
        `the page of ${source.name} at byte ${from} is not the one that was signed`,
      );
  };
  check(0, headerSize);
  let end = 0;
  for (const section of sections.filter((section) => section.size > 0)) {
    end = section.from + section.size;
    for (let at = section.from; at < end; at += pageSize) check(at, Math.min(pageSize, end - at));
  }
  const last = expected.next().value;
  if (last?.at !== end || !areZeros(last.hash) || !expected.next().done)
    throw malformed(`${what} has page hashes for other pages than ${source.name} has`);
}

function* entriesOf(
  table: Uint8Array,
  size: number,
  what: string,
): Generator<{ at: number; hash: Uint8Array }, undefined> {
  if (table.length % (size + 4) !== 0) throw malformed(`${what} has page hashes that end within one`);
  for (let at = 0; at < table.length; at += size + 4) {
    const from = Buffer.from(table.subarray(at, at + 4)).readUInt32LE();
    yield { at: from, hash: table.subarray(at + 4, at + 4 + size) };
  }
}
