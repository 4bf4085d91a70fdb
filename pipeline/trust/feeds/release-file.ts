import type { KeyedSettings } from "../../documents/config.ts";
import { dateOf, day } from "../roles.ts";
import { parsedCertificate } from "./certificates.ts";
import { readClearsigned, signersOfText } from "./signatures.ts";

/** A Release file of apt with the dates that limit how long an index is accepted. */
interface DatedRelease {
  /** Without the dates, as the build made it. */
  body: string;
  /** Milliseconds since 1970. */
  date: number;
  validUntil: number;
}

/** Adds the dates before the checksums. @param date milliseconds since 1970 */
export const datedRelease = (body: string, date: number, validDays: number): string =>
  body.replace(
    /^SHA256:/m,
    `Date: ${dateText(date)}\nValid-Until: ${dateText(date + validDays * day)}\nSHA256:`,
  );

/** @returns undefined if it has no dates where `datedRelease` writes them */
export function readDatedRelease(text: string): DatedRelease | undefined {
  const found = /^Date: (.+)\nValid-Until: (.+)\n(?=SHA256:)/m.exec(text);
  if (!found) return undefined;
  const [lines, date = "", end = ""] = found;
  const [time, validUntil] = [Date.parse(date), Date.parse(end)];
  if (Number.isNaN(time) || Number.isNaN(validUntil)) return undefined;
  return { body: text.replace(lines, ""), date: time, validUntil };
}

/** The date format of Debian's Release files, such as `Mon, 14 Sep 2026 08:00:00 UTC`. */
const dateText = (time: number): string => new Date(time).toUTCString().replace("GMT", "UTC");

/** When apt refuses a suite: the path of a file, and an ISO 8601 date. */
type SuiteEnd = readonly [path: string, ends: string];

/** Ends of the suites among the files of a signed build. */
export const suiteEnds = (files: readonly { path: string }[], read: (path: string) => Uint8Array) =>
  files.flatMap(({ path }) => {
    if (!/^dists\/[^/]+\/Release$/.test(path)) return [];
    const dated = readDatedRelease(new TextDecoder().decode(read(path)));
    return dated ? [[path, dateOf(dated.validUntil)] as const] : [];
  });

/** Ends of the suites at a site, according to InRelease files that a key of the project signed. */
export async function liveSuiteEnds(
  { feeds, feedKeys }: Pick<KeyedSettings, "feeds" | "feedKeys">,
  read: (path: string) => Promise<Uint8Array | undefined>,
  now: number,
): Promise<SuiteEnd[]> {
  const certificates = await Promise.all(feedKeys.map(parsedCertificate));
  const ends: SuiteEnd[] = [];
  for (const { name } of certificates.length > 0 ? (feeds.apt?.suites ?? []) : []) {
    const path = `dists/${name}/InRelease`;
    const bytes = await read(path);
    const signed = bytes && (await readClearsigned(new TextDecoder().decode(bytes)));
    const dated = signed && readDatedRelease(signed.text);
    if (!signed || !dated) continue;
    const by = await signersOfText(signed, certificates, now);
    if (by.some((signer) => signer !== undefined)) ends.push([path, dateOf(dated.validUntil)]);
  }
  return ends;
}
