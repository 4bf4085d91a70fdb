import { z } from "zod";
import { expects, flag, freeText, line, list, object } from "../../shared/fields.ts";

/** One change per file, so that branches never conflict. */
export const noteSchema = object({
  component: line.meta({ description: "server, documentation, meta_control_plane, or one of catalog.yaml." }),
  kind: line.meta({ description: "feature, fix, or one of catalog.yaml." }),
  text: freeText.meta({ description: "Description of the change, in Markdown." }),
  refs: list(line).optional().meta({ description: "URLs or issue names." }),
  security: flag.optional().meta({ description: "true if the change fixes a vulnerability." }),
}).meta({ title: "Note fragment" });

/** A note inside release.yaml: plain Markdown, or an object with refs or security. */
export const inlineNoteSchema = z.union(
  [freeText, noteSchema.omit({ component: true, kind: true })],
  expects("wrong-type", "Markdown text or an object with text, refs, security"),
);

export type WrittenNote = z.infer<typeof noteSchema>;
export type InlineNote = z.infer<typeof inlineNoteSchema>;

export interface Note {
  component: string;
  kind: string;
  text: string;
  refs: string[];
  security: boolean;
}
