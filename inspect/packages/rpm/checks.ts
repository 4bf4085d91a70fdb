import { createHash } from "node:crypto";
import type { HashedRange, Uncovered } from "../../bytes/byte-source.ts";
import type { Found, InspectOptions } from "../../inspection.ts";
import { claimedSignature, digestNumbered, verifierOf } from "../../signatures/openpgp.ts";
import { base64Place, blanks, type Place } from "../../signatures/openpgp-text.ts";
import { badDigest, Fault, malformed, refused } from "../../verdict.ts";
import { integersOf, longsOf, type RpmHeader, textOf, textsOf } from "./header.ts";
import { type RpmLayout, signatureTags } from "./layout.ts";

/** A check that finishes after its hash has read its range of the file. */
export interface RpmCheck extends HashedRange {
  /** @throws Fault bad-signature; bad-digest */
  conclude(): Promise<void>;
}

/**
 * Header tags: hexadecimal digests of the payload as it is, and of the unpacked payload, which is the right
 * one after rpm rewrote the package with an unpacked payload. rpm 4 names the algorithm of the first.
 */
const payloadDigests = [
  { packed: 5092, unpacked: 5097, digest: "sha256" },
  { packed: 5121, unpacked: 5122, digest: "sha512" },
  { packed: 5123, unpacked: 5124, digest: "sha3-256" },
];
/** Number of the algorithm of tags 5092 and 5097 (RFC 9580, section 9.5). */
const payloadAlgorithm = 5093;

/**
 * A package with a signature that covers it may have more in tag 278, of algorithms and versions that relcat does not
 * know; they get a note. rpm refuses such a signature in another tag.
 * @throws Fault for a problem of the signature or of its key
 */
export async function signatureChecks(
  { signatures, main, size }: RpmLayout,
  options: InspectOptions,
  found: Found,
): Promise<RpmCheck[]> {
  const checks: RpmCheck[] = [];
  const add = async (
    bytes: Uint8Array,
    to: number,
    where: { base: number; what: string; place?: Place; found: Found },
  ) => {
    const signature = await claimedSignature(bytes, { ...where, style: "rpm", options });
    checks.push({ from: main.from, to, ...verifierOf(signature, "binary", options) });
  };
  for (const [tag, to] of [
    [signatureTags.rsa, main.to],
    [signatureTags.ecc, main.to],
    [signatureTags.legacyRsa, size],
    [signatureTags.legacyDsa, size],
  ] as const) {
    const value = signatures.tags.get(tag);
    if (value) await add(value.bytes, to, { base: value.at, what: `signature ${tag}`, found });
  }
  const unread: Fault[] = [];
  for (const { text, base, what } of openPgpTexts(signatures)) {
    // The signer that is reported must be that of a signature that was read.
    const before = { key_id: null, signature: null, uncovered: [], ...found };
    try {
      await add(decoded(text, what), main.to, { base, what, place: base64Place(base, text), found });
    } catch (fault) {
      if (!(fault instanceof Fault) || fault.verdict !== "unsupported-format") throw fault;
      unread.push(fault);
      Object.assign(found, before);
    }
  }
  if (checks.length === 0 && unread[0]) throw unread[0];
  found.notes = unread.map(
    ({ message }) => `An additional signature is not checked: ${message.replace(/\.$/, "")}.`,
  );
  found.uncovered = [...(found.uncovered ?? []), ...openTexts(signatures, checks.length + unread.length)];
  return checks;
}

/** More than any package has. */
const maxSignatures = 64;

/** @returns `base`: offset of each text in the file */
function openPgpTexts(signatures: RpmHeader) {
  const value = signatures.tags.get(signatureTags.openpgp);
  if (value && value.count > maxSignatures)
    throw refused(`it has ${value.count} signatures, expected ${maxSignatures} at most`);
  let base = value?.at ?? 0;
  return textsOf(signatures, signatureTags.openpgp).map((text, index) => {
    const what = `signature ${signatureTags.openpgp}, number ${index + 1},`;
    const found = { text, base, what };
    base += text.length + 1;
    return found;
  });
}

