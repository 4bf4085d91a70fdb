import type { Place, Problem } from "../../shared/errors.ts";
import type { ChannelEvent, LedgerEvent } from "../documents/ledger.ts";
import type { ReleaseChannel } from "../documents/published.ts";
import type { Entry } from "./ledger-records.ts";

/** A release in a channel, by version. */
type Members = Map<string, Omit<ReleaseChannel, "name">>;

/** The channels of a ledger. The lines of one release in one channel alternate, so other lines do not matter. */
export class LedgerChannels {
  /** By name. Empty: no release was promoted yet. */
  readonly byName = new Map<string, Members>();

  /** The reason why the event is not possible, as the end of a sentence that begins with the release. */
  faultOf(
    { event, channel, version }: Pick<ChannelEvent, "event" | "channel" | "version">,
    entries: readonly Pick<Entry, "retraction">[],
  ): string | undefined {
    if (entries.length === 0) return "is not cut";
    const member = this.byName.get(channel)?.get(version);
    if (event === "promote" && member) return `is in ${channel} already${member.halt ? ", halted" : ""}`;
    if (event !== "promote" && !member) return `is not in ${channel}`;
    if (event === "halt") return member?.halt ? `is halted in ${channel} already` : undefined;
    if (event === "resume" && !member?.halt) return `is not halted in ${channel}`;
    return entries.every(({ retraction }) => retraction) ? "is withdrawn" : undefined;
  }

  apply(event: ChannelEvent): void {
    const members: Members = this.byName.get(event.channel) ?? new Map();
    this.byName.set(event.channel, members);
    const promoted = members.get(event.version)?.promoted ?? event.at;
    const halt = event.event === "halt" ? { reason: event.reason, at: event.at } : null;
    members.set(event.version, { promoted, halt, changed: event.at });
  }

  copy(): LedgerChannels {
    const copy = new LedgerChannels();
    for (const [name, members] of this.byName) copy.byName.set(name, new Map(members));
    return copy;
  }
}

export const isChannelEvent = (event: LedgerEvent): event is ChannelEvent => "channel" in event;

/**
 * Before the first promotion, each release is in the default channel.
 * @param names channels of catalog.yaml, the default one first
 * @returns undefined if the project has no channels
 */
export function channelsOf(
  version: string,
  { byName }: Pick<LedgerChannels, "byName">,
  [first, ...others]: readonly string[],
): ReleaseChannel[] | undefined {
  if (first === undefined) return undefined;
  if (byName.size === 0) return [{ name: first, promoted: null, halt: null, changed: null }];
  return [first, ...others].flatMap((name) => {
    const member = byName.get(name)?.get(version);
    return member ? [{ name, ...member }] : [];
  });
}

/** Channels of the ledger that catalog.yaml lacks: without them, halted releases would be offered again. */
export const unnamedChannels = (
  { channels, file }: { channels: LedgerChannels; file: string },
  names: readonly string[],
  at: Place,
): Problem[] =>
  [...channels.byName.keys()]
    .filter((name) => !names.includes(name))
    .map((name) => {
      const message = `${file} has releases in the channel ${name}, which catalog.yaml does not name`;
      const hint = `Add ${name}: {} to channels: there. A channel that is no longer needed stays; halt its releases.`;
      return { code: "channel-unknown", severity: "error", message, hint, at };
    });
