import { distance } from "fastest-levenshtein";
import { stringify } from "yaml";
import { failure } from "../../../shared/errors.ts";
import type { Settings } from "../../documents/config.ts";
import { noteSchema } from "../../documents/note.ts";
import { display } from "../../project/display.ts";

export interface NewNote {
  component: string;
  kind: string;
  text: string;
  refs: readonly string[];
  security: boolean;
}

/**
 * Text of a note fragment, and its suggested file name.
 * @param schemas folder of the JSON Schemas, relative to the project
 * @throws RelcatError usage
 */
export function composeNote(note: NewNote, config: Settings, schemas: string) {
  const { component, kind, refs, security } = note;
  requireKnown("component", component, [...config.components.keys()]);
  requireKnown("kind", kind, [...config.kinds.keys()]);
  const text = note.text.trim();
  if (text === "")
    throw failure("usage", "the note has no text", "Write what changed, in one or two sentences.");
  const fragment = { component, kind, text, ...(refs.length > 0 && { refs }), ...(security && { security }) };
  if (!noteSchema.safeParse(fragment).success) {
    throw failure(
      "usage",
      "a reference is empty or has control characters",
      "Give URLs or issue names with --ref.",
    );
  }
  const schema = `# yaml-language-server: $schema=../../../${schemas}/note.schema.json\n`;
  return { slug: slugOf(text), text: schema + stringify(fragment, { lineWidth: 100 }) };
}

function requireKnown(what: "component" | "kind", value: string, known: readonly string[]): void {
  if (known.includes(value)) return;
  const [near] = known
    .filter((key) => distance(key, value) <= 3)
    .sort((a, b) => distance(a, value) - distance(b, value));
  const hint = near ? `Did you mean ${near}?` : `catalog.yaml names them under notes.${what}s.`;
  throw failure("usage", `the ${what} ${display(value)} is not known, expected ${known.join(", ")}`, hint);
}

/** Device names that Windows reserves. */
const reserved = /^(con|prn|aux|nul|com\d|lpt\d)$/;

/** A file name from the first words of a text. */
function slugOf(text: string): string {
  const words = text
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
  const slug = words.slice(0, 6).join("-").slice(0, 60).replace(/-+$/, "");
  return slug === "" || reserved.test(slug) ? ["note", slug].filter(Boolean).join("-") : slug;
}
