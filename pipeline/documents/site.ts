import { z } from "zod";
import {
  channelName,
  checksum,
  date,
  expects,
  flag,
  freeText,
  id,
  line,
  list,
  name,
  object,
  opened,
  osVersion,
  packageType,
  revision,
  sha256,
  size,
  table,
  tableBy,
  text,
  timestamp,
  url,
  version,
} from "../../shared/fields.ts";
import { architecture, documentSchema } from "../../shared/package-metadata.ts";
import { semverPattern } from "../../shared/version.ts";
import { feedNames } from "./feeds/settings.ts";
import { publishedNote } from "./note.ts";
import { packageRecordSchema } from "./package-record.ts";
import { relativePathSchema } from "./relative-path.ts";
import { ledgerMark } from "./site-state.ts";

const arch = architecture.describe("Architecture; absent if it is not known.");
const schemaVersion = z.literal(1);

const semver = text("version-format", semverPattern, "three numbers without leading zeros, such as 26.8.2");

/** Absent in sites of earlier versions of relcat. */
const forMachines = {
  semver: semver.optional().describe("The version without leading zeros, such as 26.8.2."),
  released_at: timestamp
    .optional()
    .describe("Time of the cut, which never changes; absent for a provisional release."),
};

/** dist/build.json, written last: the files of the build. Its SHA-256 is the build's id. */
export const buildSchema = opened(
  object({
    schema_version: schemaVersion,
    base_url: url,
    provisional: list(version).describe("Versions whose ids, dates or content are not permanent yet."),
    at: revision
      .optional()
      .describe(
        "Commit whose files were built with a later ledger; absent if they were built with their own.",
      ),
    ledger: ledgerMark.optional().describe("The ledger that it was built with."),
    files: tableBy(relativePathSchema, object({ sha256, size })),
    copies: tableBy(relativePathSchema, object({ from: relativePathSchema, sha256, size }))
      .optional()
      .describe("Copies of artifacts, which publishing makes; not files of the build."),
  }).meta({ title: "Build" }),
);

const retractedSchema = object({
  id,
  name,
  file: name,
  package_type: packageType,
  checksum,
  reason: line,
  replaced_by: id.nullable(),
  at: timestamp,
});

const publishedDocument = documentSchema.extend({
  url,
  media_type: line.optional().describe("Absent: the format has none."),
});

/** api/v1/release/{version}/index.json */
export const releaseDocumentSchema = opened(
  object({
    schema_version: schemaVersion,
    version,
    date,
    ...forMachines,
    summary: freeText.nullable(),
    provisional: z.literal(true).optional(),
    notes: list(publishedNote),
    packages: list(packageRecordSchema),
    artifacts: table(
      object({
        ...{ file: name, url, size: size.nullable(), arch: arch.optional() },
        package_version: line.optional().describe("The version that the package states."),
        documents: list(publishedDocument).optional().describe("Files that belong to it."),
      }),
    ).describe("By record id."),
    retracted: list(retractedSchema),
  }).meta({ title: "Release document" }),
);

/** releases/{version}/notes.json */
export const notesDocumentSchema = opened(
  object({
    schema_version: schemaVersion,
    product: line,
    version,
    date,
    corrected: date.optional().describe("Day on which these notes were last corrected."),
    summary: freeText.nullable(),
    sections: list(
      object({
        component: line,
        title: line,
        kinds: list(
          object({
            kind: line,
            title: line,
            notes: list(publishedNote.omit({ component: true, kind: true })),
          }),
        ),
      }),
    ),
  }).meta({ title: "Release notes" }),
);

/** api/v1/release/index.json, newest first. */
export const releaseIndexSchema = opened(
  object({
    schema_version: schemaVersion,
    releases: list(
      object({
        version,
        date,
        ...forMachines,
        package_count: z.int().min(0),
        retracted_count: z.int().min(0),
        provisional: z.literal(true).optional(),
        url,
      }),
    ),
  }).meta({ title: "Release index" }),
);

export const versionsPath = "api/v1/versions.json";

/** api/v1/versions.json: the versions in the form that Renovate reads, oldest first. */
export const versionsSchema = opened(
  object({
    releases: list(
      object({
        version: semver,
        releaseTimestamp: z.iso
          .datetime(expects("timestamp-format", "a UTC timestamp with seconds"))
          .describe("Time of the cut, which never changes."),
        isStable: z.literal(true),
        isDeprecated: z.literal(true).optional().describe("Each package of the release is withdrawn."),
        changelogUrl: url,
        tag: version.describe("The version as it is in addresses."),
      }),
    ),
    homepage: url,
  }).meta({ title: "Versions for update programs" }),
);

