import type { z } from "zod";
import { date, freeText, list, object, revision, table, timestamp, version } from "../../shared/fields.ts";
import { inlineNoteSchema } from "./note.ts";

/** release.yaml, the authored part of a release. */
export const releaseSchema = object({
  version: version.meta({ description: "Must equal the folder's name." }),
  date: date.meta({ description: "Release date." }),
  corrected: date.optional().meta({
    description: "Day on which the notes were last corrected after they were published; the page shows it.",
  }),
  opened: timestamp.optional().meta({
    description: "Written by `relcat new`; makes two branches that open the same version conflict.",
  }),
  revs: table(revision, "an object of name: revision")
    .optional()
    .meta({ description: "If present, every image's vendor.rev must be one of these." }),
  summary: freeText.optional().meta({ description: "One paragraph of Markdown." }),
  notes: table(
    table(list(inlineNoteSchema), "an object of kind: list of notes"),
    "an object of component: notes",
  )
    .optional()
    .meta({ description: "component: {kind: [Markdown]}; same meaning as fragments." }),
}).meta({ title: "Release" });

export type WrittenRelease = z.infer<typeof releaseSchema>;
