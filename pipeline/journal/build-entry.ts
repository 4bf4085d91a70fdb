import type { Listing, Racy } from "./build-looks.ts";
import type { OnCacheFailure } from "./cache.ts";

/** The command line of a build, and where it ran. */
export interface BuildCall {
  /** All that was said to it: another word may mean another build. */
  words: readonly string[];
  /** What tells this program from any other, as `programIdentity` has it. */
  program: string;
  /** Where relcat is installed, with its templates and schemas. */
  own: string;
  /** The releases folder, and the cache's. */
  folder: string;
  cache: string;
  pid: number;
  /** Milliseconds since 1970. */
  clock: number;
  onCacheFailure?: OnCacheFailure;
}

/** What a build that ended well leaves, for the next one to see whether anything changed. */
export interface BuildEntry {
  /** As `callText` has it: entries of two calls may have the same name. */
  call: string;
  /** The input folders with the names of what lies in them, as `listingsIn` reads them. */
  inputs: string;
  /** Paths of every file of the site and of the folders that hold folders, each followed by a NUL. */
  outputs: Uint8Array;
  /** Looks of the inputs' folders and files, in the order of `inputs`, and of the outputs, one after another. */
  looks: Float64Array;
  said: Said;
}

/** What of an entry nothing else would contradict. */
interface Said {
  racy: Racy;
  /** What the build says when it finds everything as it was. */
  report: string;
}

export const callText = ({ words, program, own, folder }: BuildCall): string =>
  JSON.stringify([program, own, words, folder]);

/** Key of a call's entry in the cache. */
export const entryName = (text: string): string => `unchanged-${checksum(text).toString(16)}`;

/** One at a time: all of them at once would be alive together, and copied by V8's collector. */
export function* listingsIn(text: string): Generator<Listing> {
  for (const listing of text.split("\0\0")) yield listing.split("\0") as [string, ...string[]];
}

const prefix = 32; // so that the looks after it are aligned

/** One at a time, as `listingsIn`. */
export function* pathsIn(bytes: Uint8Array): Generator<string> {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0, end: number; at < text.length; at = end + 1) {
    end = text.indexOf(0, at);
    if (end < 0) return; // Cut short.
    yield text.toString("utf8", at, end);
  }
}

/** A checksum, lengths of the parts, the parts. Only the parts that are not compared with files need the checksum. */
export function* packed(
  { call, inputs, looks, said }: Omit<BuildEntry, "outputs">,
  outputs: Iterable<Uint8Array>,
): Generator<Uint8Array> {
  const saying = JSON.stringify(said);
  const texts = [call, inputs, saying].map((text) => Buffer.from(text));
  const lengths = [looks, ...texts].map(({ length }) => length);
  const head = Buffer.alloc(prefix);
  head.writeUInt32LE(checksum(lengths + saying));
  for (const [i, length] of lengths.entries()) head.writeUInt32LE(length, 4 + 4 * i);
  yield head;
  yield Buffer.from(looks.buffer, looks.byteOffset, looks.byteLength);
  yield* texts;
  yield* outputs;
}

/** @returns undefined when it was damaged, or cut short, where no comparison would show it */
export function unpacked(bytes: Buffer): BuildEntry | undefined {
  if (bytes.length < prefix) return undefined;
  const lengths = [4, 8, 12, 16].map((place) => bytes.readUInt32LE(place));
  const [looks, ...texts] = lengths as [number, ...number[]];
  let at = prefix + looks * 8;
  const [call = "", inputs = "", saying = ""] = texts.map((length) => {
    at += length;
    return bytes.toString("utf8", at - length, at);
  });
  if (bytes.readUInt32LE(0) !== checksum(lengths + saying)) return undefined;
  return {
    looks: new Float64Array(bytes.buffer, bytes.byteOffset + prefix, looks),
    call,
    inputs,
    said: JSON.parse(saying),
    outputs: bytes.subarray(at),
  };
}

/**
 * Tells damaged text from what it was. To load SHA-256 would take a fifth of Node's start.
 * @returns 32 bits
 */
function checksum(text: string): number {
  const bytes = Buffer.from(text.padEnd(text.length + 3));
  // Words, for a loop over bytes would be long enough to be compiled, which costs more than it.
  const words = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
  let sum = 0;
  for (let i = 0; i < words.length; i++) {
    sum = Math.imul(sum ^ (words[i] as number), 0x85ebca6b);
    sum ^= sum >>> 15;
  }
  return sum >>> 0;
}
