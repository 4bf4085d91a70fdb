import { z } from "zod";
import { id, sha256, version } from "../../../shared/fields.ts";
import { siteStateSchema } from "../site-state.ts";
import {
  count,
  document,
  dryRun,
  flag,
  list,
  object,
  oneOf,
  problem,
  type Result,
  text,
  texts,
  warnings,
} from "./members.ts";

const build = sha256.describe("Id of the build: the SHA-256 of its build.json.");

const changedFile = object({
  path: text("Path at the site."),
  sha256: sha256.describe("SHA-256 of the file."),
});

const publication = {
  site: text("Name of the site."),
  build,
  previous: sha256.nullable().describe("Id of the build that was live before; null: none."),
  result: oneOf(
    ["published", "unchanged", "planned"],
    "unchanged: it was already live; planned: a dry run, which changes nothing.",
  ),
  added: list(changedFile, "New files."),
  changed: list(changedFile, "Changed files."),
  removed: texts("Paths of removed files."),
  repaired: list(
    object({ path: text("Path of the file."), fault: text("How it was different, for people.") }),
    "Files at the site that differed from what was published, and were restored.",
  ),
  unchanged: count("Number of unchanged files."),
  artifacts: count("Number of artifacts that were checked."),
  settled: object({
    artifacts: count("Number of artifacts."),
    releases: texts("Their releases."),
    sites: texts("Sites that list them."),
  }).describe("Artifacts that were not checked, because another site lists them."),
  pruned: count("Number of old builds and files that were removed."),
  unverified: texts("Live metadata that was not signed for the newest root, and was replaced."),
  requests: count("Number of requests to the storage."),
};

const policy = z
  .union([
    object({
      applied: z.literal(true),
      catalog: text("catalog.yaml that names signers and policies."),
      refused: count("Number of artifacts that the policy refuses."),
      accepted: count("Number of artifacts that it accepts."),
      uninspected: texts("Addresses of artifacts that it would refuse, and that were never inspected."),
      unrepeated: texts("Addresses of artifacts whose detached signature is not published."),
    }),
    object({ applied: z.literal(false), reason: text("Why no policy was applied.") }),
  ])
  .nullable()
  .describe("Result of the inspection with --artifacts; null without it.");

