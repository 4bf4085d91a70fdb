import { failure, type Problem, type RelcatError, throwErrors } from "../../shared/errors.ts";
import type { ChannelEvent } from "../documents/ledger.ts";
import { append, type Ledger, type LedgerChange, readLedger } from "../ledger/ledger.ts";
import { findLedgerBase, settledText, whyNotCompared } from "../ledger/ledger-base.ts";
import { changeLedger } from "../ledger/ledger-file.ts";
import { reasonProblems } from "../ledger/retract.ts";
import { display } from "../project/display.ts";
import type { ProjectSettings } from "../project/settings.ts";
import type { CommandContext } from "../system/lock.ts";
import { channelStates } from "./channel-states.ts";

export type ChannelRequest = Pick<ChannelEvent, "channel" | "version"> &
  ({ event: "promote" | "resume" } | { event: "halt"; reason: string });

interface ChannelChange extends LedgerChange {
  /** Releases that the first change of a project writes into the default channel, in which they are until then. */
  kept: readonly string[];
  /** Newest release of the channel; null: it offers none. */
  newest: { before: string | null; after: string | null };
}

/** Appends the line. @throws RelcatError channel-unknown, version-unknown, channel-state, text-format for the reason */
export async function changeChannel(
  { folder, config }: ProjectSettings,
  request: ChannelRequest,
  context: CommandContext,
): Promise<ChannelChange> {
  return changeLedger(folder, context, async (ledger, at) => {
    const settled = await settledVersions(folder, ledger, config.ledgerBase);
    return decideChannelChange(ledger, config.channels, request, settled, at);
  });
}

/** Versions that the base revision has: they may be published. Only the first change of a channel needs them. */
async function settledVersions(folder: string, { file, channels }: Ledger, base: string) {
  if (channels.byName.size > 0) return new Set<string>();
  const found = await findLedgerBase(folder, base);
  if (found && ["no-base", "unrelated", "shallow"].includes(found.found.kind) && !found.found.base)
    throw failure(
      "git-revision",
      whyNotCompared(found) ?? "",
      "The first change of a channel must know which releases may be published already.",
    );
  const text = found ? await settledText(found) : "";
  return readLedger({ file, text }).ledger.versions;
}

/** The first of `names` is the default channel. It keeps `settled` versions, because they may be published. */
function decideChannelChange(
  ledger: Ledger,
  names: readonly string[],
  request: ChannelRequest,
  settled: ReadonlySet<string>,
  at: string,
): ChannelChange {
  const { event, channel, version } = request;
  if (!names.includes(channel)) throw unknownChannel(channel, names);
  const kept = keptVersions(ledger, names, request, settled);
  const [first = ""] = names;
  const before = kept.map((each) => ({ event: "promote" as const, channel: first, version: each, at }));
  const channels = ledger.channels.copy();
  for (const each of before) channels.apply(each);
  const entries = ledger.ofVersion(version);
  const fault = channels.faultOf(request, entries);
  throwErrors([
    ...(fault ? [impossible(request, fault, entries.length > 0)] : []),
    ...(request.event === "halt" ? reasonProblems(request.reason) : []),
  ]);
  // The order of its members determines the bytes.
  const reason = request.event === "halt" && { reason: request.reason };
  const own = { event, channel, version, ...reason, at } as ChannelEvent;
  channels.apply(own);
  const newest = (state: Ledger) =>
    channelStates(state, names).find(({ name }) => name === channel)?.newest ?? null;
  return {
    ...append(ledger, [...before, own]),
    kept,
    newest: { before: newest(ledger), after: newest({ ...ledger, channels }) },
  };
}

export function unknownChannel(channel: string, names: readonly string[]): RelcatError {
  const hint = "Add it to channels: in catalog.yaml, or name one of those.";
  const message = `catalog.yaml names no channel ${display(channel)}, expected ${names.join(", ")}`;
  if (names.length > 0) return failure("channel-unknown", message, hint);
  const first = "Add the default channel and the others to it: channels: { stable: {}, beta: {} }";
  return failure("channel-unknown", "catalog.yaml names no channels", first);
}

function keptVersions(
  ledger: Ledger,
  [first]: readonly string[],
  { event, channel, version }: ChannelRequest,
  settled: ReadonlySet<string>,
): string[] {
  if (ledger.channels.byName.size > 0) return [];
  const isLive = (each: string) => ledger.ofVersion(each).some(({ retraction }) => !retraction);
  // The request itself promotes it, or it goes to another channel before anyone could install it.
  const isElsewhere = event === "promote" && (channel === first || !settled.has(version));
  return [...ledger.versions].filter((each) => isLive(each) && !(isElsewhere && each === version)).sort();
}

const verbs = { promote: "promoted into", halt: "halted in", resume: "resumed in" };

function impossible({ event, channel, version }: ChannelRequest, fault: string, isCut: boolean): Problem {
  const message = `${version} cannot be ${verbs[event]} ${channel}: it ${fault}`;
  const hint = !isCut
    ? `Check the version. If that release is open, cut it first: relcat cut ${version}`
    : fault.endsWith("halted") && event === "promote"
      ? `To offer it again: relcat channel resume ${channel} ${version}`
      : `relcat channel show ${channel} lists its releases.`;
  return { code: isCut ? "channel-state" : "version-unknown", severity: "error", message, hint };
}
