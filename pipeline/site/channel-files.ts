import type { OutputFile, RenderedRelease, SiteConfig } from "../documents/published.ts";
import type { ChannelDocument, ChannelsDocument, LatestDocument } from "../documents/site.ts";
import { channelPath, channelsPath } from "../documents/site-paths.ts";
import { offeredIn } from "../selection/channels.ts";
import { jsonFile } from "./output.ts";
import { versionLists } from "./version-lists.ts";

/**
 * `api/v1/channel/`: the index of channels, and for each of them its document and lists, if the project has channels.
 * @param releases newest first
 * @param latestOf the document for installers, of releases that are newest first
 */
export function* channelFiles(
  releases: readonly RenderedRelease[],
  latestOf: (releases: readonly RenderedRelease[]) => LatestDocument,
  config: SiteConfig,
): Generator<OutputFile> {
  const { channels, baseUrl } = config;
  const [first] = channels;
  if (first === undefined) return;
  const index: ChannelsDocument = {
    schema_version: 1,
    default: first,
    channels: channels.map((name) => ({
      name,
      url: `${baseUrl}/${channelPath(name)}`,
      versions: offeredIn(releases, name)
        .filter(hasPackages)
        .map(({ version }) => version),
    })),
  };
  yield jsonFile(channelsPath, index);
  for (const name of channels) {
    const offered = offeredIn(releases, name);
    const document: ChannelDocument = {
      ...latestOf(offered),
      channel: name,
      releases: releases.filter(hasPackages).flatMap((release) => rowOf(release, name)),
    };
    yield jsonFile(channelPath(name), document);
    const folder = `api/v1/channel/${name}/`;
    for (const file of versionLists(offered.toReversed(), config, folder))
      yield name === first ? { ...file, sameAs: file.path.replace(folder, "api/v1/") } : file;
  }
}

/** A withdrawn release is in no channel. */
export const hasPackages = ({ packages }: Pick<RenderedRelease, "packages">): boolean => packages.length > 0;

const rowOf = (
  { version, date, channels = [] }: RenderedRelease,
  channel: string,
): ChannelDocument["releases"] =>
  channels
    .filter(({ name }) => name === channel)
    .map(({ promoted, halt }) => ({ version, date, promoted_at: promoted, halted: halt }));
