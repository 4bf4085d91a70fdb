import type { Config, PublicKey, Subkey } from "openpgp";
import { failure, type RelcatError } from "../../../shared/errors.ts";
import type { FeedKey } from "../../documents/feeds/keys.ts";
import type { FeedKeyEnd } from "../../documents/outputs/trust.ts";
import { dateOf, day } from "../roles.ts";

export interface FeedCertificate {
  /** 40 uppercase hexadecimal characters. */
  fingerprint: string;
  /** The PublicKey of the library, whose types need packages that users do not install. */
  key: object;
  /** Milliseconds since 1970, both: an earlier signature is invalid; an infinite end means none. */
  usableFrom: number;
  ends: number;
}

/** A key that ends sooner does not sign alone: clients need time to learn of the next one. */
const minDays = 90;

/** @throws Error unless the text is one certificate */
export async function readCertificate(armoredKey: string): Promise<FeedCertificate> {
  const { readKey } = await import("openpgp");
  const key = await readKey({ armoredKey });
  const part = await signingPart(key).catch(() => key);
  const bindings = "mainKey" in part ? part.bindingSignatures : [];
  const times = [key.users.flatMap(({ selfCertifications }) => selfCertifications), bindings]
    .filter((signatures) => signatures.length > 0)
    .map((signatures) => Math.min(...signatures.map(({ created }) => Number(created))));
  return {
    fingerprint: key.getFingerprint().toUpperCase(),
    key: key.toPublic(),
    usableFrom: Math.max(Number(key.getCreationTime()), Number(part.getCreationTime()), ...times),
    ends: Math.min(await endOf(key), await endOf(part)),
  };
}

/** Later than any revocation. */
const ever = new Date(8.64e15);

/** Milliseconds since 1970; 0 without a self-signature that is valid. */
async function endOf(part: PublicKey | Subkey): Promise<number> {
  const end = await ("mainKey" in part ? part.getExpirationTime(ever) : part.getExpirationTime());
  return Number(end ?? 0);
}

const signingPart = (key: PublicKey, config?: Config): Promise<PublicKey | Subkey> =>
  key.getSigningKey(undefined, null, undefined, config);

/** @throws RelcatError feed-key */
export const parsedCertificate = (feedKey: FeedKey): Promise<FeedCertificate> =>
  readCertificate(feedKey.armored).catch((error: unknown) => {
    throw unusable(
      feedKey,
      `cannot be read: ${error instanceof Error ? error.message : error}`,
      again,
      error,
    );
  });

/** Certificates that may sign now. @throws RelcatError feed-key */
export async function requireCertificates(keys: readonly FeedKey[], now: number): Promise<FeedCertificate[]> {
  const certificates = await Promise.all(keys.map(parsedCertificate));
  // Beside a key that lasts, one that ends still serves clients that know only it.
  const isLasting = certificates.some(({ ends }) => ends - now >= minDays * day);
  for (const [index, certificate] of certificates.entries()) {
    const feedKey = keys[index] as FeedKey;
    const fault = await faultOf(certificate, feedKey, now, isLasting ? 0 : minDays);
    if (fault) throw unusable(feedKey, ...fault);
  }
  return certificates;
}

/**
 * An Ed25519 key has both formats; a theft of one would be a theft of both.
 * @param tufKeys 32 bytes each
 * @throws RelcatError feed-key
 */
export function refuseTufKeys(certificates: readonly FeedCertificate[], tufKeys: readonly Uint8Array[]) {
  const tufPoints = new Set(tufKeys.map((key) => Buffer.from(key).toString("hex")));
  for (const { key, fingerprint } of certificates) {
    const keys = (key as PublicKey).getKeys();
    const points = keys.map(({ keyPacket }) => (keyPacket.publicParams as { Q?: Uint8Array }).Q);
    // The first octet means that the point is in its native form.
    if (points.some((point) => point && tufPoints.has(Buffer.from(point.subarray(1)).toString("hex"))))
      throw unusable(
        { fingerprint },
        "is a key of the TUF metadata too",
        "Create another one: docs/signing.md",
      );
  }
}

const again = "Export it again: gpg --armor --export KEY";
const another = "Rotate to another key: docs/runbooks/repository-key.md";

async function faultOf(
  certificate: FeedCertificate,
  { fingerprint: expected }: FeedKey,
  now: number,
  days: number,
): Promise<[what: string, hint: string] | undefined> {
  const { fingerprint, ends, usableFrom } = certificate;
  const key = certificate.key as PublicKey;
  if (fingerprint !== expected) return [`has the certificate of ${fingerprint} in its file`, again];
  if (await key.isRevoked(undefined, undefined, ever)) return ["is revoked", another];
  const { config, enums } = await import("openpgp");
  // Signatures of version 3 are not even read.
  const rejectHashAlgorithms = new Set([...config.rejectHashAlgorithms, enums.hash.sha1]);
  const part = await signingPart(key, { ...config, rejectHashAlgorithms }).catch(() => undefined);
  if (!part)
    return [
      "has no self-signature that lets it sign, expected one of version 4 over SHA-256 or better, as clients reject others",
      another,
    ];
  const { algorithm } = part.getAlgorithmInfo();
  if (!readable.has(algorithm))
    return [`is of the kind ${algorithm}, expected RSA, or EdDSA as GnuPG makes it`, another];
  if (usableFrom > now)
    return [
      `is valid from ${dateText(usableFrom)} on, which is after the time of signing`,
      "Check the clock.",
    ];
  if (ends <= now) return [`ended on ${dateText(ends)}`, another];
  if (ends - now < days * day)
    return [`ends on ${dateText(ends)}, expected at least ${days} days from now`, another];
  return undefined;
}

/** Algorithms that apt, dnf and zypper of current and old systems read. */
const readable = new Set(["rsaEncryptSign", "rsaSign", "eddsaLegacy"]);

export const dateText = (time: number): string => new Date(time).toISOString().slice(0, 10);

const unusable = (
  { fingerprint }: Pick<FeedKey, "fingerprint">,
  what: string,
  hint: string,
  cause?: unknown,
): RelcatError => failure("feed-key", `the OpenPGP key ${fingerprint} ${what}`, hint, undefined, cause);

/** @throws RelcatError feed-key */
export const feedKeyEnds = (keys: readonly FeedKey[]): Promise<FeedKeyEnd[]> =>
  Promise.all(
    keys.map(async (key) => {
      const { fingerprint, state, since } = key;
      const { ends } = await parsedCertificate(key);
      return { fingerprint, state, since, ends: Number.isFinite(ends) ? dateOf(ends) : null };
    }),
  );
