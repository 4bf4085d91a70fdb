import type { ReleaseChannel } from "../documents/published.ts";
import type { ChannelsDocument } from "../documents/site.ts";

interface InChannels {
  channels?: readonly ReleaseChannel[] | undefined;
}

/**
 * The releases that a channel offers, including those without packages.
 * @param channel undefined: the project has no channels, so that each release is offered
 */
export const offeredIn = <Release extends InChannels>(
  releases: readonly Release[],
  channel: string | undefined,
): readonly Release[] => releases.filter((release) => isOffered(release, channel));

/** @param channel undefined: the project has no channels, so that each release is offered */
export const isOffered = ({ channels = [] }: InChannels, channel: string | undefined): boolean =>
  channel === undefined || channels.some(({ name, halt }) => name === channel && halt === null);

/** The versions that a channel offers. @param name undefined: the default channel */
export const versionsOfChannel = (
  { channels, default: first }: ChannelsDocument,
  name = first,
): ReadonlySet<string> | undefined => {
  const channel = channels.find((each) => each.name === name);
  return channel && new Set(channel.versions);
};