/** As rpm 6, which ignores blanks and control characters. @throws Fault malformed */
function decoded(text: string, what: string): Buffer {
  const plain = text.replace(blanks, "");
  const bytes = Buffer.from(plain, "base64");
  if (bytes.toString("base64") !== plain) throw malformed(`${what} is not base64`);
  return bytes;
}

/** Any of several signatures can be changed to one that relcat does not know. @param count of all signatures */
function openTexts(signatures: RpmHeader, count: number): Uncovered[] {
  return openPgpTexts(signatures).flatMap(({ text, base }) =>
    count > 1
      ? [{ from: base, to: base + text.length, why: "a signature of tag 278 that is not the only signature" }]
      : [...text.matchAll(blanks)].map(({ 0: { length }, index }) => ({
          from: base + index,
          to: base + index + length,
          why: "blanks and line ends in the base64 of a signature",
        })),
  );
}

/** Digests of the signature header sign nothing; with the header's payload digest, the signature covers the payload. */
export function digestChecks({ signatures, main, size }: RpmLayout): RpmCheck[] {
  const header = { from: main.from, to: main.to };
  const ofHeader = [
    ["sha3-256", signatureTags.sha3],
    ["sha256", signatureTags.sha256],
    ["sha1", signatureTags.sha1],
  ] as const;
  const md5 = signatures.tags.get(signatureTags.md5)?.bytes.toString("hex");
  return [
    ...ofHeader.flatMap(([algorithm, tag]) => digestCheck(header, algorithm, textOf(signatures, tag))),
    ...payloadDigests.flatMap(({ packed, unpacked, digest }) => {
      const expected = textOf(main, packed);
      if (expected === undefined) return [];
      const [number] = packed === 5092 ? integersOf(main, payloadAlgorithm) : [];
      const algorithm = number === undefined ? digest : digestNumbered(number);
      return digestCheck({ from: main.to, to: size }, algorithm, expected, textOf(main, unpacked));
    }),
    ...digestCheck({ from: main.from, to: size }, "md5", md5),
  ];
}

export const isPayloadCovered = ({ main }: RpmLayout): boolean =>
  payloadDigests.some(({ packed }) => main.tags.has(packed));

function digestCheck(
  range: { from: number; to: number },
  algorithm: string,
  expected: string | undefined,
  other = expected,
): RpmCheck[] {
  if (expected === undefined) return [];
  const hash = createHash(algorithm);
  const what = `the ${algorithm.toUpperCase()} of bytes ${range.from} to ${range.to}`;
  const conclude = async () => {
    const digest = hash.digest("hex");
    // rpm compares digests in capital letters too.
    if (digest !== expected.toLowerCase() && digest !== other?.toLowerCase())
      throw badDigest(`${what} is ${digest}, the package says ${expected}`);
  };
  return [{ ...range, hash, conclude }];
}

/** A size in the signature header that is wrong proves nothing: rpm ignores it, and older versions wrote others. */
export function sizeNotes({ signatures, main, size }: RpmLayout): string[] {
  const stated =
    integersOf(signatures, signatureTags.size)[0] ?? longsOf(signatures, signatureTags.longSize)[0];
  const [statedLength] = integersOf(signatures, signatureTags.fileSignatureLength);
  const lengths = textsOf(signatures, signatureTags.fileSignatures).map((hex) => hex.length / 2);
  const compared = [
    ["Header and payload have", size - main.from, stated],
    [
      "The longest signature of a file has",
      lengths.reduce((one, other) => Math.max(one, other), 0),
      statedLength,
    ],
  ] as const;
  return compared
    .filter(([, actual, stated]) => stated !== undefined && stated !== actual)
    .map(([what, actual, stated]) => `${what} ${actual} bytes, but the package says ${stated}.`);
}
