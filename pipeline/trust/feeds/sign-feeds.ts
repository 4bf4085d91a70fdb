import { failure, type RelcatError } from "../../../shared/errors.ts";
import { yumFolder } from "../../documents/feeds/paths.ts";
import { mirrorlistPath, mirrorlistText, releaseBody, repomdPath } from "../../documents/feeds/signing.ts";
import type { BuildDocument } from "../../documents/site.ts";
import { bytesOf, sha256 } from "../metadata.ts";
import { clockTolerance, day } from "../roles.ts";
import { file, type SignedFile } from "../site-targets.ts";
import { datedRelease, readDatedRelease } from "./release-file.ts";
import {
  clearsigned,
  detachedSignature,
  type FeedSigner,
  readClearsigned,
  signersOf,
  signersOfText,
} from "./signatures.ts";

export interface FeedSigning extends Feeds {
  build: BuildDocument;
  read: (path: string) => Uint8Array;
  /** Reads a file of earlier signings, the live one first. Nothing of it is trusted. */
  earlier: (path: string) => Promise<readonly Uint8Array[]>;
  /** Oldest first. */
  signers: readonly FeedSigner[];
  /** Days until apt refuses an index that was not renewed. */
  validDays: number;
  /** Milliseconds since 1970. */
  now: number;
}

/** A signature is kept while it signs the same content with the same keys, and half of its time is left. */
export async function signFeeds(request: FeedSigning): Promise<SignedFile[]> {
  const files: SignedFile[] = [];
  for (const suite of request.suites) files.push(...(await signSuite(suite, request)));
  for (const repo of request.repos) files.push(...(await signRepo(repo, request)));
  return files;
}

interface Feeds {
  suites: string[];
  repos: string[];
}

/** @throws RelcatError feed-unsigned for a build whose clients expect no signature */
export function feedsToSign(build: Pick<BuildDocument, "files">): Feeds {
  refuseUnsignedFeeds(build);
  const named = (pattern: RegExp) =>
    Object.keys(build.files).flatMap((path) => pattern.exec(path)?.[1] ?? []);
  return {
    suites: named(/^dists\/([^/]+)\/Release\.undated$/),
    repos: named(/^yum\/([^/]+)\/repodata\/repomd\.xml$/),
  };
}

/** A site must not teach its users to accept packages without a signature. @throws RelcatError feed-unsigned */
export function refuseUnsignedFeeds({ files }: Pick<BuildDocument, "files">): void {
  const path = Object.keys(files).find((name) =>
    /^(dists\/[^/]+\/Release|yum\/[^/]+\.mirrorlist)$/.test(name),
  );
  if (path !== undefined) throw noFeedKey(`the build has a package repository without a signature: ${path}`);
}

export const noFeedKey = (message: string): RelcatError =>
  failure(
    "feed-unsigned",
    message,
    "Create a key with relcat trust init KEYS-FOLDER --openpgp, set trust: simple or full in catalog.yaml, and build again: relcat build --released",
  );

/** InRelease, and the older pair of files that mirrors read. */
async function signSuite(suite: string, request: FeedSigning): Promise<SignedFile[]> {
  const { signers, validDays, now } = request;
  const body = new TextDecoder().decode(request.read(releaseBody(suite, true)));
  const path = (name: string) => `dists/${suite}/${name}`;
  // apt refuses a file from the future, so one that was dated by a clock that was ahead does not count.
  const signed = (await earlierReleases(path("InRelease"), request))
    .filter(({ date }) => date <= now)
    .sort((a, b) => b.date - a.date);
  const [newest] = signed;
  const current = signed.find(
    ({ text, date, isByAll }) =>
      isByAll && text === datedRelease(body, date, validDays) && now - date < (validDays * day) / 2,
  );
  const kept = current?.date === newest?.date ? current : undefined;
  const date = kept?.date ?? Math.max(seconds(now - clockTolerance), newest?.date ?? 0);
  const text = datedRelease(body, date, validDays);
  // Release.gpg belongs to a kept InRelease if it signs the same text.
  const detached = kept && (await keptSignature(path("Release.gpg"), bytesOf(text), request));
  return [
    file(path("InRelease"), kept?.file ?? (await clearsigned(signers, text, date))),
    file(path("Release"), text),
    file(path("Release.gpg"), detached ?? (await detachedSignature(signers, bytesOf(text), "binary", date))),
  ];
}