export const sites = {
  release: document("The steps of a release, in their order.", {
    site: text("Name of the site."),
    dry_run: dryRun,
    steps: list(
      object({
        step: oneOf(["check", "cut", "build", "sign", "publish", "verify"], "The step, by its command."),
        result: oneOf(
          ["done", "unchanged", "planned", "skipped", "refused", "not-reached"],
          "unchanged: it was done already; planned: a dry run; not-reached: an earlier step was refused.",
        ),
        reason: text("Why the step was skipped.").nullable(),
        output: z
          .looseObject({})
          .nullable()
          .describe(
            "The document that the command of this step prints; of the first step, its `checks` with `name` and `reason`; null: none.",
          ),
      }),
      "Steps: check, cut, build, sign, publish, verify.",
    ),
    problems: list(problem, "Problems of the refused step."),
    next: text("Commands that continue after a refusal; null: the release is done.").nullable(),
  }),
  publish: document("Changes of a publish.", publication),
  rollback: document("Changes of a rollback.", {
    ...publication,
    commit: text("Commit of the build that is live again; null if it is not known.").nullable(),
  }),
  history: siteStateSchema
    .extend({ site: text("Name of the site.") })
    .describe("State and publishes of a site: its current.json."),
  upload: document("Artifacts that were uploaded.", {
    site: text("Name of the site."),
    place: text("Where the site is stored."),
    release: version.describe("Version of the artifacts."),
    dry_run: dryRun,
    files: list(
      object({
        file: text("Name of the file."),
        url: text("Address of the file."),
        size: count("Size in bytes."),
        sha256: sha256.describe("SHA-256 of the file."),
        result: oneOf(["uploaded", "present", "absent"], "present: it was there; absent: in a dry run only."),
      }),
      "The files, in the given order.",
    ),
    manifest: object({
      file: text("Name of the manifest."),
      result: oneOf(["replaced", "unchanged"], "Whether facts were added."),
      not_given: texts("Files of the manifest that were not given, so not uploaded."),
    })
      .nullable()
      .describe("The manifest of --manifest; null without it."),
    left_out: texts("Files that are not for download, each with the reason."),
    warnings,
  }),
  download: document("A file that was downloaded and verified.", {
    result: oneOf(["downloaded", "present"], "present: it was there, and is correct."),
    file: text("The file here."),
    id: id.describe("Id of the record."),
    version: version.describe("Version of its release."),
    package_type: text("Package type."),
    sha256: sha256.describe("SHA-256 of the file."),
    size: count("Size in bytes."),
  }),
  verify: document(
    "Result of comparing a site with its signatures. Exit status 6 for tampered and refused, 7 for stale and expired, 8 for misconfigured.",
    {
      verdict: oneOf(
        ["ok", "sampled", "converging", "misconfigured", "refused", "expired", "stale", "tampered"],
        "Only ok means that everything was compared and is what was signed.",
      ),
      place: text("The place as given."),
      build,
      files: count("Number of compared files."),
      releases: count("Number of releases."),
      packages: count("Number of records."),
      artifacts: count(
        "Number of artifacts and of documents beside them that were read; null without --artifacts.",
      ).nullable(),
      policy,
      sample: object({
        seed: text("Seed that chooses the same files again."),
        files: count("Number of all files."),
        artifacts: count("Number of all of them; null without --artifacts.").nullable(),
      })
        .nullable()
        .describe("Size of the whole site, with --sample; null without it."),
      stale: object({
        builds: count("Number of builds that the files are behind."),
        since: text("Time since which they are."),
      })
        .nullable()
        .describe("How far files are behind; null if none is."),
      irregular: count("Number of records that break a format of the schema, as imported ones may."),
      first_use: text(
        "Fingerprint of the root that was accepted with --trust-first-use; null otherwise.",
      ).nullable(),
      findings: list(
        object({
          path: text("Path at the site, or address of an artifact."),
          what: text("The difference, for people."),
          stale: flag("It is from an earlier signed build."),
          ended: flag("It is part of a package repository whose signature expired."),
          refused: flag("It is what was signed, but the policy refuses it."),
          served: flag("The bytes are what was signed, but the web server sends them with wrong headers."),
        }),
        "All differences.",
      ),
    },
  ),
  "verify-other-build": document("With --expect, if another build is live. Exit status 7.", {
    verdict: z.literal("stale").describe("The site was not compared."),
    place: text("The place as given."),
    build,
    expected: text("The build of --expect."),
  }),
  "verify-files": document(
    "With --from: local files that were looked up. Exit status 6 for unlisted, 1 for withdrawn files.",
    {
      from: text("The place as given."),
      files: list(
        object({
          file: text("The file as given."),
          sha256: sha256.describe("SHA-256 of the file."),
          size: count("Size in bytes."),
          verdict: oneOf(["listed", "withdrawn", "unlisted"], "unlisted: the catalog has no such file."),
          id: id.nullable().describe("Id of its record; null if it is unlisted, as are the next four."),
          version: version.nullable().describe("Version of its release."),
          package_type: text("Package type.").nullable(),
          name: text("Name in the catalog.").nullable(),
          role: text("Role that signed the release.").nullable(),
          signed_by: texts("Ids of the keys that signed it."),
          reason: text("Why it was withdrawn; null if it was not.").nullable(),
          replaced_by: object({
            id: id.describe("Id of the record."),
            name: text("Its name, if it is known.").nullable(),
            version: version.nullable().describe("Its version, if it is known."),
          })
            .nullable()
            .describe("The record to use instead of a withdrawn one."),
          nearest: object({
            file: text("Name of the file."),
            version: version.describe("Version of its release."),
            same_name: flag("Whether it has the same name, but other bytes."),
          })
            .nullable()
            .describe("The listed file with the nearest name, for an unlisted one."),
        }),
        "The files, in the given order.",
      ),
      problems: list(problem, "A problem for each file that must not be used."),
    },
  ),
};

export type ChangedFile = z.infer<typeof changedFile>;
export type PublishDelivery = Result<typeof sites.publish>;
export type DownloadDelivery = Result<typeof sites.download>;
export type VerifiedSite = Result<typeof sites.verify>;
