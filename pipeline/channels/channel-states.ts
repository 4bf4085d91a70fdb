import type { ChannelState } from "../documents/outputs/ledger.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { channelsOf } from "../ledger/ledger-channels.ts";
import { memberOf } from "../selection/channels.ts";

/** Cut and not withdrawn releases of each channel. @param names channels of catalog.yaml, the default one first */
export function channelStates(ledger: Ledger, names: readonly string[]): ChannelState[] {
  const versions = liveVersions(ledger);
  return names.map((name) => {
    const releases = versions.flatMap((version) => {
      const member = memberOf({ channels: channelsOf(version, ledger.channels, names) }, name);
      return member ? [{ version, promoted: member.promoted, halted: member.halt }] : [];
    });
    const newest = releases.find(({ halted }) => halted === null)?.version ?? null;
    return { name, default: name === names[0], newest, releases };
  });
}

/** Cut releases that no channel has, newest first. @param names channels of catalog.yaml */
export const versionsInNoChannel = (ledger: Ledger, names: readonly string[]): string[] =>
  liveVersions(ledger).filter((version) => channelsOf(version, ledger.channels, names)?.length === 0);

/** Versions with a public record that is not withdrawn, newest first. */
const liveVersions = (ledger: Ledger): string[] =>
  [...ledger.versions]
    .filter((version) =>
      ledger.ofVersion(version).some(({ retraction, private: hidden }) => !retraction && !hidden),
    )
    .sort()
    .reverse();
