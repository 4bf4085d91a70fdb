import { z } from "zod";
import { expects, flag, freeText, line, list, object, text, version } from "../../shared/fields.ts";

const severities = ["low", "medium", "high", "critical"] as const;

export const advisorySchema = object({
  id: text(
    "option-value",
    /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
    "an id such as ACME-2026-001, of letters, digits, dots, dashes and underscores",
  ).describe("Permanent id, which no other note has."),
  cve: list(text("option-value", /^CVE-\d{4}-\d{4,19}$/, "an id such as CVE-2026-12345"))
    .optional()
    .describe("Ids of the vulnerability at the CVE program."),
  severity: z.enum(severities, expects("option-value", severities.join(", "))).describe("How severe it is."),
  cvss: text(
    "option-value",
    /^CVSS:(?:3\.[01]|4\.0)(?:\/[A-Za-z]{1,3}:[A-Za-z]{1,6})+$/,
    "a vector such as CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H",
  )
    .optional()
    .describe("Its CVSS vector."),
  affected: z
    .union(
      [
        text("option-value", /^<\d\d\.(?:0[1-9]|1[0-2])\.\d{3}$/, "a bound such as <26.08.002"),
        list(version),
      ],
      expects("option-value", "a bound such as <26.08.002, or a list of versions"),
    )
    .optional()
    .describe("Affected versions; default: all before the release of the note."),
});

export type Advisory = z.infer<typeof advisorySchema>;

/** One change per file, so that branches never conflict. */
export const noteSchema = object({
  component: line.describe("server, documentation, meta_control_plane, or one of catalog.yaml."),
  kind: line.describe("feature, fix, or one of catalog.yaml."),
  text: freeText.describe("Description of the change, in Markdown."),
  refs: list(line).optional().describe("URLs or issue names."),
  security: z
    .union([flag, advisorySchema], expects("wrong-type", "true, false, or an object with id and severity"))
    .optional()
    .describe("true if the change fixes a vulnerability, or an object that describes it."),
}).meta({ title: "Note fragment" });

/** A note inside release.yaml: plain Markdown, or an object with refs or security. */
export const inlineNoteSchema = z.union(
  [freeText, noteSchema.omit({ component: true, kind: true })],
  expects("wrong-type", "Markdown text or an object with text, refs, security"),
);

export type WrittenNote = z.infer<typeof noteSchema>;
export type InlineNote = z.infer<typeof inlineNoteSchema>;

export const publishedNote = object({
  component: line,
  kind: line,
  text: freeText,
  refs: list(line),
  security: flag,
  advisory: advisorySchema.optional().describe("The vulnerability that is fixed."),
});

export type Note = z.infer<typeof publishedNote>;
