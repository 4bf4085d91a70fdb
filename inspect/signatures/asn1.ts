import { areZeros } from "../bytes/byte-source.ts";
import { malformed, refused } from "../verdict.ts";

/** An element of ASN.1 (X.690) in DER, or with BER's indefinite lengths, which Apple's signatures use. */
export interface Asn1 {
  /** First octet: class, constructed bit and number. */
  tag: number;
  /** The whole element, and its content octets. */
  raw: Uint8Array;
  content: Uint8Array;
  /** Child elements, if it is constructed. */
  inside: readonly Asn1[];
}

export const tags = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  null: 0x05,
  oid: 0x06,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** Tag of the constructed, context-specific `[number]`. */
export const context = (number: number): number => 0xa0 | number;

/** Deeper than any signature, and far below the stack limit. */
const maxNestingDepth = 40;
/** More than a signature with long revocation lists has. Each takes the memory of hundreds of bytes. */
const maxElements = 1 << 20;

/** Reads exactly one element. @throws Fault malformed, also if bytes follow the element; refuse */
export function readAsn1(bytes: Uint8Array, what: string): Asn1 {
  const found = readPaddedAsn1(bytes, what);
  if (found.raw.length !== bytes.length) throw malformed(`bytes follow the end of ${what}`);
  return found;
}

/** Like `readAsn1`, but zeros may follow. */
export function readPaddedAsn1({ buffer, byteOffset, length }: Uint8Array, what: string): Asn1 {
  // Slices of a Buffer take several times as long to create.
  const bytes = new Uint8Array(buffer, byteOffset, length);
  const found = element({ bytes, what, count: 0 }, 0, length, 0);
  if (!areZeros(bytes.subarray(found.raw.length))) throw malformed(`bytes follow the end of ${what}`);
  return found;
}

interface Reading {
  bytes: Uint8Array;
  what: string;
  /** Number of elements so far. */
  count: number;
}

function element(reading: Reading, from: number, end: number, depth: number): Asn1 {
  const { bytes, what } = reading;
  if (depth > maxNestingDepth) throw malformed(`${what} is nested deeper than ${maxNestingDepth} elements`);
  if (++reading.count > maxElements) throw refused(`${what} has over ${maxElements} elements`);
  const tag = bytes[from] ?? 0;
  if (end - from < 2 || (tag & 0x1f) === 0x1f) throw malformed(`${what} is not ASN.1 at its byte ${from}`);
  const isConstructed = (tag & 0x20) !== 0;
  const { start, length } = extent(bytes, from + 1, end, what);
  if (length === undefined) {
    if (!isConstructed) throw malformed(`${what} has a value without an end at its byte ${from}`);
    const inside = elements(reading, start, end, depth, true);
    const stop = start + inside.reduce((sum, part) => sum + part.raw.length, 0);
    return { tag, raw: bytes.subarray(from, stop + 2), content: bytes.subarray(start, stop), inside };
  }
  const stop = start + length;
  if (stop > end)
    throw malformed(`${what} has ${length} bytes at its byte ${from}, which reach beyond the end`);
  const inside = isConstructed ? elements(reading, start, stop, depth, false) : [];
  return { tag, raw: bytes.subarray(from, stop), content: bytes.subarray(start, stop), inside };
}

function elements(reading: Reading, from: number, end: number, depth: number, isOpen: boolean): Asn1[] {
  const { bytes, what } = reading;
  const found: Asn1[] = [];
  let at = from;
  for (; at < end && !(isOpen && bytes[at] === 0 && bytes[at + 1] === 0); ) {
    const next = element(reading, at, end, depth + 1);
    found.push(next);
    at += next.raw.length;
  }
  if (isOpen && at + 2 > end) throw malformed(`${what} has elements without an end`);
  return found;
}

