import type { Uncovered } from "../../bytes/ranges.ts";
import { shifted } from "../../bytes/ranges.ts";
import type { InspectOptions, Signature } from "../../inspection.ts";
import { octetsOf, sequenceOf } from "../../signatures/asn1.ts";
import { contentTypes, readSignedData, type SignedData } from "../../signatures/cms.ts";
import { signatureOf, verifyTrusted } from "../../signatures/cms-trust.ts";
import { refuseWeak } from "../../signatures/digest.ts";
import { commonNameOf } from "../../signatures/x509.ts";
import { usages } from "../../signatures/x509-chain.ts";
import { Fault, malformed, type Verdict } from "../../verdict.ts";
import { type Blob, blobsOf, isCodeDirectory, openRanges, slots } from "./blobs.ts";
import {
  type CodeDirectory,
  checkCode,
  checkSpecial,
  codeDirectoryOf,
  fingerprintOf,
  fullHashOf,
  isSpecial,
} from "./code-directory.ts";
import type { Slice } from "./macho.ts";

/** Code signature of one architecture. */
export interface SliceSignature {
  arch: string;
  verdict: Verdict;
  reason: string;
  /** The cdhash; undefined: no CodeDirectory. */
  fingerprint?: string;
  identifier?: string;
  team?: string | undefined;
  /** Undefined: unsigned or ad hoc. */
  signature?: Signature;
  keyId?: string;
  notes: readonly string[];
  /** Ranges of the whole file. */
  uncovered: readonly Uncovered[];
}

const scheme = "Apple code signature";

/** Signed attribute with the hashes of the alternate CodeDirectories. */
const otherDirectories = "1.2.840.113635.100.9.2";

/** More than a signature with the page hashes of a 4 GiB program. */
const longestSignature = 1 << 26;

export function inspectSlice(slice: Slice, options: InspectOptions): SliceSignature {
  const found: SliceSignature = { arch: slice.arch, verdict: "ok", reason: "", notes: [], uncovered: [] };
  try {
    verify(slice, options, found);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    Object.assign(found, { verdict: error.verdict, reason: `${slice.arch}: ${error.message}` });
  }
  return found;
}

function verify({ content, signature, from }: Slice, options: InspectOptions, found: SliceSignature): void {
  const { name } = content;
  if (!signature) throw new Fault("unsigned", `${name} has no code signature`);
  if (signature.size > longestSignature)
    throw malformed(`${name} has a code signature of ${signature.size} bytes`);
  const bytes = Buffer.from(content.read(signature.from, signature.size));
  const blobs = blobsOf(bytes, name);
  const directories = blobs
    .filter(({ slot }) => isCodeDirectory(slot))
    .map((blob) => codeDirectoryOf(blob, name));
  const first = directories.find(({ slot }) => slot === slots.codeDirectory);
  if (!first) throw malformed(`${name} has a code signature without a CodeDirectory`);
  const best = directories.reduce((one, other) => (other.rank > one.rank ? other : one));
  Object.assign(found, { fingerprint: fingerprintOf(best), identifier: best.identifier, team: best.team });
  const cms = blobs.find(({ slot }) => slot === slots.cms)?.bytes.subarray(8);
  const signed = cms && cms.length > 0 ? readSignedData(cms, "its code signature") : undefined;
  if (signed) describe(signed, found);
  for (const directory of directories) checkDirectory(directory, { content, signature }, blobs);
  if (!cms || !signed || best.isAdhoc) throw nobodys(best, name);
  refuseWeak(best.digest, "its CodeDirectory");
  refuseOtherContent(signed, name);
  const trusted = verifyTrusted(signed, first.bytes, cms, {
    usage: usages.codeSigning,
    what: "its code signature",
    options,
  });
  refuseUnbound(signed, first, best);
  describe(signed, found, trusted.time);
  const counts = ({ slot, bytes }: Blob) =>
    isSpecial({ slot }) || slot === slots.cms || [first, best].some((one) => one.bytes === bytes);
  const start = from + signature.from;
  const inside = openRanges(bytes, blobs, counts).map(shifted(start));
  const cmsAt = start + cms.byteOffset - bytes.byteOffset;
  Object.assign(found, {
    notes: trusted.notes,
    uncovered: [...inside, ...trusted.uncovered.map(shifted(cmsAt))],
  });
}

function describe(signed: SignedData, found: SliceSignature, time?: number): void {
  found.signature = signatureOf(signed.signer, scheme, time);
  found.keyId = commonNameOf(signed.signer.certificate);
}

/** Bytes between the hashed part and the signature, or after the signature, would be covered by neither. */
function checkDirectory(
  directory: CodeDirectory,
  {
    content,
    signature: { from, size },
  }: { content: Slice["content"]; signature: { from: number; size: number } },
  blobs: readonly Blob[],
): void {
  if (directory.codeLimit !== from || from + size !== content.size)
    throw new Fault(
      "payload-not-covered",
      `${content.name} has ${content.size} bytes, of which ${directory.codeLimit} are hashed and ${size} are its signature`,
    );
  checkCode(content, directory);
  checkSpecial(blobs, directory, content.name);
}

const nobodys = ({ isAdhoc }: CodeDirectory, name: string): Fault =>
  isAdhoc
    ? new Fault("adhoc", `${name} has hashes of its code, but no signature`)
    : new Fault(
        "unsigned",
        `${name} has hashes of its code without the signature that they are meant to have`,
      );

function refuseOtherContent({ contentType, content }: SignedData, name: string): void {
  if (contentType !== contentTypes.data || content)
    throw malformed(`${name} has a code signature over something of its own`);
}

/**
 * The signature covers the first CodeDirectory. A stronger one is used only if a signed attribute contains
 * its hash.
 */
function refuseUnbound({ signer }: SignedData, first: CodeDirectory, best: CodeDirectory): void {
  if (best === first) return;
  const what = "its code signature";
  const isListed = (signer.attributes.get(otherDirectories) ?? []).some((value) => {
    const [, hash] = sequenceOf(value, what);
    return fullHashOf(best).equals(octetsOf(hash, what));
  });
  if (!isListed)
    throw new Fault(
      "payload-not-covered",
      `${what} is not over its CodeDirectory with ${best.digest.name.toUpperCase()}`,
    );
}
