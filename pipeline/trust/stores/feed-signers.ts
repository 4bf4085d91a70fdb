import type { PrivateKey } from "openpgp";
import { failure, type RelcatError } from "../../../shared/errors.ts";
import { armored, dearmored } from "../../../shared/openpgp-armor.ts";
import type { KeyedSettings } from "../../documents/config.ts";
import type { FeedKey } from "../../documents/feeds/keys.ts";
import type { OpenPgpSignerSpec } from "../../documents/signers.ts";
import { type FeedCertificate, requireCertificates } from "../feeds/certificates.ts";
import { noFeedKey } from "../feeds/sign-feeds.ts";
import { type FeedSigner, type SignatureKind, signatureTitle, signersOf } from "../feeds/signatures.ts";
import { askProgram, readSecret } from "./signer.ts";

/** Placeholder in the program's arguments for the kind of signature. */
const kindPlaceholder = "{textmode}";

type Sign = FeedSigner["sign"];

/** A private key, or a program that has one. */
interface Secret {
  fingerprint: string;
  /** File, variable or program, for messages. */
  place: string;
  sign: Sign;
}

/**
 * Opens the keys that sign package repositories, the oldest first.
 * @param now milliseconds since 1970
 * @throws RelcatError feed-unsigned, feed-key, key-unusable, key-untrusted
 */
export async function openFeedSigners(
  { trust, feedKeys }: Pick<KeyedSettings, "trust" | "feedKeys">,
  environment: Readonly<Record<string, string | undefined>>,
  now: number,
): Promise<FeedSigner[]> {
  const signing = feedKeys.filter(({ state }) => state === "signing");
  if (signing.length === 0) throw noFeedKey("no OpenPGP key signs package repositories yet");
  const certificates = await requireCertificates(signing, now);
  const secrets: Secret[] = [];
  for (const spec of trust.openpgp) secrets.push(...(await secretsOf(spec, trust.folder, environment)));
  refuseUnknown(secrets, feedKeys);
  return certificates.map((certificate, index) => {
    const secret = secrets.find(({ fingerprint }) => fingerprint === certificate.fingerprint);
    if (!secret) throw missing(signing[index] as FeedKey, trust.openpgp);
    return { certificate, sign: verifiedBy(certificate, secret, now) };
  });
}

async function secretsOf(
  spec: OpenPgpSignerSpec,
  folder: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Secret[]> {
  if ("exec" in spec) return [programSecret(spec.exec, spec.public, folder)];
  if ("file" in spec) return secretsIn(readSecret(spec.file), spec.file);
  const text = environment[spec.env];
  if (text) return secretsIn(text, spec.env);
  throw failure(
    "key-unusable",
    `${spec.env} is not set, expected an OpenPGP private key in ASCII armor`,
    "Put it there, or name another place in catalog.yaml: trust.openpgp.key",
  );
}

/** During a rotation a text holds two keys, one armored block after the other. */
async function secretsIn(text: string, place: string): Promise<Secret[]> {
  const { readPrivateKeys } = await import("openpgp");
  const blocks = dearmored("PGP PRIVATE KEY BLOCK", text);
  const keys: PrivateKey[] = [];
  try {
    for (const binaryKeys of blocks) keys.push(...(await readPrivateKeys({ binaryKeys })));
  } catch (error) {
    throw unusable(place, `cannot be read: ${error instanceof Error ? error.message : error}`);
  }
  if (keys.length === 0) throw unusable(place, "has no private key");
  if (keys.some((key) => !key.isDecrypted())) throw unusable(place, "has a key with a passphrase");
  return keys.map((key) => ({
    fingerprint: key.getFingerprint().toUpperCase(),
    place,
    sign: (bytes, kind, time) => signWith(key, bytes, kind, time),
  }));
}

const unusable = (place: string, what: string): RelcatError =>
  failure(
    "key-unusable",
    `${place} ${what}, expected OpenPGP private keys in ASCII armor, without a passphrase`,
    "relcat trust init --openpgp creates one; a program can hold any other: trust.openpgp.key: {exec: …}",
  );

/** Equal input gives equal bytes: openpgp would add a random notation. */
const config = { nonDeterministicSignaturesViaNotation: false };

async function signWith(key: PrivateKey, bytes: Uint8Array, kind: SignatureKind, time: number) {
  const { createMessage, sign } = await import("openpgp");
  const date = new Date(time);
  const options = { signingKeys: key, detached: true, format: "binary", date, config } as const;
  if (kind === "binary") return sign({ message: await createMessage({ binary: bytes }), ...options });
  const text = new TextDecoder().decode(bytes);
  return sign({ message: await createMessage({ text }), ...options });
}

/** The program reads the bytes from stdin and prints an armored signature. */
const programSecret = (command: readonly string[], fingerprint: string, folder: string): Secret => ({
  fingerprint,
  place: command[0] ?? "",
  sign(bytes, kind) {
    const mode = kind === "text" ? "--textmode" : "--no-textmode";
    const words = command.map((word) => (word === kindPlaceholder ? mode : word));
    return askProgram(words, folder, bytes, {
      async read(output) {
        const { readSignature } = await import("openpgp");
        const [binarySignature] = dearmored(signatureTitle, output);
        const found = binarySignature && (await readSignature({ binarySignature }).catch(() => undefined));
        return found?.write() as Uint8Array | undefined;
      },
      otherwise: "it printed no armored signature",
      hint: "It must print a detached signature of its stdin in ASCII armor, as gpg --armor --detach-sign does.",
    });
  },
});

/** Verifies each signature as clients will. */
const verifiedBy =
  (certificate: FeedCertificate, { sign, place }: Secret, now: number): Sign =>
  async (bytes, kind, time) => {
    const packets = await sign(bytes, kind, time);
    const at = Math.max(now, time) + clockSkew;
    const by = await signersOf(bytes, armored(signatureTitle, packets), kind, [certificate], at);
    if (by.length === 1 && by[0] !== undefined) return packets;
    throw failure(
      "key-unusable",
      `${place} made a signature that is not valid for ${certificate.fingerprint}, as a ${kind} signature`,
      `The certificate in releases/trust/openpgp must belong to the key. A program gets the kind of signature where its arguments have ${kindPlaceholder}: --textmode or --no-textmode.`,
    );
  };

/** The clock of a signing program may be ahead of ours, in milliseconds. */
const clockSkew = 60_000;

/** A key that keys.json does not list is probably the wrong file. Announced and retired keys are in the list. */
function refuseUnknown(secrets: readonly Secret[], feedKeys: readonly FeedKey[]): void {
  const known = new Set(feedKeys.map(({ fingerprint }) => fingerprint));
  const unknown = secrets.find(({ fingerprint }) => !known.has(fingerprint));
  if (!unknown) return;
  throw failure(
    "key-untrusted",
    `${unknown.place} has the OpenPGP key ${unknown.fingerprint}, which releases/trust/openpgp does not list`,
    "Give it the key that is listed there. To change keys: relcat trust rotate openpgp",
  );
}

function missing({ fingerprint, since }: FeedKey, specs: readonly OpenPgpSignerSpec[]): RelcatError {
  const places = specs.map((spec) => ("exec" in spec ? spec.exec[0] : "file" in spec ? spec.file : spec.env));
  return failure(
    "key-unusable",
    `${places.join(", ")} lacks the OpenPGP key ${fingerprint}, which has signed since ${since.slice(0, 10)}`,
    "While two keys sign, give both: one armored block after the other, or a list in trust.openpgp.key.",
  );
}
