import { id, timestamp, version } from "../../../shared/fields.ts";
import { ledgerEventSchema } from "../ledger.ts";
import { count, document, dryRun, flag, list, object, type Result, text, texts } from "./members.ts";

const recordRow = {
  version: version.describe("Version of its release."),
  package_type: text("Package type, such as deb."),
  name: text("Name in the catalog."),
  file: text("Name of its file."),
};

const record = object({ id: id.describe("Permanent id."), ...recordRow }).meta({
  id: "LedgerRecord",
  description: "A record, as the ledger has it.",
});

const event = ledgerEventSchema.meta({
  id: "LedgerEvent",
  description: "A line of releases/ledger.jsonl: relcat schema ledger-event.",
}) as typeof ledgerEventSchema;

const ids = (description: string) => list(id, description);

const newest = (when: string) =>
  text(`Newest release of the channel ${when}; null: none is offered.`).nullable();

export const channel = object({
  name: text("Name of the channel."),
  default: flag("Whether it is the default channel, which latest means."),
  newest: text("Highest version that it offers; null: none.").nullable(),
  releases: list(
    object({
      version: version.describe("Version of the release."),
      promoted: timestamp.nullable().describe("Time of the promotion; null before the first one."),
      halted: object({
        reason: text("Reason, as published."),
        at: timestamp.describe("Time of the halt."),
      })
        .nullable()
        .describe("Why the channel does not offer it; null: it does."),
    }),
    "Releases of the channel that are not withdrawn, newest first.",
  ),
});

const events = {
  events: list(event, "The new lines; empty if the ledger already says so."),
  dry_run: dryRun,
};

export const ledger = {
  cut: document("The ledger lines of a cut.", {
    at: timestamp.describe("Time of the lines."),
    added: list(record, "Records that got an id."),
    revised: list(record, "Records whose content changed."),
    private: object({
      added: count("Private records that got an id."),
      revised: count("Private records whose content changed."),
    }).describe("Private records, which are counted but not named."),
    commit: text("Abbreviated id of the new commit; null without --commit.").nullable(),
    subject: text("First line of its message; null without a commit.").nullable(),
    settled_by: text("Git revision that makes the lines final, as ledger.base says."),
    dry_run: dryRun,
  }),
  uncut: document("The ledger lines that were removed.", {
    version: version.describe("Version of the release."),
    lines: count("Number of removed lines."),
    ids: ids("Ids that are free again."),
    dry_run: dryRun,
  }),
  "ledger-rebase": document("The ledger after a rebase.", {
    onto: text("Git revision whose lines were kept."),
    at: timestamp.nullable().describe("Time of our lines; null if none has a new one."),
    lines: count("Number of our lines that follow."),
    moved: list(
      object({
        from: id.describe("Id before."),
        to: id.describe("Id now."),
        ...recordRow,
        already_there: flag("Whether the other side has the same artifact, so that our line was dropped."),
      }),
      "Records whose id changed.",
    ),
    private: count("Number of private records whose id changed."),
    left_out: ids("Records whose revision was left out, because the other side withdrew or published them."),
    left_out_changes: list(
      event,
      "Changes of channels that were left out, because the other side made them obsolete.",
    ),
    cut_twice: texts("Versions of which both sides cut records."),
    dry_run: dryRun,
  }),
  "channel-list": document("The channels of a project.", {
    channels: list(channel, "Channels of catalog.yaml, the default one first; empty: it names none."),
    in_no_channel: texts("Cut releases that no channel has, newest first."),
  }),
  "channel-show": document("The releases of a channel.", channel.shape),
  "channel-change": document("The ledger lines that change a channel.", {
    events: list(event, "The new lines."),
    newest: object({ before: newest("before"), after: newest("after") }).describe(
      "Newest release of the channel.",
    ),
    dry_run: dryRun,
  }),
  retract: document("The ledger lines that withdraw records.", events),
  reinstate: document("The ledger lines that undo withdrawals.", events),
};

export type ChannelState = Result<(typeof ledger)["channel-show"]>;
