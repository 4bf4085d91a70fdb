import type { BuildDocument } from "../documents/site.ts";
import type { SignedDocuments } from "./documents.ts";
import { type FeedSite, feedSite } from "./feeds/feed-site.ts";
import type { Finding } from "./finding.ts";
import type { SiteReader } from "./stores/site-reader.ts";

/**
 * Faults in package feeds: in the OpenPGP signatures of apt and yum, in the digests that lead from an index to the
 * packages, and in what the indexes list. Files that differ from the signed lists are left to the comparison of files.
 * @param build undefined if it could not be read
 * @param now milliseconds since 1970
 */
export async function feedFindings(
  site: SiteReader,
  documents: SignedDocuments,
  build: BuildDocument | undefined,
  now: number,
): Promise<Finding[]> {
  if (!build) return [];
  const feeds = feedSite(site, documents, build);
  return [...(await signatureFindings(feeds, now)), ...(await contentFindings(feeds))];
}

async function signatureFindings(site: FeedSite, now: number): Promise<Finding[]> {
  if (!Object.keys(site.listed).some((path) => /^(?:dists|yum)\//.test(path))) return [];
  // OpenPGP is loaded only for sites that have such repositories.
  const { feedFaults } = await import("../trust/feeds/verify-feeds.ts");
  const faults = await feedFaults({ ...site, now });
  return faults.map(({ path, what, hasEnded }) => ({ path, what, ...(hasEnded && { ended: true }) }));
}

/** Readers of indexes are loaded only for sites that have feeds. */
async function contentFindings(site: FeedSite): Promise<Finding[]> {
  if (!Object.keys(site.listed).some((path) => feedFile.test(path))) return [];
  const { feedContentFindings } = await import("./feeds/feed-content.ts");
  return feedContentFindings(site);
}

const feedFile = /^(?:dists|yum|charts|v2|streams)\/|^api\/v1\/feeds\.json$/;