/** Offset and length of the content; undefined length: up to the end-of-contents octets. */
function extent(bytes: Uint8Array, at: number, end: number, what: string) {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return { start: at + 1, length: first };
  if (first === 0x80) return { start: at + 1, length: undefined };
  const start = at + 1 + (first & 0x7f);
  if (first > 0x84 || start > end) throw malformed(`${what} has a length that cannot be at its byte ${at}`);
  let length = 0;
  for (const octet of bytes.subarray(at + 1, start)) length = length * 256 + octet;
  const isShortest = length >= 0x80 && length >= 256 ** (start - at - 2);
  if (!isShortest) throw malformed(`${what} has a length at its byte ${at} that is longer than necessary`);
  return { start, length };
}

/** @throws Fault malformed, if the element is missing or has another tag */
export function expectTag(found: Asn1 | undefined, tag: number, what: string): Asn1 {
  if (found?.tag === tag) return found;
  const is = found ? `the tag 0x${found.tag.toString(16)}` : "nothing";
  throw malformed(`${what} has ${is} where 0x${tag.toString(16)} was expected`);
}

export const sequenceOf = (found: Asn1 | undefined, what: string): readonly Asn1[] =>
  expectTag(found, tags.sequence, what).inside;

/** In dotted form (X.690, 8.19). @throws Fault malformed */
export function oidOf(found: Asn1 | undefined, what: string): string {
  const { content } = expectTag(found, tags.oid, what);
  const arcs: number[] = [];
  let arc = 0;
  for (const octet of content) {
    arc = arc * 128 + (octet & 0x7f);
    if (octet >= 0x80) continue;
    if (arcs.length === 0) arcs.push(Math.min(2, Math.floor(arc / 40)));
    arcs.push(arcs.length === 1 ? arc - 40 * (arcs[0] ?? 0) : arc);
    arc = 0;
  }
  if (arcs.length === 0 || (content.at(-1) ?? 0) >= 0x80)
    throw malformed(`${what} has an object identifier without an end`);
  return arcs.join(".");
}

/** A non-negative INTEGER in the safe range. @throws Fault malformed */
export function integerOf(found: Asn1 | undefined, what: string): number {
  const { content } = expectTag(found, tags.integer, what);
  if (content.length === 0 || content.length > 6 || (content[0] ?? 0) >= 0x80)
    throw malformed(`${what} has a number of ${content.length} bytes, expected a small one`);
  return content.reduce((sum, octet) => sum * 256 + octet, 0);
}

/** The OCTET STRING may be split into several parts. @throws Fault malformed */
export function octetsOf(found: Asn1 | undefined, what: string): Uint8Array {
  if (found?.tag === tags.octets) return found.content;
  const pieces = expectTag(found, tags.octets | 0x20, what).inside;
  return Buffer.concat(pieces.map((piece) => expectTag(piece, tags.octets, what).content));
}

/** UTCTime or GeneralizedTime in UTC without fractions, as milliseconds since 1970. @throws Fault malformed */
export function timeOf(found: Asn1 | undefined, what: string): number {
  const text = found ? Buffer.from(found.content).toString("latin1") : "";
  const isShort = found?.tag === tags.utcTime;
  if (!isShort) expectTag(found, tags.generalizedTime, what);
  const parts = /^(\d{2}|\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:\.\d+)?Z$/.exec(text);
  const [year = "", ...rest] = parts?.slice(1) ?? [];
  if (year.length !== (isShort ? 2 : 4)) throw malformed(`${what} has ${JSON.stringify(text)} for a time`);
  // RFC 5280, 4.1.2.5.1: two digits mean 1950 to 2049.
  const whole = isShort ? (Number(year) < 50 ? 2000 : 1900) + Number(year) : Number(year);
  const [month = 0, day = 0, hour = 0, minute = 0, second = 0] = rest.map(Number);
  const time = Date.UTC(whole, month - 1, day, hour, minute, second);
  if (Number.isNaN(time)) throw malformed(`${what} has ${JSON.stringify(text)} for a time`);
  return time;
}
