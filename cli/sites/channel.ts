import {
  type ChannelRequest,
  changeChannel,
  exitStatus,
  openSettings,
  type ProjectSettings,
  readLedgerNow,
} from "../../pipeline/index.ts";
import { isVersion } from "../../shared/version.ts";
import { type LedgerGuardOptions, ledgerGuard } from "../catalog/ledger-guard.ts";
import { answer, commandContext, type Host, say, sayNext } from "../terminal/host.ts";
import { reasonOf } from "../terminal/option-values.ts";
import { confirmOrRefuse, UsageError } from "../terminal/usage.ts";
import { listed } from "../terminal/words.ts";

interface ChannelOptions extends LedgerGuardOptions {
  reason?: string;
  /** Site to which the change is published; undefined: it is only written. */
  publish?: string;
  now?: string;
  dryRun?: true;
  yes?: true;
}

const done = { promote: "Promoted", halt: "Halted", resume: "Resumed" };
const prepositions = { promote: "into", halt: "in", resume: "in" };

/** @param words a version and a channel, in any order */
export async function changeChannels(
  event: ChannelRequest["event"],
  words: readonly [string, string],
  { reason, publish, now, dryRun, yes, ...options }: ChannelOptions,
  host: Host,
): Promise<number> {
  const request = requestOf(event, words, reason);
  const project = await openSettings(host.releases);
  const guard = ledgerGuard({ ...options, revision: project.config.ledgerBase }, host);
  const ledger = readLedgerNow(host.releases);
  await guard.prove(ledger);
  const context = commandContext(host, now);
  const { kept, newest } = await changeChannel(project, request, { ...context, dryRun: true });
  for (const line of plannedLines(request, kept, newest, project)) say(host, line);
  if (!dryRun) await confirmOrRefuse(`${event[0]?.toUpperCase()}${event.slice(1)} it?`, yes, host);
  const { events } = await changeChannel(project, request, { ...context, dryRun });
  await guard.report(ledger);
  const { version, channel } = request;
  const text = `${done[event]} ${version} ${prepositions[event]} ${channel}.`;
  if (publish && !dryRun) {
    say(host, text);
    return (await import("./release.ts")).release(publish, [version], { push: true }, host);
  }
  answer<"channel-change">(host, { events, newest, dry_run: dryRun ?? false }, () =>
    dryRun ? "Nothing was written." : text,
  );
  sayNext(host, `commit ${host.releases}/ledger.jsonl, then relcat build --released`, dryRun);
  return exitStatus.done;
}

function requestOf(
  event: ChannelRequest["event"],
  words: readonly [string, string],
  reason: string | undefined,
): ChannelRequest {
  const [version, channel] = isVersion(words[0]) ? words : [words[1], words[0]];
  if (!isVersion(version))
    throw new UsageError(
      `neither ${JSON.stringify(words[0])} nor ${JSON.stringify(words[1])} is a version`,
      "Give a version such as 26.08.002, and a channel of catalog.yaml.",
    );
  if (event !== "halt") return { event, version, channel };
  const why = "Give the reason in one line: the page of the release shows it to everyone.";
  return { event, version, channel, reason: reasonOf(reason ?? "", why) };
}

function plannedLines(
  { event, version, channel }: ChannelRequest,
  kept: readonly string[],
  newest: { before: string | null; after: string | null },
  { config }: ProjectSettings,
): string[] {
  const [before, after] = [newest.before ?? "nothing", newest.after ?? "nothing"];
  return [
    `To be ${done[event].toLowerCase()} ${prepositions[event]} ${channel}: ${version}`,
    before === after
      ? `Newest of ${channel}: still ${after}.`
      : `Newest of ${channel}: ${before} → ${after}.`,
    ...(kept.length > 0
      ? [
          `This is the first change of a channel, so it also promotes ${listed([...kept].reverse(), 3)} into ${config.channels[0]}, which has had each release until now. Its newest one is then ${kept.at(-1)}.`,
        ]
      : []),
  ];
}
