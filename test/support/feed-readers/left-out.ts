import { type FeedName, feedNames } from "../../../pipeline/documents/feeds/settings.ts";
import { feedsDocumentSchema, feedsPath } from "../../../pipeline/documents/site.ts";
import type { Finding } from "../../../pipeline/verify/finding.ts";
import { type BuiltFeeds, type FeedReport, textOf } from "./built-feeds.ts";

/** Package types whose records a feed lists. */
const types: Readonly<Record<FeedName, RegExp>> = {
  apt: /^deb$/,
  yum: /^rpm$/,
  helm: /^helm$/,
  incus: /^(?:qcow|qcow-efi|incus)$/,
  packslip: /^(?:deb|rpm)$/,
};

/** Live records that a feed neither lists nor leaves out for a reason. */
export async function unlistedFindings(
  reports: Readonly<Record<FeedName, FeedReport>>,
  site: BuiltFeeds,
): Promise<Finding[]> {
  const text = await textOf(site, feedsPath);
  if (text === undefined) return [];
  const { data, success } = feedsDocumentSchema.safeParse(parsed(text));
  if (!success) return [{ path: feedsPath, what: `is not a list of package feeds` }];
  const live = new Set(Array.from(site.live.values(), ({ id }) => id));
  const named = new Map(data.feeds.map(({ feed, left_out: omitted }) => [feed, omitted]));
  return feedNames.flatMap((feed) => {
    const omitted = named.get(feed);
    if (!omitted) return undeclared(feed, reports[feed]);
    const omittedIds = new Set(omitted.map(({ id }) => id));
    const unknown = [...omittedIds].filter((id) => !live.has(id));
    const missing = [...site.live.values()].filter(
      ({ id, packageType }) =>
        types[feed].test(packageType) && !reports[feed].ids.has(id) && !omittedIds.has(id),
    );
    return [
      ...unknown.map((id) => ({
        path: feedsPath,
        what: `names package ${id} of the feed ${feed}, expected only live records`,
      })),
      ...missing.map(({ id, file }) => ({
        path: feedsPath,
        what: `gives no reason for package ${id} (${file}), which no index of the feed ${feed} lists`,
      })),
    ];
  });
}

const undeclared = (feed: FeedName, { ids }: FeedReport): Finding[] =>
  ids.size === 0 ? [] : [{ path: feedsPath, what: `lacks the feed ${feed}, which the site has` }];

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
