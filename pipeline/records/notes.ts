import type { Settings } from "../documents/config.ts";
import type { InlineNote, Note, WrittenNote } from "../documents/note.ts";
import type { WrittenRelease } from "../documents/release.ts";

/** release.yaml allows plural forms of the default kinds for inline notes. */
const plurals: Readonly<Record<string, string>> = { features: "feature", fixes: "fix" };

/** The configured kind of an inline key, singular or default plural. */
export function kindKey(key: string, config: Settings): string | undefined {
  const singular = plurals[key] ?? key;
  return config.kinds.has(key) ? key : config.kinds.has(singular) ? singular : undefined;
}

export const inlineText = (note: InlineNote) => (typeof note === "string" ? note : note.text);

/** Notes of a release: inline ones in written order, then fragments by file name. They must have passed the rules. */
export function normalizeNotes(
  release: Pick<WrittenRelease, "notes">,
  fragments: readonly WrittenNote[],
  config: Settings,
): Note[] {
  const notes: Note[] = [];
  for (const [component, kinds] of Object.entries(release.notes ?? {})) {
    for (const [kind, list] of Object.entries(kinds)) {
      for (const written of list) {
        const note = typeof written === "string" ? { text: written } : written;
        notes.push(normalizeNote({ ...note, component, kind: kindKey(kind, config) ?? kind }));
      }
    }
  }
  return [...notes, ...fragments.map(normalizeNote)];
}

/** Trailing white space is irrelevant, because YAML block texts end with a line break. */
function normalizeNote({ component, kind, text, refs = [], security = false }: WrittenNote): Note {
  const note = { component, kind, text: text.trim(), refs, security: security !== false };
  if (typeof security === "boolean") return note;
  // Pages and package managers find vulnerabilities among the references.
  const { cve = [] } = security;
  return { ...note, refs: [...new Set([...refs, ...cve])], advisory: security };
}
