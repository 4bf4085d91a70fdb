import { semverOf } from "../../shared/version.ts";
import type { OutputFile, ReleaseSummary, RenderedRelease, SiteConfig } from "../documents/published.ts";
import type {
  ChannelDocument,
  ChannelsDocument,
  LatestDocument,
  VersionsDocument,
} from "../documents/site.ts";
import { channelPath, channelsPath } from "../documents/site-paths.ts";
import { hasPackages, memberOf, offeredIn } from "../selection/channels.ts";
import { jsonFile, textFile } from "./output.ts";

/**
 * Lists for programs that look for updates. They are oldest first, because such programs take the last entry for
 * the newest, and have no provisional release, because its time would change. @param releases ascending by version
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

/** `api/v1/channel/`: documents and lists of channels, and their index, if there are any. @param releases newest first */
export function* channelFiles(
  releases: readonly RenderedRelease[],
  latestOf: (releases: readonly RenderedRelease[]) => LatestDocument,
  config: SiteConfig,
): Generator<OutputFile> {
  const { channels, baseUrl } = config;
  const [first] = channels;
  if (first === undefined) return;
  const live = releases.filter(hasPackages);
  const index: ChannelsDocument = {
    schema_version: 1,
    default: first,
    channels: channels.map((name) => ({
      name,
      url: `${baseUrl}/${channelPath(name)}`,
      versions: offeredIn(live, name).map(({ version }) => version),
    })),
  };
  yield jsonFile(channelsPath, index);
  for (const name of channels) {
    const offered = offeredIn(releases, name);
    const document: ChannelDocument = {
      ...latestOf(offered),
      channel: name,
      releases: live.flatMap(({ version, date, channels: own }) => {
        const member = memberOf({ channels: own }, name);
        return member ? { version, date, promoted_at: member.promoted, halted: member.halt } : [];
      }),
    };
    yield jsonFile(channelPath(name), document);
    const folder = `api/v1/channel/${name}/`;
    for (const file of versionLists(offered.toReversed(), config, folder))
      yield name === first ? { ...file, sameAs: file.path.replace(folder, "api/v1/") } : file;
  }
}
