import { z } from "zod";
import {
  flag,
  line,
  list,
  object,
  sha256,
  size,
  tableBy,
  text,
  timestamp,
  version,
} from "../../shared/fields.ts";
import { publicPathSchema } from "./relative-path.ts";

export const publishName = (build: string, run: string): string => `${build.slice(0, 12)}-${run}`;

const publishNamePattern = /^[0-9a-f]{12}-\d+-[0-9a-f]{8}$/;

/** Filters out files of other programs at the site. */
export const isPublishName = (name: string): boolean => publishNamePattern.test(name);

/** Strict, because it becomes a file and folder name. */
const keptName = text(
  "path-format",
  publishNamePattern,
  "the name of a publish, such as 0123456789ab-4711-89abcdef",
);

const runName = text("path-format", /^\d+-[0-9a-f]+$/, "the name of a run, such as 4711-89abcdef");

/** Strict, because messages repeat it in commands. Git uses SHA-1 or SHA-256. */
const commit = text(
  "revision-format",
  /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/,
  "a whole commit id, 40 or 64 lowercase hexadecimal characters",
);

export const ledgerMark = object({
  lines: z.int().min(0).describe("Lines of public records; private ones are not counted."),
  sha256: sha256.describe("Digest of the whole ledger, including its last line."),
});

const historyEntry = object({
  build: sha256,
  files: keptName.describe("Name under which the site keeps what was published."),
  bundles: list(keptName).describe("Other files that must be kept for a rollback to it."),
  at: timestamp,
  publisher: line,
  commit: commit.nullable(),
  action: z.enum(["publish", "refresh", "rollback"]),
  reason: line.optional().describe("Why an earlier build went live again."),
  unpushed: line
    .optional()
    .describe("Why its ledger lines were published before the base of the ledger had them."),
  uncommitted: line.optional().describe("Why it was published from files without a commit."),
});

/** current.json: live build, current publisher, and pending work. */
export const siteStateSchema = object({
  schema_version: z.literal(1),
  build: sha256.nullable().describe("The build that is live or being published; null: none yet."),
  signed: sha256.nullable().describe("SHA-256 of the list of what signing added to it."),
  previous: sha256.nullable().describe("The build before it."),
  state: z.enum(["publishing", "done"]),
  action: z.enum(["publish", "refresh", "rollback"]).describe("The action in progress, or the last one."),
  publisher: line.describe("The last publisher, or the current one."),
  run: runName.describe("Distinguishes two runs of one publisher."),
  lease_until: timestamp.describe("Until then no other publisher starts."),
  at: timestamp,
  commit: commit.nullable(),
  ledger: ledgerMark,
  ledger_high: ledgerMark.describe("Summary of the longest ledger that was ever published here."),
  hold: object({ reason: line, by: line, since: timestamp, commit: commit.nullable() })
    .nullable()
    .describe("Why nothing newer is published; its commit is that of the build that was restored."),
  pending: object({ purge: flag, announce: list(version) })
    .nullable()
    .describe("Programs that have not been run for the live build."),
  history: list(historyEntry).describe("Newest first."),
}).meta({ title: "State of a site" });

/** Stored data of one publish, in addition to its public files. */
export const siteIndexSchema = object({
  schema_version: z.literal(1),
  build: sha256,
  files: tableBy(
    publicPathSchema,
    object({
      sha256,
      size,
      headers: line,
      etag: line.optional(),
      bundle: keptName.optional(),
      offset: size.optional(),
    }),
  ).describe("Public files by path; the last three where they are objects of a bucket."),
  leaving: tableBy(publicPathSchema, timestamp).describe(
    "Files that nothing refers to any longer, and since when: current readers may still fetch them.",
  ),
}).meta({ title: "Files of a publish" });

/** Timestamp format of relcat, with microseconds. */
export const timestampOf = (milliseconds: number): string =>
  new Date(milliseconds).toISOString().replace(/Z$/, "000Z");

export type SiteState = z.infer<typeof siteStateSchema>;
export type HistoryEntry = z.infer<typeof historyEntry>;
export type LedgerMark = z.infer<typeof ledgerMark>;
export type SiteIndex = z.infer<typeof siteIndexSchema>;
export type PublishedFile = SiteIndex["files"][string];

/** Own properties only, because paths are untrusted text. @param index undefined: the site is empty */
export const fileIn = (
  index: Pick<SiteIndex, "files"> | undefined,
  path: string,
): PublishedFile | undefined => (index && Object.hasOwn(index.files, path) ? index.files[path] : undefined);
