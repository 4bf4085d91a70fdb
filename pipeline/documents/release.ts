import type { z } from "zod";
import { date, freeText, list, object, revision, table, timestamp, version } from "../../shared/fields.ts";
import { inlineNoteSchema } from "./note.ts";

/** release.yaml, the authored part of a release. */
export const releaseSchema = object({
  version: version.describe("Must equal the folder's name."),
  date: date.describe("Release date."),
  corrected: date
    .optional()
    .describe("Day on which the notes were last corrected after they were published; the page shows it."),
  opened: timestamp
    .optional()
    .describe("Written by `relcat new`; makes two branches that open the same version conflict."),
  revs: table(revision, "an object of name: revision")
    .optional()
    .describe("If present, every image's vendor.rev must be one of these."),
  summary: freeText.optional().describe("One paragraph of Markdown."),
  notes: table(
    table(list(inlineNoteSchema), "an object of kind: list of notes"),
    "an object of component: notes",
  )
    .optional()
    .describe("component: {kind: [Markdown]}; same meaning as fragments."),
}).meta({ title: "Release" });

export type WrittenRelease = z.infer<typeof releaseSchema>;
