import { createHash, type Hash, verify } from "node:crypto";
import type { PublicKey } from "openpgp";
import type { InspectOptions } from "../inspection.ts";
import type { OpenPgpKey, SigningKey } from "../keys.ts";
import { Fault, unsupported } from "../verdict.ts";
import { isRsaSigned } from "./digest.ts";
import { type OpenPgpSignature, signatureTypes } from "./openpgp-signature.ts";

/** RFC 9580, section 9.5. node:crypto has the same names in lower case. */
const digests = new Map([
  [8, "SHA256"],
  [9, "SHA384"],
  [10, "SHA512"],
  [11, "SHA224"],
  [12, "SHA3-256"],
  [14, "SHA3-512"],
]);
const weakDigests = new Map([
  [1, "MD5"],
  [2, "SHA1"],
  [3, "RIPEMD160"],
]);

/** Allowed clock difference between build hosts, in milliseconds. */
const skew = 24 * 60 * 60 * 1000;

/** Collects keys with this id from all files, and merges their revocations. */
export function keysOf(
  signature: OpenPgpSignature,
  keys: readonly OpenPgpKey[],
): (SigningKey & OpenPgpKey)[] {
  const isIt = ({ keyId, fingerprint }: SigningKey) =>
    keyId === signature.keyId && fingerprint === (signature.fingerprint ?? fingerprint);
  return keys.flatMap((certificate) =>
    certificate.signing.filter(isIt).map((key) => ({ ...certificate, ...key })),
  );
}

/**
 * Hashes the content that a signature should cover, then verifies the signature.
 * @param type accepted signature type: binary, or text in canonical form
 * @throws Fault untrusted-key, revoked-key, weak-digest, expired-certificate, bad-signature,
 * unsupported-format
 */
export function verifierOf(signature: OpenPgpSignature, type: "binary" | "text", options: InspectOptions) {
  if (signature.packet.signatureType !== signatureTypes[type])
    throw unsupported(`it has a signature that is not over ${type} data`);
  const signer = signerOf(signature, options);
  const hash = createHash(digestOf(signature));
  return {
    hash,
    /** Called once, after the hash has received everything. @throws Fault bad-signature */
    conclude: () => conclude(signature, signer, hash),
  };
}

/** The key must have been allowed at the signature's time, and be allowed now. */
function signerOf(signature: OpenPgpSignature, { keys, now }: InspectOptions): SigningKey {
  const known = keysOf(signature, keys.openpgp);
  const [first] = known;
  const id = signature.fingerprint ?? signature.keyId;
  if (!first) throw new Fault("untrusted-key", `it is signed by ${id}, which is not an allowed key`);
  if (known.some((key) => key.isRevoked))
    throw new Fault("revoked-key", `it is signed by ${id}, which is revoked`);
  digestOf(signature);
  refuseUnknownCritical(signature);
  const ends = Math.min(
    Math.max(...known.map((key) => key.expires)),
    Number(signature.packet.getExpirationTime()),
  );
  if (ends <= now)
    throw new Fault("expired-certificate", `the signature or its key ${id} expired on ${day(ends)}`);
  const { created } = signature;
  const untrusted = (when: string) => new Fault("untrusted-key", `it is signed on ${day(created)}, ${when}`);
  if (created < first.created) throw untrusted(`before its key ${id} was made`);
  if (created > now + skew) throw untrusted("which is in the future");
  const signer = known.find((key) => isWithin(created, key));
  if (!signer) throw untrusted(`when ${id} was not allowed`);
  return signer;
}

const day = (time: number): string => new Date(time).toISOString().slice(0, 10);

const isWithin = (time: number, { notBefore, notAfter }: OpenPgpKey): boolean =>
  time >= (notBefore ?? time) && time <= (notAfter ?? time);

function refuseUnknownCritical({ packet }: OpenPgpSignature): void {
  const [subpacket] = packet.unknownSubpackets.filter(({ critical }) => critical);
  const [notation] = packet.rawNotations.filter(({ critical }) => critical);
  if (!subpacket && !notation) return;
  const what = subpacket ? `subpacket ${subpacket.type}` : `notation ${notation?.name}`;
  throw unsupported(`the signature demands that its ${what} is understood, which it is not`);
}

/** Spelled as rpm and gpg do. */
export function digestNameOf({ packet }: OpenPgpSignature): string {
  const id = Number(packet.hashAlgorithm);
  return digests.get(id) ?? weakDigests.get(id) ?? String(id);
}

const digestOf = ({ packet }: OpenPgpSignature): string => digestNumbered(Number(packet.hashAlgorithm));

/** Name in node:crypto. @param id OpenPGP number, which rpm uses too @throws Fault weak-digest; unsupported-format */
export function digestNumbered(id: number): string {
  const weak = weakDigests.get(id);
  if (weak) throw new Fault("weak-digest", `it is signed over ${weak}, expected SHA256 or better`);
  const digest = digests.get(id);
  if (!digest) throw unsupported(`it is signed over digest ${id}, which is unknown`);
  return digest.toLowerCase();
}

async function conclude(signature: OpenPgpSignature, signer: SigningKey, hash: Hash): Promise<void> {
  const { packet } = signature;
  const own = packet.signatureData ?? new Uint8Array();
  const trailer = Buffer.from([packet.version, 0xff, 0, 0, 0, 0]);
  trailer.writeUInt32BE(own.length, 2);
  const digest = hash.update(own).update(trailer).digest();
  const isHinted = Buffer.from(packet.signedHashValue ?? []).equals(digest.subarray(0, 2));
  const isSame = packet.publicKeyAlgorithm === packetOf(signer).algorithm;
  if (!isHinted || !isSame || !(await isSigned(signature, signer, digest)))
    throw new Fault(
      "bad-signature",
      `its signature by ${signer.fingerprint} does not fit what it should sign`,
    );
}

async function isSigned(signature: OpenPgpSignature, signer: SigningKey, digest: Buffer): Promise<boolean> {
  const { packet } = signature;
  const { s, r, RS } =
    (packet as { params?: { s?: Uint8Array; r?: Uint8Array; RS?: Uint8Array } }).params ?? {};
  const key = signer.native;
  if (key?.asymmetricKeyType === "rsa" && s) {
    const size = Math.ceil((key.asymmetricKeyDetails?.modulusLength ?? 0) / 8);
    return s.length <= size && isRsaSigned(key, padded(s, size), digest, digestOf(signature));
  }
  if (key?.asymmetricKeyType === "ed25519") {
    const raw =
      RS ?? (r && s && r.length <= 32 && s.length <= 32 && Buffer.concat([padded(r, 32), padded(s, 32)]));
    return raw !== undefined && raw !== false && verify(null, digest, key, raw);
  }
  // Passes our own hash, because openpgp would need the whole file in memory to compute it.
  const given = Object.assign(packet, { hashed: digest });
  return given
    .verify(packetOf(signer), Number(packet.signatureType), new Uint8Array(), null as never, true)
    .then(
      () => true,
      () => false,
    );
}

const padded = (bytes: Uint8Array, size: number): Buffer =>
  Buffer.concat([Buffer.alloc(Math.max(0, size - bytes.length)), bytes]);

const packetOf = ({ packet }: SigningKey) => packet as PublicKey["keyPacket"];
