import { createHash } from "node:crypto";
import { Fault } from "../../../documents/verdict.ts";
import type { HashedRange } from "../../bytes/hash-ranges.ts";
import type { InspectOptions } from "../../inspection.ts";
import { digestNumbered, verifierOf } from "../../signatures/openpgp.ts";
import { claimedSignature, type Found } from "../../signatures/openpgp-claim.ts";
import { integersOf, longOf, textOf } from "./header.ts";
import { type RpmLayout, signatureTags } from "./layout.ts";

/** A check that finishes after its hash has read its range of the file. */
export interface RpmCheck extends HashedRange {
  /** @throws Fault bad-signature; bad-digest */
  conclude(): Promise<void>;
}

/**
 * Header tags: hexadecimal digest of the compressed payload, and its algorithm number (RFC 9580, section
 * 9.5).
 */
const payloadDigest = { value: 5092, algorithm: 5093 };

/** @throws Fault for a problem of the signature or of its key */
export async function signatureChecks(
  { signatures, main, size }: RpmLayout,
  options: InspectOptions,
  found: Found,
): Promise<RpmCheck[]> {
  const checks: RpmCheck[] = [];
  for (const [tag, to] of [
    [signatureTags.rsa, main.to],
    [signatureTags.ecc, main.to],
    [signatureTags.legacyRsa, size],
    [signatureTags.legacyDsa, size],
  ] as const) {
    const value = signatures.tags.get(tag);
    if (!value) continue;
    const where = { base: value.at, what: `signature ${tag}`, style: "rpm", options, found } as const;
    const signature = await claimedSignature(value.bytes, where);
    checks.push({ from: main.from, to, ...verifierOf(signature, "binary", options) });
  }
  return checks;
}

/**
 * The signature header's digests sign nothing; the header's payload digest is what makes the signature cover
 * the payload.
 */
export function digestChecks({ signatures, main, size }: RpmLayout): RpmCheck[] {
  const header = { from: main.from, to: main.to };
  const sha1 = textOf(signatures, signatureTags.sha1);
  const sha256 = textOf(signatures, signatureTags.sha256);
  const md5 = signatures.tags.get(signatureTags.md5)?.bytes.toString("hex");
  const payload = textOf(main, payloadDigest.value);
  return [
    ...(sha256 === undefined ? [] : [digestCheck(header, "sha256", sha256)]),
    ...(sha1 === undefined ? [] : [digestCheck(header, "sha1", sha1)]),
    ...(payload === undefined
      ? []
      : [digestCheck({ from: main.to, to: size }, payloadAlgorithm(main), payload)]),
    ...(md5 === undefined ? [] : [digestCheck({ from: main.from, to: size }, "md5", md5)]),
  ];
}

export const isPayloadCovered = ({ main }: RpmLayout): boolean => main.tags.has(payloadDigest.value);

function payloadAlgorithm(main: RpmLayout["main"]): string {
  return digestNumbered(integersOf(main, payloadDigest.algorithm)[0] ?? 0).node;
}

function digestCheck(range: { from: number; to: number }, algorithm: string, expected: string): RpmCheck {
  const hash = createHash(algorithm);
  const what = `the ${algorithm.toUpperCase()} of bytes ${range.from} to ${range.to}`;
  return {
    ...range,
    hash,
    async conclude() {
      const digest = hash.digest("hex");
      if (digest !== expected)
        throw new Fault("bad-digest", `${what} is ${digest}, the package says ${expected}`);
    },
  };
}

/** @throws Fault bad-digest */
export function refuseOtherSize({ signatures, main, size }: RpmLayout): void {
  const expected =
    integersOf(signatures, signatureTags.size)[0] ?? longOf(signatures, signatureTags.longSize);
  if (expected !== undefined && expected !== size - main.from)
    throw new Fault(
      "bad-digest",
      `header and payload have ${size - main.from} bytes, the package says ${expected}`,
    );
}
