import type { InspectOptions, Signature, settled } from "../inspection.ts";
import { malformed } from "../verdict.ts";
import { digestNameOf, keysOf } from "./openpgp.ts";
import { type Armor, isArmored, readArmor } from "./openpgp-armor.ts";
import { type OpenPgpSignature, readOpenPgpSignature } from "./openpgp-signature.ts";

export type Found = Parameters<typeof settled>[1];

/** Vocabulary and key id format of rpm or of gpg. */
export type Style = "rpm" | "gpg";

/**
 * Reads a signature, armored or binary, and records the claimed signer and the uncovered bytes.
 * @param base its offset in the file
 * @param place maps a range of the bytes to the file, if they were encoded there
 * @param found the first signature of an artifact sets the signer
 * @throws Fault malformed; unsupported-format
 */
export async function claimedSignature(
  bytes: Uint8Array,
  {
    base,
    what,
    style,
    options,
    found,
    place = (from, to) => ({ from: base + from, to: base + to }),
  }: {
    base: number;
    what: string;
    style: Style;
    options: InspectOptions;
    found: Found;
    place?: Armor["place"];
  },
): Promise<OpenPgpSignature> {
  const armor = isArmored(bytes) ? readArmor(bytes, base, what) : undefined;
  const signature = await readOpenPgpSignature(armor?.bytes ?? bytes, what);
  const { from, to } = signature.unhashed;
  const unhashed = (armor?.place ?? place)(from, to);
  const why = "unhashed subpackets of an OpenPGP signature";
  found.uncovered = [...(found.uncovered ?? []), ...(armor?.headers ?? []), { ...unhashed, why }];
  const claim = claimOf(signature, options, style);
  found.key_id ??= style === "rpm" ? signature.keyId : claim.fingerprint;
  found.signature ??= claim;
  if (armor?.isFollowed) throw malformed(`text follows the end of ${what}`);
  return signature;
}

function claimOf(signature: OpenPgpSignature, { keys }: InspectOptions, style: Style): Signature {
  const [key] = keysOf(signature, keys.openpgp);
  const fingerprint = key?.fingerprint ?? signature.fingerprint ?? signature.keyId;
  return { signer: key?.userId ?? fingerprint, display: displayOf(signature, style), fingerprint };
}

/** RFC 9580, section 9.1, in rpm's words. */
const algorithms = new Map([
  [1, "RSA"],
  [17, "DSA"],
  [19, "ECDSA"],
  [22, "EdDSA"],
  [27, "Ed25519"],
  [28, "Ed448"],
]);

function displayOf(signature: OpenPgpSignature, style: Style): string {
  const made = date(signature.created);
  if (style === "gpg") return `Signature made ${made} UTC`;
  const { publicKeyAlgorithm: id } = signature.packet;
  return `${algorithms.get(Number(id)) ?? id}/${digestNameOf(signature)}, ${made}, Key ID ${signature.keyId}`;
}

/** The format of date(1) in the C locale, in UTC. */
function date(time: number): string {
  const [weekday = "", day = "", month, year, clock] = new Date(time).toUTCString().split(" ");
  return `${weekday.slice(0, 3)} ${month} ${String(Number(day)).padStart(2)} ${clock} ${year}`;
}
