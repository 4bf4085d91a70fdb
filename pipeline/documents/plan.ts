import { z } from "zod";
import {
  date,
  expects,
  flag,
  id,
  line,
  list,
  object,
  revision,
  sha256,
  table,
  timestamp,
  version,
} from "../../shared/fields.ts";
import { feedNames } from "./feeds/settings.ts";
import { addSchema, reviseSchema } from "./ledger.ts";

const count = z.int(expects("wrong-type", "a whole number, 0 or more")).min(0);

/** Text from elsewhere may contain anything; a plan shows it unchanged. */
const anyText = z.string(expects("wrong-type", "text"));

/** Values without parts; comparison of fields ends here. */
const leaf = z.union(
  [z.null(), z.boolean(), z.number(), z.string(), z.array(z.never()), z.strictObject({})],
  expects("wrong-type", "text, a number, true, false, null, or an empty list or object"),
);

const fieldChange = object({
  field: anyText.describe("Path inside the record, such as data.store.size."),
  from: leaf.optional().describe("Absent if the field did not exist."),
  to: leaf.optional().describe("Absent if the field was removed."),
  cause: line.optional().describe("The entry of `configuration` that changes it."),
});

const ledgerState = z
  .enum(["planned", "written", "open"], expects("option-value", "planned, written or open"))
  .describe("planned: a line of this plan makes it permanent; written: it is in the ledger; open: neither.");

const row = { id, version: anyText, package_type: anyText, name: anyText, file: anyText.nullable() };

const withdrawn = object({ ...row, reason: anyText, replaced_by: id.nullable(), at: timestamp });

const configurationChange = object({
  field: line.describe("Path in catalog.yaml, including defaults."),
  from: leaf.optional(),
  to: leaf.optional(),
  file: line,
  line: id,
  column: id,
  records: count.describe("Published records that it changes."),
});

const releaseChange = object({
  version,
  change: z.enum(["added", "changed", "removed"], expects("option-value", "added, changed or removed")),
  date: date.nullable().describe("Date of the planned release; null if it is removed."),
  fields: list(fieldChange).describe("Date, summary and notes."),
});

const forbiddenChange = object({
  code: line,
  message: anyText,
  hint: anyText.nullable(),
  file: anyText.nullable(),
  line: id.nullable(),
  column: id.nullable(),
});

const baseline = object({
  kind: z.enum(
    ["revision", "live", "ledger", "nothing"],
    expects("option-value", "revision, live, ledger or nothing"),
  ),
  name: anyText.describe(
    "The git revision, URL, folder or file that was compared with; or the reason why not: none, no-repository, no-commit, no-remote.",
  ),
  commit: revision.nullable(),
  records: count.describe("Number of its public records."),
  problems: count.describe("Errors in parts that could not be read; these parts are shown as added."),
});

const ledgerSteps = object({
  before: sha256.describe("SHA-256 of the ledger the lines are appended to."),
  after: sha256.describe("SHA-256 of the ledger with these lines, including private ones."),
  next_id: id.describe("The next free id afterwards."),
});

/**
 * Changes that publishing would make, and the ledger lines that `cut` would write. Private records are only
 * counted, but the digests cover them.
 */
export const planSchema = object({
  schema_version: z.literal(1, expects("option-value", "1")),
  at: timestamp.describe("Date of the lines."),
  versions: list(version).nullable().describe("The requested versions; null means every release."),
  baseline,
  ledger: ledgerSteps,
  lines: list(
    z.discriminatedUnion(
      "event",
      [addSchema, reviseSchema],
      expects("option-value", "an add or revise event"),
    ),
  ).describe("Public ledger lines to append, in order."),
  forbidden: list(forbiddenChange),
  refused: list(forbiddenChange).describe(
    "Artifacts that `cut` would refuse, because of their policy or because they were not inspected.",
  ),
  removed: list(object({ ...row, forbidden: flag })),
  retracted: list(withdrawn),
  reinstated: list(object(row)),
  added: list(object({ ...row, checksum: anyText, ledger: ledgerState })),
  revised: list(object({ ...row, cause: z.literal("wire").optional() })).describe(
    "Records that get a revise line; cause: only their key names inside `data` changed.",
  ),
  changed: list(object({ ...row, ledger: ledgerState, fields: list(fieldChange) })),
  renamed: list(object({ from: line, to: line, records: count })).describe(
    "Key names inside `data` that differ; every other difference is in `changed`.",
  ),
  releases: list(releaseChange),
  feeds: list(
    object({
      feed: z.enum(feedNames, expects("option-value", `one of ${feedNames.join(", ")}`)),
      index: anyText.describe("A suite of apt, or a repository of yum; empty for other feeds."),
      added: list(object(row)),
      removed: list(object(row)),
    }),
  ).describe("Package feeds whose content changes."),
  not_in_feeds: list(
    object({
      feed: z.enum(feedNames, expects("option-value", `one of ${feedNames.join(", ")}`)),
      ...{ id, version: anyText, file: anyText },
      reason: anyText.describe("Why the feed leaves it out."),
    }),
  )
    .optional()
    .describe("Records that are not cut and that package feeds leave out; absent if there are none."),
  channels: list(
    object({
      channel: line,
      version: anyText,
      change: z
        .enum(["offered", "halted", "left"])
        .describe(
          "offered: promoted or resumed; halted: out of it, with a reason; left: out of it, because it is withdrawn.",
        ),
      reason: line.nullable().describe("Reason of a halt; otherwise null."),
    }),
  )
    .optional()
    .describe("Releases that enter or leave a channel; absent if there are none."),
  configuration: list(configurationChange),
  missing: list(object({ version, artifact: line })).describe(
    "Artifacts that `expected:` requires and a release with new ids lacks.",
  ),
  dropped: list(forbiddenChange)
    .optional()
    .describe("Warnings of open releases that lack what the previous one has; absent if there are none."),
  documents: object({ added: list(anyText), changed: list(anyText), removed: list(anyText) })
    .nullable()
    .describe("Files of the site, by path; null if they were not compared."),
  private: object({
    added: count,
    changed: count,
    removed: count,
    lines: object({ add: count, revise: count }),
  }),
  content: object({ configuration: sha256, releases: table(sha256) }).describe(
    "Digests of the planned configuration and of each release.",
  ),
  digest: sha256.describe("SHA-256 of this document as compact JSON in this order, without digest."),
}).meta({ title: "Plan" });

export type Plan = z.infer<typeof planSchema>;
export type FieldChange = z.infer<typeof fieldChange>;
export type LedgerState = z.infer<typeof ledgerState>;
export type PlanRow = z.infer<ReturnType<typeof object<typeof row>>>;
export type ReleaseChange = z.infer<typeof releaseChange>;
export type ForbiddenChange = z.infer<typeof forbiddenChange>;