const latestMembers = {
  schema_version: schemaVersion,
  version: version.nullable(),
  ...forMachines,
  packages: list(
    object({
      package_type: packageType,
      version,
      ...forMachines,
      id,
      name,
      file: name,
      url,
      size: size.nullable(),
      sha256: sha256.nullable().describe("null for an imported record without a value."),
      operating_system: line,
      platform: id,
      min_os_version: osVersion.nullable(),
      max_os_version: osVersion.nullable(),
      gui_only: flag,
      headless: flag,
      arch: arch.optional(),
    }),
  ),
};

/** api/v1/latest.json: the data that installers need, with the newest version of each package type. */
export const latestSchema = opened(object(latestMembers).meta({ title: "Latest packages" }));

/** api/v1/channel/index.json, in sites with channels: which releases each channel offers. */
export const channelsSchema = opened(
  object({
    schema_version: schemaVersion,
    default: channelName.describe("The channel that `latest` means."),
    channels: list(
      object({
        name: channelName,
        url,
        versions: list(version).describe("Releases that it offers, newest first."),
      }),
    ),
  }).meta({ title: "Channels" }),
);

/** api/v1/channel/{name}.json: latest.json of the channel, followed by its releases. */
export const channelSchema = opened(
  object({
    ...latestMembers,
    channel: channelName,
    releases: list(
      object({
        version,
        date,
        promoted_at: timestamp
          .nullable()
          .describe("Time of the promotion; null for releases from before the first one."),
        halted: object({ reason: line, at: timestamp })
          .nullable()
          .describe("Why the channel does not offer it; null: it does."),
      }),
    ).describe("Releases of the channel, newest first."),
  }).meta({ title: "Channel" }),
);

/** api/v1/package/{id}/gone.json: the body of a 410. */
export const goneSchema = opened(
  object({
    detail: line,
    id,
    name: line,
    reason: line,
    replaced_by: id.nullable(),
  }).meta({ title: "Retracted record" }),
);

export const feedsPath = "api/v1/feeds.json";

/** api/v1/feeds.json, in sites with package feeds. */
export const feedsDocumentSchema = opened(
  object({
    schema_version: schemaVersion,
    feeds: list(
      object({
        feed: z.enum(feedNames, expects("option-value", `one of ${feedNames.join(", ")}`)),
        left_out: list(object({ id, file: name, reason: line })).describe(
          "Live records of the feed's formats that are not in it, or not in all of its indexes.",
        ),
      }),
    ),
  }).meta({ title: "Package feeds" }),
);

export const securityPath = ".well-known/security.txt";

/** The same without its end, which signing adds. */
export const undatedSecurityPath = ".well-known/security.undated";

/** Path of an advisory in CSAF, whose section 5.1 has the rule for the name. */
export const csafPath = (id: string): string =>
  `csaf/${id.toLowerCase().replace(/[^+\-a-z0-9]+/g, "_")}.json`;

export const linesPath = "api/v1/lines.json";

const supportDate = z.union([date, z.literal("tba")], expects("option-value", "a date, or tba"));
const endOfSupport = text("option-value", /^(?:tba|\d{4}-\d\d-\d\dT23:59:59Z)$/, "the end of a day, or tba");

/** api/v1/lines.json, in sites with support dates. */
export const linesSchema = opened(
  object({
    schema_version: schemaVersion,
    product: line,
    lines: list(
      object({
        line: text("option-value", /^\d\d\.\d\d$/, "a month such as 26.08").describe(
          "Month of the releases.",
        ),
        newest: version.describe("Its highest release."),
        security_until: supportDate.describe("Last day of security updates."),
        until: supportDate.describe("Last day of all support."),
        openeox: object({
          $schema: z.literal("https://docs.oasis-open.org/openeox/eox-core/v1.0/schema/core.json"),
          end_of_life: endOfSupport,
          end_of_security_support: endOfSupport,
          last_updated: timestamp.describe("Time at which the highest release was cut."),
        }).describe("The same dates in the form of OpenEoX, without its shell."),
      }),
    ),
  }).meta({ title: "Support dates" }),
);

export type LinesDocument = z.infer<typeof linesSchema>;
export type ChannelsDocument = z.infer<typeof channelsSchema>;
export type ChannelDocument = z.infer<typeof channelSchema>;
export type BuildDocument = z.infer<typeof buildSchema>;
export type BuildCopies = NonNullable<BuildDocument["copies"]>;
export type FeedsDocument = z.infer<typeof feedsDocumentSchema>;
export type RetractedRecord = z.infer<typeof retractedSchema>;
export type ReleaseDocument = z.infer<typeof releaseDocumentSchema>;
export type NotesDocument = z.infer<typeof notesDocumentSchema>;
export type ReleaseIndex = z.infer<typeof releaseIndexSchema>;
export type VersionsDocument = z.infer<typeof versionsSchema>;
export type LatestDocument = z.infer<typeof latestSchema>;
