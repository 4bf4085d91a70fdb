import { z } from "zod";
import { date, id, timestamp, version } from "../../../shared/fields.ts";
import { architecture } from "../../../shared/package-metadata.ts";
import { feedNames } from "../feeds/settings.ts";
import { planSchema } from "../plan.ts";
import { siteStateSchema } from "../site-state.ts";
import { channel } from "./ledger.ts";
import { count, document, list, object, oneOf, problem, type Result, table, text, texts } from "./members.ts";
import { feedKey } from "./trust.ts";

const counts = {
  artifacts: count("Number of artifacts, private ones included."),
  private: count("Number of private artifacts."),
  next_notes: count("Number of notes that wait for the next release."),
};

const tally = { errors: count("Number of errors."), warnings: count("Number of warnings.") };

const releaseStatus = object({
  version: version.describe("Version of the release."),
  date: date.describe("Date of the release."),
  standing: oneOf(
    ["cut", "changed", "open"],
    "cut: permanent; changed: edited after the cut; open: nothing of it is permanent.",
  ),
  packages: count("Number of public records that are not withdrawn."),
  private: count("Number of private records."),
  retracted: count("Number of withdrawn records."),
  added: count("Number of artifacts that were added after the cut."),
  revised: count("Number of records that were edited after the cut."),
  missing: texts("Artifacts that expected: requires and the release lacks."),
});

const live = siteStateSchema.pick({
  build: true,
  at: true,
  publisher: true,
  commit: true,
  state: true,
  hold: true,
});

const siteStatus = object({
  name: text("Name of the site in catalog.yaml."),
  url: text("Where the site is stored."),
  unreachable: text("Why the site cannot be read; absent if it can.").optional(),
  live: live.nullable().describe("The live build, as in relcat history; null: nothing was published yet."),
  unpublished: count(
    "Number of ledger lines that are not published there; null: the site has a different ledger.",
  ).nullable(),
  ends: list(
    object({
      role: text("Role of the metadata, or suite of a package repository."),
      expires: text("Time of expiry."),
      days: z.int().describe("Whole days from now; negative after the expiry."),
      state: oneOf(
        ["valid", "due", "expired", "future"],
        "due: it should be renewed now; future: it was signed later than now, so the clock was wrong.",
      ),
      command: text("Command that renews it; null: not needed yet.").nullable(),
    }),
    "When signatures expire, soonest first; empty if the site is not signed.",
  ),
  unverified: texts("Live metadata without a signature that is valid for the newest root here."),
});

const feedGap = object({
  feed: oneOf(feedNames, "Package feed."),
  id: id.describe("Id of the record."),
  version: version.describe("Version of its release."),
  file: text("Name of its file."),
  reason: text("Why the feed leaves it out."),
  command: text("Command that repairs it; null: catalog.yaml or the manifest decides.").nullable(),
});

const withdrawal = object({
  reason: text("Reason, as published."),
  replaced_by: id.nullable().describe("Id of the record to use instead."),
  at: timestamp.describe("Time of the withdrawal."),
});

