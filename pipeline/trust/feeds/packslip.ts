import { hash, verify } from "node:crypto";
import { versionAfter } from "../../../shared/version.ts";
import { packslipKeyPath, packslipPath } from "../../documents/feeds/signing.ts";
import { inParallel } from "../../system/in-parallel.ts";
import { publicKeyObject, type Signer } from "../keys.ts";
import { bytesOf, sha256 } from "../metadata.ts";
import { covered, envelope } from "../provenance.ts";
import { clockTolerance, dateOf, day } from "../roles.ts";
import type { SignedFile } from "../site-targets.ts";
import type { FeedSigning } from "./sign-feeds.ts";
import { type FeedFault, type FeedsToVerify, madeWrong } from "./verify-feeds.ts";

/** The id of a key, and the key in the format of minisign, which users give to mise. */
export function packslipKey(publicKey: Uint8Array): { id: string; line: string; text: string } {
  const number = Buffer.from(hash("blake2b512", publicKey, "hex").slice(0, 16), "hex");
  const id = Buffer.from(number).reverse().toString("hex").toUpperCase();
  const line = Buffer.concat([Buffer.from("Ed"), number, publicKey]).toString("base64");
  return { id, line, text: `untrusted comment: minisign public key ${id}\n${line}\n` };
}

/** @param text as minisign writes a public key @returns undefined for any other text */
export function parsePackslipKey(text: string) {
  const publicKey = Buffer.from(text.split("\n")[1] ?? "", "base64").subarray(10);
  const key = packslipKey(publicKey);
  return publicKey.length === 32 && key.text === text ? { publicKey, ...key } : undefined;
}

/** The members that this file uses. */
interface Statement {
  predicate: ListDates & { releases?: { tag: string; packslip: string }[] };
}

interface ListDates {
  generated_at: string;
  expires_at: string;
  sequence: number;
}

const listPath = packslipPath(undefined, "sigstore");
const unsignedList = packslipPath(undefined, "unsigned");

const unsignedIn = (files: object): string[] =>
  Object.keys(files).filter((path) => path.endsWith("/packslip.unsigned.json"));

/** Signs the statements of a build. The list is kept for half of its time while nothing changes. */
export async function signPackslip(
  { build, read, earlier, now }: Pick<FeedSigning, "build" | "read" | "earlier" | "now">,
  signer: Signer,
  siteDays: number,
): Promise<SignedFile[]> {
  const { publicKey } = signer;
  const files: SignedFile[] = [{ path: packslipKeyPath, bytes: bytesOf(packslipKey(publicKey).text) }];
  for (const path of unsignedIn(build.files).filter((each) => each !== unsignedList))
    files.push({ path: signedPath(path), bytes: await bundle(signer, completed(read(path), publicKey)) });
  const digests = new Map(files.map(({ path, bytes }) => [path, sha256(bytes)]));
  const complete = (dates: ListDates) => completed(read(unsignedList), publicKey, digests, dates);
  const known = (await earlier(listPath)).flatMap((bytes) => {
    const payload = signedPayload(bytes, publicKey);
    return payload === undefined ? [] : [{ bytes, payload, dates: datesIn(payload) }];
  });
  const [newest] = known.sort((a, b) => b.dates.sequence - a.dates.sequence);
  const isDue = ({ generated_at: from, expires_at: to }: ListDates) =>
    now > (Date.parse(from) + Date.parse(to)) / 2 || now < Date.parse(from) - clockTolerance;
  if (newest && !isDue(newest.dates) && newest.payload === JSON.stringify(complete(newest.dates)))
    return [...files, { path: listPath, bytes: newest.bytes }];
  const dates = {
    generated_at: dateOf(now),
    // Renewed after half of it, so that it never ends before the metadata of TUF.
    expires_at: dateOf(now + Math.max(30, 2 * siteDays) * day),
    // A time needs no memory: it is higher than that of a list which an earlier key signed.
    sequence: Math.max(Math.floor(now / 1000), (newest?.dates.sequence ?? 0) + 1),
  };
  return [...files, { path: listPath, bytes: await bundle(signer, complete(dates)) }];
}