const seconds = (time: number): number => Math.floor(time / 1000) * 1000;

interface EarlierRelease {
  file: string;
  text: string;
  /** Milliseconds since 1970. */
  date: number;
  /** Whether every key signed that signs now. */
  isByAll: boolean;
}

/** Earlier InRelease files that a key of today signed. */
async function earlierReleases(path: string, { earlier, signers, now }: FeedSigning) {
  const found: EarlierRelease[] = [];
  for (const bytes of await earlier(path)) {
    const text = new TextDecoder().decode(bytes);
    const read = await readClearsigned(text);
    const dated = read && readDatedRelease(read.text);
    if (!read || !dated) continue;
    const by = await signersOfText(read, certificatesOf(signers), now);
    const isOurs = by.some((signer) => signer !== undefined);
    if (isOurs) found.push({ file: text, text: read.text, date: dated.date, isByAll: areAll(by, signers) });
  }
  return found;
}

/** repomd.xml.asc, and a copy of the index in a folder that never changes. */
async function signRepo(repo: string, request: FeedSigning): Promise<SignedFile[]> {
  const { build, read } = request;
  const signers = oldestAtBothEnds(request.signers);
  const path = repomdPath(repo);
  const repomd = read(path);
  const signature =
    (await keptSignature(`${path}.asc`, repomd, { ...request, signers })) ??
    (await detachedSignature(signers, repomd, "binary", Math.min(revisionOf(repomd), request.now)));
  const folder = yumFolder(sha256(Buffer.concat([repomd, bytesOf(signature)])));
  const own = path.slice(0, -"repodata/repomd.xml".length);
  const parts = Object.keys(build.files).filter((name) => name.startsWith(`${own}repodata/`));
  return [
    file(`${path}.asc`, signature),
    ...parts.map((name) => ({ path: `${folder}/${name.slice(own.length)}`, bytes: read(name) })),
    file(`${folder}/repodata/repomd.xml.asc`, signature),
    file(mirrorlistPath(repo), mirrorlistText(build.base_url, folder)),
  ];
}

/** yum of EL 7 checks the first signature only, and zypper the last. Both may know only the oldest key. */
const oldestAtBothEnds = (signers: readonly FeedSigner[]): readonly FeedSigner[] =>
  signers.length > 1 ? [...signers, ...signers.slice(0, 1)] : signers;

/**
 * Milliseconds since 1970. The signature of an index that did not change has the same time on every machine, unless
 * the ledger has a date from the future, which clients refuse.
 */
const revisionOf = (repomd: Uint8Array): number =>
  Number(/<revision>(\d+)<\/revision>/.exec(new TextDecoder().decode(repomd))?.[1] ?? 0) * 1000;

async function keptSignature(path: string, bytes: Uint8Array, { earlier, signers, now }: FeedSigning) {
  for (const found of await earlier(path)) {
    const signature = new TextDecoder().decode(found);
    const by = await signersOf(bytes, signature, "binary", certificatesOf(signers), now);
    if (areAll(by, signers)) return signature;
  }
  return undefined;
}

/** Whether the keys made the signatures, in this order. */
const areAll = (by: readonly (string | undefined)[], signers: readonly FeedSigner[]): boolean =>
  by.length === signers.length &&
  signers.every(({ certificate }, index) => by[index] === certificate.fingerprint);

const certificatesOf = (signers: readonly FeedSigner[]) => signers.map(({ certificate }) => certificate);
