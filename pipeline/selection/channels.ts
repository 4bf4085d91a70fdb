import type { ReleaseChannel } from "../documents/published.ts";
import type { ChannelsDocument } from "../documents/site.ts";

interface InChannels {
  channels?: readonly ReleaseChannel[] | undefined;
}

/** Includes releases without packages. @param channel as in isOffered */
export const offeredIn = <Release extends InChannels>(
  releases: readonly Release[],
  channel: string | undefined,
): readonly Release[] => releases.filter((release) => isOffered(release, channel));

export const offeredVersions = (
  releases: readonly (InChannels & { version: string })[],
  channel: string | undefined,
): ReadonlySet<string> => new Set(offeredIn(releases, channel).map(({ version }) => version));

/** @param channel undefined: the project has no channels, so that each release is offered */
export const isOffered = (release: InChannels, channel: string | undefined): boolean =>
  channel === undefined || memberOf(release, channel)?.halt === null;

/** The release in a channel, offered or halted; undefined: the channel does not have it. */
export const memberOf = (
  { channels = [] }: InChannels,
  channel: string | undefined,
): ReleaseChannel | undefined => channels.find(({ name }) => name === channel);

/** A withdrawn release is in no channel. */
export const hasPackages = ({ packages }: { packages: readonly unknown[] }): boolean => packages.length > 0;

/** The versions that a channel offers. @param name undefined: the default channel */
export const versionsOfChannel = (
  { channels, default: first }: ChannelsDocument,
  name = first,
): ReadonlySet<string> | undefined => {
  const channel = channels.find((each) => each.name === name);
  return channel && new Set(channel.versions);
};
