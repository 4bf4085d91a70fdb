import { semverOf } from "../../shared/version.ts";
import type { OutputFile, ReleaseSummary, SiteConfig } from "../documents/published.ts";
import type { VersionsDocument } from "../documents/site.ts";
import { jsonFile, textFile } from "./output.ts";

/**
 * Lists for programs that look for updates. They are oldest first, because such programs take the last entry for
 * the newest, and have no provisional release, because its time would change.
 * @param releases ascending by version
 * @param below folder of the lists
 */
export function versionLists(
  releases: readonly ReleaseSummary[],
  { baseUrl }: SiteConfig,
  below = "api/v1/",
): OutputFile[] {
  const rows = releases.flatMap((release): VersionsDocument["releases"] => {
    const { version: tag, releasedAt, provisional, packages, retracted } = release;
    if (provisional || releasedAt === undefined || packages.length + retracted.length === 0) return [];
    return [
      {
        version: semverOf(tag),
        releaseTimestamp: `${releasedAt.slice(0, 19)}Z`,
        isStable: true,
        ...(packages.length === 0 && { isDeprecated: true }),
        changelogUrl: `${baseUrl}/releases/${tag}/`,
        tag,
      },
    ];
  });
  const live = rows.filter(({ isDeprecated }) => !isDeprecated);
  return [
    jsonFile(`${below}versions.json`, { releases: rows, homepage: `${baseUrl}/` } satisfies VersionsDocument),
    textFile(`${below}versions.txt`, live.map(({ tag }) => `${tag}\n`).join("")),
  ];
}
