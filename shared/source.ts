import { isUtf8 } from "node:buffer";
import { lastNotGreater } from "./binary-search.ts";
import { type Code, failure, type Place, type RelcatError } from "./errors.ts";

/** One authored file. `file` is the displayed path, relative to the current folder of the command. */
export interface Source {
  file: string;
  text: string;
}

/** Larger files are not written by people (YAML) or build jobs (JSON), but accidents or attacks. */
const maxBytes = (file: string) => (file.endsWith(".json") ? 4 : 1) * 1024 * 1024;

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** YAML 1.2 allows a byte order mark, which editors on Windows write; JSON forbids it. */
const mayHaveMark = (file: string) => /\.ya?ml(?:[?#].*)?$/.test(file);

/**
 * Decodes a file. YAML loses its byte order mark, which no editor counts as a column.
 * @throws RelcatError file-size, or file-encoding at the first byte that is not UTF-8 text
 */
export function decode(file: string, bytes: Uint8Array, limit = maxBytes(file)): Source {
  if (bytes.length > limit) {
    throw failure(
      "file-size",
      `the file has ${bytes.length} bytes, expected at most ${limit}`,
      "Split it: any number of manifests and fragments may be in the same folder.",
      { file, line: 1, column: 1 },
    );
  }
  const isMarked = beginsWithMark(bytes);
  if (isMarked && !mayHaveMark(file)) {
    throw notText(file, "", "the file starts with a byte order mark", "Save it as UTF-8 without BOM.");
  }
  const text = decodeStrictly(file, isMarked ? bytes.subarray(3) : bytes);
  const nul = text.indexOf("\0");
  if (nul !== -1)
    throw notText(file, text.slice(0, nul), "the file contains a NUL byte", "Is it a binary file?");
  return { file, text };
}

export const beginsWithMark = (bytes: Uint8Array) =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;

/** Size in bytes above which a text is decoded in pieces. */
const long = 32 << 20;
const pieceSize = 1 << 18;

/** A long file comes in pieces that end with a line. @throws RelcatError file-encoding */
export function* decodePieces(file: string, bytes: Uint8Array): Generator<string> {
  // Errors are located in the whole file.
  if (bytes.length < long || beginsWithMark(bytes) || !isUtf8(bytes) || bytes.includes(0)) {
    yield decode(file, bytes, Number.MAX_SAFE_INTEGER).text;
    return;
  }
  for (let from = 0, to = 0; from < bytes.length; from = to) {
    to = bytes.indexOf(10, from + pieceSize) + 1 || bytes.length;
    yield decoder.decode(bytes.subarray(from, to));
  }
}

function decodeStrictly(file: string, bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    const hint = "Save it as UTF-8; binary files do not belong here.";
    throw notText(file, textBeforeFault(bytes), "the file is not UTF-8", hint);
  }
}

/** Encodes the decoded text again and stops at the first different byte. */
function textBeforeFault(bytes: Uint8Array): string {
  const again = new TextEncoder().encode(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes));
  const fault = bytes.findIndex((byte, index) => byte !== again[index]);
  const sound = bytes.subarray(0, fault === -1 ? bytes.length : fault);
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(sound, { stream: true });
}

function notText(file: string, before: string, message: string, hint: string): RelcatError {
  const lines = before.split("\n");
  const place = { file, line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
  return failure("file-encoding", `${message}, expected UTF-8 text`, hint, place);
}

export function placeAt(source: Source, offset: number): Place {
  const starts = lineStarts(source);
  const line = lastNotGreater(starts.length, (index) => starts[index] ?? 0, offset);
  const start = starts[line] ?? 0;
  const end = starts[line + 1];
  const excerpt = source.text.slice(start, end && end - 1).replace(/\r$/, "");
  return { file: source.file, line: line + 1, column: offset - start + 1, excerpt };
}

const startsOf = new WeakMap<Source, number[]>();

/** Cached, because a file may have many problems. */
function lineStarts(source: Source): number[] {
  let starts = startsOf.get(source);
  if (starts) return starts;
  starts = [0];
  for (let at = source.text.indexOf("\n"); at !== -1; at = source.text.indexOf("\n", at + 1))
    starts.push(at + 1);
  startsOf.set(source, starts);
  return starts;
}

export type Path = readonly (string | number)[];

export interface Syntax {
  value: unknown;
  /** Offset of the value at `path` or of its key; if missing, of the nearest parent. */
  locate(path: Path, part: "key" | "value"): number;
  /** Source text of the scalar at `path`, for formats with type coercion (YAML). */
  spelling(path: Path): string | undefined;
}

export class SyntaxProblem extends Error {
  override readonly name = "SyntaxProblem";
  readonly code: Code;
  readonly offset: number;
  readonly hint: string | undefined;

  constructor(code: Code, offset: number, message: string, hint?: string) {
    super(message);
    this.code = code;
    this.offset = offset;
    this.hint = hint;
  }
}

/** @throws RelcatError with the place of the first error */
export function parseSource(source: Source, parse: (text: string) => Syntax): Syntax {
  try {
    return parse(source.text);
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
    throw failure(error.code, error.message, error.hint, placeAt(source, error.offset), error);
  }
}

/** @param first offset of the first occurrence, @param second of the reported one */
export function duplicateKey(key: unknown, text: string, first: number, second: number): SyntaxProblem {
  const { line, column } = placeAt({ file: "", text }, first);
  return new SyntaxProblem(
    "duplicate-key",
    second,
    `the key ${JSON.stringify(key)} occurs twice in one object, first at line ${line}, column ${column}`,
    "Remove one of them: readers disagree about which one counts.",
  );
}

export const maxDepth = 64;
export const tooDeep = (offset: number) =>
  new SyntaxProblem(
    "nesting-depth",
    offset,
    `values are nested more than ${maxDepth} levels deep, expected fewer`,
    "No document of a catalog is that deep: is it the right file?",
  );
