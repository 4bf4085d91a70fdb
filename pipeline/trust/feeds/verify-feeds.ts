import { yumFolder } from "../../documents/feeds/paths.ts";
import {
  certificatePath,
  mirrorlistPath,
  mirrorlistText,
  releaseBody,
  repomdPath,
} from "../../documents/feeds/signing.ts";
import { bytesOf, sha256 } from "../metadata.ts";
import { clockTolerance } from "../roles.ts";
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

const publishAgain = "; sign and publish again";

/** Verifies the signatures of apt and yum repositories with the certificates that the site offers. */
export async function feedFaults(site: FeedsToVerify): Promise<FeedFault[]> {
  const { certificates, faults } = await certificatesOf(site);
  const found = [...faults];
  for (const suite of named(site, /^dists\/([^/]+)\/(?:InRelease|Release|Release\.undated)$/))
    found.push(...(await suiteFaults(suite, { ...site, certificates })));
  for (const repo of named(site, /^yum\/([^/]{1,49})\/repodata\/repomd\.xml$/))
    found.push(...(await repoFaults(repo, { ...site, certificates })));
  return found;
}

const named = ({ listed }: FeedsToVerify, pattern: RegExp): string[] =>
  [...new Set(Object.keys(listed).flatMap((path) => pattern.exec(path)?.[1] ?? []))].sort();

async function certificatesOf(site: FeedsToVerify) {
  const certificates: FeedCertificate[] = [];
  const faults: FeedFault[] = [];
  for (const fingerprint of named(site, /^keys\/([0-9A-F]{40})\.asc$/)) {
    const path = certificatePath(fingerprint);
    const text = await textOf(site, path);
    if (text === undefined) continue;
    const certificate = await readCertificate(text).catch(() => undefined);
    if (certificate?.fingerprint === fingerprint) certificates.push(certificate);
    else faults.push({ path, what: `is not the certificate with this fingerprint${publishAgain}` });
  }
  return { certificates, faults };
}

async function suiteFaults(suite: string, site: Verifying): Promise<FeedFault[]> {
  const path = (name: string) => `dists/${suite}/${name}`;
  const lacking = [path("InRelease"), path("Release"), path("Release.gpg"), releaseBody(suite, true)]
    .filter((name) => !Object.hasOwn(site.listed, name))
    .map((name) => ({ path: name, what: `is missing from the suite${publishAgain}` }));
  if (lacking.length > 0) return lacking;
  const [inRelease, release, detached, body] = await Promise.all(
    ["InRelease", "Release", "Release.gpg", "Release.undated"].map((name) => textOf(site, path(name))),
  );
  if (inRelease === undefined || release === undefined || detached === undefined) return [];
  const read = await readClearsigned(inRelease);
  const dated = readDatedRelease(release);
  if (!read)
    return [
      { path: path("InRelease"), what: `is not a clear-signed file as relcat writes it${publishAgain}` },
    ];
  const faults: FeedFault[] = [];
  if (read.text !== release)
    faults.push({
      path: path("Release"),
      what: `differs from InRelease, expected the same text${publishAgain}`,
    });
  if (body !== undefined && dated?.body !== body)
    faults.push({
      path: path("Release"),
      what: `differs from Release.undated in more than dates${publishAgain}`,
    });
  const { certificates, now } = site;
  const at = now + clockTolerance;
  faults.push(
    ...signerFaults(path("InRelease"), await signersOfText(read, certificates, at), site),
    ...signerFaults(
      path("Release.gpg"),
      await signersOf(bytesOf(release), detached, "binary", certificates, at),
      site,
    ),
  );
  if (dated && dated.date > at)
    faults.push({
      path: path("Release"),
      what: `is dated ${timeText(dated.date)}, which is in the future; correct the clock of the machine that signs, or of this one`,
    });
  if (dated && dated.validUntil <= now)
    faults.push({
      path: path("Release"),
      what: `expired on ${timeText(dated.validUntil)}, so apt refuses it; renew it with relcat publish SITE --refresh`,
      ended: true,
    });
  return faults;
}

async function repoFaults(repo: string, site: Verifying): Promise<FeedFault[]> {
  const { listed, certificates, now } = site;
  const path = repomdPath(repo);
  const lacking = [`${path}.asc`, mirrorlistPath(repo)]
    .filter((name) => !Object.hasOwn(listed, name))
    .map((name) => ({ path: name, what: `is missing from the repository${publishAgain}` }));
  if (lacking.length > 0) return lacking;
  const [repomd, signature, mirrorlist] = await Promise.all([
    site.read(path),
    site.read(`${path}.asc`),
    textOf(site, mirrorlistPath(repo)),
  ]);
  if (!repomd || !signature || mirrorlist === undefined) return [];
  const by = await signersOf(
    repomd,
    new TextDecoder().decode(signature),
    "binary",
    certificates,
    now + clockTolerance,
  );
  const folder = yumFolder(sha256(Buffer.concat([repomd, signature])));
  const faults = signerFaults(`${path}.asc`, by, site);
  if (!isMirrorlist(mirrorlist, folder))
    faults.push({
      path: mirrorlistPath(repo),
      what: `does not name ${folder}, the folder of this index${publishAgain}`,
    });
  const own = `yum/${repo}/`;
  for (const name of Object.keys(listed).filter((each) => each.startsWith(own))) {
    const copy = `${folder}/${name.slice(own.length)}`;
    if (listed[copy]?.sha256 !== listed[name]?.sha256)
      faults.push({ path: copy, what: `is not the same as ${name}${publishAgain}` });
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
  if (by.length === 0) return [{ path, what: `has no signature${publishAgain}` }];
  if (by.includes(undefined))
    return [{ path, what: `has a signature that none of the certificates in keys/ made${publishAgain}` }];
  const ended = certificates.filter(({ fingerprint, ends }) => by.includes(fingerprint) && ends <= now);
  return ended.map(({ fingerprint, ends }) => ({
    path,
    what: `is signed by ${fingerprint}, which expired on ${dateText(ends)}; extend or replace that key, then sign and publish again`,
    ended: true,
  }));
}

const timeText = (time: number): string => new Date(time).toISOString().replace(/\.\d+Z$/, "Z");

async function textOf({ read }: FeedsToVerify, path: string): Promise<string | undefined> {
  const bytes = await read(path);
  return bytes && new TextDecoder().decode(bytes);
}