const signedPath = (path: string): string => packslipPath(versionAfter("releases/", path), "sigstore");

const datesIn = (payload: string): ListDates => {
  const { generated_at, expires_at, sequence } = (JSON.parse(payload) as Statement).predicate;
  return { generated_at, expires_at, sequence };
};

/**
 * Adds to a statement what only signing knows.
 * @param digests of signed files by path, for the list
 * @param dates of the list; undefined members are left out
 */
function completed(
  unsigned: Uint8Array,
  publicKey: Uint8Array,
  digests?: ReadonlyMap<string, string>,
  dates?: ListDates,
): object {
  const statement: Statement = JSON.parse(new TextDecoder().decode(unsigned));
  const subject = statement.predicate.releases?.map(({ tag, packslip }) => ({
    name: packslip,
    digest: { sha256: digests?.get(packslipPath(tag, "sigstore")) },
  }));
  const identity = { scheme: "sigstore-key", key_id: packslipKey(publicKey).id };
  return {
    ...statement,
    ...(subject && { subject }),
    predicate: { ...statement.predicate, ...dates, identity },
  };
}

/** A sigstore bundle v0.3. The hint is that of cosign; clients pin the key and ignore it. */
async function bundle(signer: Signer, statement: object): Promise<Uint8Array> {
  const der = publicKeyObject(signer.publicKey).export({ format: "der", type: "spki" });
  return bytesOf(
    JSON.stringify({
      mediaType: "application/vnd.dev.sigstore.bundle.v0.3+json",
      verificationMaterial: { publicKey: { hint: hash("sha256", der, "base64") } },
      dsseEnvelope: await envelope(signer, statement),
    }),
  );
}

/** The statement in a bundle; undefined: the key did not sign it. */
function signedPayload(bytes: Uint8Array, publicKey: Uint8Array): string | undefined {
  try {
    const { payload, signatures } = JSON.parse(new TextDecoder().decode(bytes)).dsseEnvelope;
    const text = Buffer.from(payload, "base64");
    const signature = Buffer.from(signatures[0].sig, "base64");
    return verify(null, covered(text), publicKeyObject(publicKey), signature) ? text.toString() : undefined;
  } catch {
    return undefined;
  }
}

/** Verifies the statements of packslip with the key that the site offers. */
export async function packslipFaults({ listed, read, now }: FeedsToVerify): Promise<FeedFault[]> {
  const unsigned = unsignedIn(listed);
  if (unsigned.length === 0) return [];
  const offered = new TextDecoder().decode(await read(packslipKeyPath));
  const publicKey = parsePackslipKey(offered)?.publicKey;
  if (!publicKey) return [madeWrong(packslipKeyPath, "is not a key as minisign writes it")];
  const digests = new Map(Object.entries(listed).map(([path, known]) => [path, known.sha256]));
  const faults = await inParallel(unsigned.sort(), 8, async (from): Promise<FeedFault[]> => {
    const path = signedPath(from);
    if (!Object.hasOwn(listed, path)) return [madeWrong(path, `is missing beside ${from}`)];
    const [statement, bytes] = await Promise.all([read(from), read(path)]);
    if (!statement || !bytes) return [];
    const payload = signedPayload(bytes, publicKey);
    if (payload === undefined) return [madeWrong(path, `is not signed by ${packslipKeyPath}`)];
    const dates = datesIn(payload);
    if (payload !== JSON.stringify(completed(statement, publicKey, digests, dates)))
      return [madeWrong(path, `does not say what ${from} and the signed files say`)];
    const what = `expired on ${dates.expires_at}; renew it with relcat publish SITE --refresh`;
    return Date.parse(dates.expires_at) <= now ? [{ path, what, ended: true }] : [];
  });
  return faults.flat();
}
