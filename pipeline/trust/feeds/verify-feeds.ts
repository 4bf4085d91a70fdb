import { yumFolder } from "../../documents/feeds/paths.ts";
import {
  certificatePath,
  mirrorlistPath,
  mirrorlistText,
  releaseBody,
  repomdPath,
} from "../../documents/feeds/signing.ts";
import { bytesOf, sha256 } from "../metadata.ts";
import { clockTolerance, dateOf } from "../roles.ts";
import { dateText, type FeedCertificate, readCertificate } from "./certificates.ts";
import { readDatedRelease } from "./release-file.ts";
import { readClearsigned, signersOf, signersOfText } from "./signatures.ts";

export interface FeedsToVerify {
  listed: Readonly<Record<string, { sha256: string }>>;
  /** undefined: the file is missing, or not the listed one, which other checks report. */
  read(path: string): Promise<Uint8Array | undefined>;
  /** Milliseconds since 1970. */
  now: number;
}

export interface FeedFault {
  path: string;
  /** Sentence continuation after the path. */
  what: string;
  /** It was right, and time has passed since. */
  ended?: true;
}

interface Verifying extends FeedsToVerify {
  certificates: readonly FeedCertificate[];
}

/** A fault of the files, not of the time. */
export const madeWrong = (path: string, what: string): FeedFault => ({
  path,
  what: `${what}; sign and publish again`,
});

/** Verifies the signatures of apt and yum repositories with the certificates that the site offers. */
export async function feedFaults(site: FeedsToVerify): Promise<FeedFault[]> {
  const certificates: FeedCertificate[] = [];
  const faults: FeedFault[] = [];
  for (const fingerprint of named(site, /^keys\/([0-9A-F]{40})\.asc$/)) {
    const path = certificatePath(fingerprint);
    const text = await textOf(site, path);
    if (text === undefined) continue;
    const certificate = await readCertificate(text).catch(() => undefined);
    if (certificate?.fingerprint === fingerprint) certificates.push(certificate);
    else faults.push(madeWrong(path, "is not the certificate with this fingerprint"));
  }
  for (const suite of named(site, /^dists\/([^/]+)\/(?:InRelease|Release|Release\.undated)$/))
    faults.push(...(await suiteFaults(suite, { ...site, certificates })));
  for (const repo of named(site, /^yum\/([^/]{1,49})\/repodata\/repomd\.xml$/))
    faults.push(...(await repoFaults(repo, { ...site, certificates })));
  return faults;
}

const named = ({ listed }: FeedsToVerify, pattern: RegExp): string[] =>
  [...new Set(Object.keys(listed).flatMap((path) => pattern.exec(path)?.[1] ?? []))].sort();

const missingFrom = (what: string, paths: readonly string[], { listed }: FeedsToVerify): FeedFault[] =>
  paths
    .filter((path) => !Object.hasOwn(listed, path))
    .map((path) => madeWrong(path, `is missing from ${what}`));

async function suiteFaults(suite: string, site: Verifying): Promise<FeedFault[]> {
  const paths = ["InRelease", "Release", "Release.gpg"].map((name) => `dists/${suite}/${name}`);
  const [inReleasePath = "", path = "", detachedPath = ""] = paths;
  const bodyPath = releaseBody(suite, true);
  const lacking = missingFrom("the suite", [...paths, bodyPath], site);
  if (lacking.length > 0) return lacking;
  const [inRelease, release, detached, body] = await Promise.all(
    [...paths, bodyPath].map((each) => textOf(site, each)),
  );
  if (inRelease === undefined || release === undefined || detached === undefined) return [];
  const read = await readClearsigned(inRelease);
  if (!read) return [madeWrong(inReleasePath, "is not a clear-signed file as relcat writes it")];
  const dated = readDatedRelease(release);
  const faults: FeedFault[] = [];
  if (read.text !== release) faults.push(madeWrong(path, "differs from InRelease, expected the same text"));
  if (body !== undefined && dated?.body !== body)
    faults.push(madeWrong(path, "differs from Release.undated in more than dates"));
  const { certificates, now } = site;
  const at = now + clockTolerance;
  const detachedBy = await signersOf(bytesOf(release), detached, "binary", certificates, at);
  faults.push(
    ...signerFaults(inReleasePath, await signersOfText(read, certificates, at), site),
    ...signerFaults(detachedPath, detachedBy, site),
  );
  if (dated && dated.date > at) {
    const what = `is dated ${dateOf(dated.date)}, which is in the future; correct the clock of the machine that signs, or of this one`;
    faults.push({ path, what });
  }
  if (dated && dated.validUntil <= now) {
    const what = `expired on ${dateOf(dated.validUntil)}, so apt refuses it; renew it with relcat publish SITE --refresh`;
    faults.push({ path, what, ended: true });
  }
  return faults;
}

async function repoFaults(repo: string, site: Verifying): Promise<FeedFault[]> {
  const { listed, certificates, now } = site;
  const path = repomdPath(repo);
  const lacking = missingFrom("the repository", [`${path}.asc`, mirrorlistPath(repo)], site);
  if (lacking.length > 0) return lacking;
  const [repomd, signature, mirrorlist] = await Promise.all([
    site.read(path),
    site.read(`${path}.asc`),
    textOf(site, mirrorlistPath(repo)),
  ]);
  if (!repomd || !signature || mirrorlist === undefined) return [];
  const armored = new TextDecoder().decode(signature);
  const by = await signersOf(repomd, armored, "binary", certificates, now + clockTolerance);
  const folder = yumFolder(sha256(Buffer.concat([repomd, signature])));
  const faults = signerFaults(`${path}.asc`, by, site);
  if (!isMirrorlist(mirrorlist, folder))
    faults.push(madeWrong(mirrorlistPath(repo), `does not name ${folder}, the folder of this index`));
  const own = `yum/${repo}/`;
  for (const name of Object.keys(listed).filter((each) => each.startsWith(own))) {
    const copy = `${folder}/${name.slice(own.length)}`;
    if (listed[copy]?.sha256 !== listed[name]?.sha256)
      faults.push(madeWrong(copy, `is not the same as ${name}`));
  }
  return faults;
}

/** Those of earlier versions have the first line only. */
function isMirrorlist(text: string, folder: string): boolean {
  const [first = ""] = text.split("\n", 1);
  const baseUrl = first.slice(0, -`/${folder}/`.length);
  return [`${baseUrl}/${folder}/\n`, mirrorlistText(baseUrl, folder)].includes(text);
}

/** @param by the certificates that made the signatures */
function signerFaults(
  path: string,
  by: readonly (string | undefined)[],
  { certificates, now }: Verifying,
): FeedFault[] {
  if (by.length === 0) return [madeWrong(path, "has no signature")];
  if (by.includes(undefined))
    return [madeWrong(path, "has a signature that none of the certificates in keys/ made")];
  const ended = certificates.filter(({ fingerprint, ends }) => by.includes(fingerprint) && ends <= now);
  return ended.map(({ fingerprint, ends }) => ({
    path,
    what: `is signed by ${fingerprint}, which expired on ${dateText(ends)}; extend or replace that key, then sign and publish again`,
    ended: true,
  }));
}

async function textOf({ read }: FeedsToVerify, path: string): Promise<string | undefined> {
  const bytes = await read(path);
  return bytes && new TextDecoder().decode(bytes);
}
