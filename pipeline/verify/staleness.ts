import type { SignedDocuments } from "./documents.ts";
import type { Finding } from "./finding.ts";
import { earlierBuilds, laterBuilds, signingTime } from "./other-builds.ts";
import type { TrustedSite } from "./tuf-client.ts";

export interface Staleness {
  findings: Finding[];
  /** Number of builds that the oldest stale file is behind; undefined: nothing is stale. */
  behind: number | undefined;
  /** Time at which a newer build replaced it, in milliseconds since 1970. */
  since: number;
}

/**
 * Separates stale files from tampered ones. Bytes of an earlier signed build come from a cache; bytes of a
 * later one are being published, before its timestamp.
 */
export async function findStale(
  trusted: TrustedSite,
  { build, owners }: Pick<SignedDocuments, "build" | "owners">,
  findings: readonly Finding[],
): Promise<Staleness> {
  const since = signingTime(trusted.snapshot);
  const asBefore = findings.filter(({ instead }) => instead !== undefined);
  if (asBefore.length === 0) return { findings: [...findings], behind: undefined, since };
  const stale = new Map<Finding, string>();
  const later = await compareLater(trusted, owners, asBefore, stale);
  const earlier = await compareEarlier(trusted, build, owners, asBefore, stale, since);
  return {
    findings: findings.map((finding) => {
      const what = stale.get(finding);
      return what === undefined ? finding : { ...finding, what, stale: true };
    }),
    behind: stale.size === 0 ? undefined : Math.max(later.ahead, earlier.behind),
    since: Math.min(...(later.ahead > 0 ? [later.since] : []), ...(earlier.isFound ? [earlier.since] : [])),
  };
}

const pathOf = ({ path }: Finding): string => (path.endsWith("/") ? `${path}index.json` : path);

async function compareLater(
  trusted: TrustedSite,
  owners: SignedDocuments["owners"],
  findings: readonly Finding[],
  stale: Map<Finding, string>,
): Promise<{ ahead: number; since: number }> {
  let ahead = 0;
  let since = Number.POSITIVE_INFINITY;
  let number = 0;
  for await (const later of laterBuilds(trusted)) {
    number++;
    for (const finding of findings) {
      const path = pathOf(finding);
      if (stale.has(finding) || (await later.hashOf(path, owners.get(path))) !== finding.instead) continue;
      stale.set(finding, "is from a later signing, which metadata/timestamp.json does not lead to yet");
      ahead = number;
      since = Math.min(since, later.signedAt);
    }
    if (stale.size === findings.length) break;
  }
  return { ahead, since };
}

async function compareEarlier(
  trusted: TrustedSite,
  build: string,
  owners: SignedDocuments["owners"],
  findings: readonly Finding[],
  stale: Map<Finding, string>,
  signed: number,
): Promise<{ behind: number; since: number; isFound: boolean }> {
  let [behind, oldest, since, isFound] = [0, 0, signed, false];
  let last = build;
  for await (const earlier of earlierBuilds(trusted)) {
    if (earlier.build !== last) behind++;
    last = earlier.build;
    // Signing again without changes does not make files stale.
    if (behind === 0) since = Math.min(since, earlier.signedAt);
    for (const finding of findings) {
      const path = pathOf(finding);
      if (stale.has(finding) || (await earlier.hashOf(path, owners.get(path))) !== finding.instead) continue;
      const age =
        behind === 0 ? "from an earlier signing" : `${behind} ${behind === 1 ? "build" : "builds"} behind`;
      stale.set(finding, `is what a stale edge serves: ${age}`);
      oldest = behind;
      isFound = true;
    }
    if (stale.size === findings.length && behind > 0) break;
  }
  return { behind: oldest, since, isFound };
}
