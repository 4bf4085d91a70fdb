import type { Note } from "../documents/note.ts";
import type { NoteSection, SiteConfig } from "../documents/published.ts";

/**
 * Notes under their component and kind, in the configured order; the default is Server (Fixes, Features),
 * Documentation (Features), Meta Control Plane (Fixes) (source: section 9.3). Empty sections never print.
 */
export function noteSections(
  notes: readonly Note[],
  config: Pick<SiteConfig, "components" | "kinds">,
): NoteSection[] {
  const sections: NoteSection[] = [];
  for (const [component, title] of config.components) {
    const kinds = [...config.kinds].map(([kind, kindTitle]) => ({
      kind,
      title: kindTitle,
      notes: notes.filter((note) => note.component === component && note.kind === kind),
    }));
    const filled = kinds.filter((kind) => kind.notes.length > 0);
    if (filled.length > 0) sections.push({ component, title, kinds: filled });
  }
  return sections;
}
