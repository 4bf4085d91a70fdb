import type { KeyedSettings } from "../../documents/config.ts";
import { dateOf } from "../roles.ts";
import { parsedCertificate } from "./certificates.ts";
import { readDatedRelease } from "./release-file.ts";
import { readClearsigned, signersOfText } from "./signatures.ts";

/** When apt refuses a suite: the path of a file, and an ISO 8601 date. */
type SuiteEnd = readonly [path: string, ends: string];

/** Ends of the suites among the files of a signed build. */
export const suiteEnds = (
  files: readonly { path: string }[],
  read: (path: string) => Uint8Array,
): SuiteEnd[] =>
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