export const catalog = {
  check: document("Problems, and the amount of checked content. Exit status 1 if there are errors.", {
    ...tally,
    releases: count("Number of releases."),
    ...counts,
    ledger_base: text("Git revision that --ledger-base names; null without it.").nullable(),
    problems: list(problem, "All problems, in order of file, line and column."),
  }),
  status: document(
    "State of releases and sites. Exit status 1 if the ledger lost lines, 7 if signatures have expired.",
    {
      releases: list(releaseStatus, "Releases, oldest first."),
      ...counts,
      ...tally,
      policies: texts("Package types whose artifacts are inspected before they are cut."),
      openpgp: list(feedKey, "Keys of package repositories."),
      not_in_feeds: list(feedGap, "Records that package feeds leave out."),
      support_ends: list(
        object({
          line: text("Month of the releases."),
          of: oneOf(["security updates", "support"], "Support that ends."),
          on: text("The last day."),
          days: z.int().describe("Days that are left; negative: it is over."),
        }),
        "Support that ends within 90 days, or has ended.",
      ),
      channels: list(channel, "Channels of catalog.yaml, the default one first; empty: it names none."),
      in_no_channel: texts("Cut releases that no channel has, newest first."),
      next: object({
        command: text("The usual next command; null: there is nothing to do.").nullable(),
        why: text("Why, for people."),
      }).describe("The usual next step."),
      sites: list(siteStatus, "Sites of catalog.yaml; absent with --offline.").optional(),
    },
  ),
  list: document("Records that match, in the order of the API.", {
    records: list(
      table(z.unknown(), "A record."),
      "Records as the API answers them: relcat schema package-record. Imported ones may differ from it.",
    ),
    details: list(
      object({
        id: id.describe("Id of the record."),
        arch: architecture.nullable().describe("Architecture; null if it is not known."),
        state: oneOf(
          ["cut", "revised", "provisional", "withdrawn"],
          "cut: as published; revised: edited since; provisional: not cut; withdrawn: shown with --all.",
        ),
        file: text("Name of its file."),
        url: text("Address of its file."),
        withdrawal: withdrawal.nullable().describe("Its withdrawal; null if it is not withdrawn."),
      }),
      "Facts about the same records, in the same order.",
    ),
  }),
  affected: document("Versions and files that a vulnerability, a range of versions or a file concerns.", {
    asked: text("The question: an id, a version, a range or a SHA-256."),
    fixes: list(
      object({
        id: text("Id of the note's security:; null: it has none.").nullable(),
        severity: text("Its severity; null: it is not stated.").nullable(),
        cve: texts("Ids at the CVE program that the note names."),
        version: version.describe("The release that fixes it."),
      }),
      "Notes that name the vulnerability; empty for other questions.",
    ),
    versions: list(version.describe("An affected version."), "Affected releases that are cut, ascending."),
    files: list(
      object({
        id: id.describe("Id of the record."),
        version: version.describe("Version of its release."),
        file: text("Name of its file."),
        sha256: text("SHA-256 of its file, or unknown."),
        published: timestamp.describe("Time at which it was cut."),
        withdrawn: withdrawal
          .omit({ at: true })
          .nullable()
          .describe("Its withdrawal; null if it is not withdrawn."),
      }),
      "Public files of these releases.",
    ),
    first: timestamp.nullable().describe("Time of the earliest cut of a file; null: there is none."),
    last: timestamp.nullable().describe("Time of the latest one."),
    instead: list(
      version.describe("A version."),
      "Releases to use instead: those that fix it, or the newest one that is not affected.",
    ),
  }),
  build: document("A site that was built.", {
    out: text("Folder of the site."),
    base_url: text("Address that the site is built for."),
    releases: count("Number of releases."),
    packages: count("Number of records that are not withdrawn."),
    provisional: texts("Versions whose ids, dates or content are not permanent yet."),
    files: object({
      written: count("Number of files that were written."),
      unchanged: count("Number of files that were already there."),
      removed: count("Number of files that were removed."),
    }).describe("Files of the site."),
    bytes: count("Size of all files."),
    left_out: object({
      releases: texts("Versions that were left out because they are not cut."),
      artifacts: list(
        object({ version: version.describe("Version of the release."), file: text("Name of the file.") }),
        "Artifacts of cut releases that were left out because they are not cut.",
      ),
      private: count("Number of private artifacts that were left out."),
      feeds: list(
        feedGap.omit({ version: true, command: true }),
        "Records that package feeds leave out, also without --released.",
      ),
    }).describe("Content that --released, or a feed, left out."),
    warnings: count("Number of warnings that relcat check shows."),
  }),
  plan: planSchema.describe(
    "Changes that publishing would make: relcat schema plan. Exit status 1 if a change is forbidden, 10 for changes with --detailed-exitcode.",
  ) as typeof planSchema,
};

export type Affected = Omit<Result<typeof catalog.affected>, "asked">;
type Status = Result<typeof catalog.status>;
export type ReleaseStatus = Status["releases"][number];
export type FeedGap = Status["not_in_feeds"][number];
export type SupportEnd = Status["support_ends"][number];
export type SiteStatus = z.infer<typeof siteStatus>;
export type RoleEnd = SiteStatus["ends"][number];
export type RecordDetails = Result<typeof catalog.list>["details"][number];
