import { type Problem, throwErrors } from "../../shared/errors.ts";
import { type NotesDocument, notesDocumentSchema } from "../documents/site.ts";
import type { SiteIndex } from "../documents/site-state.ts";
import type { SiteStore } from "../documents/site-store.ts";
import { inParallel } from "../system/in-parallel.ts";

/**
 * Refuses notes that changed since they were published, unless their release.yaml has the day of the correction.
 * @param published index of the last publish
 * @throws RelcatError notes-changed, for each release
 */
export async function requireCorrections(
  store: Pick<SiteStore, "read">,
  published: SiteIndex | undefined,
  {
    files,
    read,
  }: {
    files: readonly { path: string; sha256: string }[];
    read: (path: string) => Uint8Array | undefined;
  },
  { site, now }: { site: string; now: number },
): Promise<void> {
  const changed = files.filter(({ path, sha256 }) => {
    const before = /^releases\/[^/]+\/notes\.json$/.test(path) && published?.files[path]?.sha256;
    return before && before !== sha256;
  });
  const problems = await inParallel(changed, 8, async ({ path }): Promise<Problem[]> => {
    const ours = parsed(read(path));
    if (isCorrected(ours, parsedLive(await store.read(path)), now)) return [];
    const message = `the notes of ${ours.version} differ from those at ${site}, and its release.yaml does not have the day of this correction`;
    const hint = `Add corrected: ${dayOf(now)} there, which the page of the release will show, or restore the notes. Then build and sign again.`;
    return [{ code: "notes-changed", severity: "error", message, hint }];
  });
  throwErrors(problems.flat());
}

const parsed = (bytes: Uint8Array | undefined): NotesDocument =>
  notesDocumentSchema.parse(JSON.parse(new TextDecoder().decode(bytes)));

/** undefined: the document was damaged at the site, so the notes may differ. */
function parsedLive(bytes: Uint8Array | undefined): NotesDocument | undefined {
  try {
    return parsed(bytes);
  } catch {
    return undefined;
  }
}

function isCorrected(ours: NotesDocument, live: NotesDocument | undefined, now: number): boolean {
  const [day = "", before = ""] = [ours.corrected, live?.corrected];
  if (live && day === before && textsOf(ours) === textsOf(live)) return true;
  // Two corrections of one day have the same date. The author's day may be that before or after the one in UTC.
  const [yesterday, tomorrow] = [dayOf(now - 86_400_000), dayOf(now + 86_400_000)];
  return day >= ours.date && day <= tomorrow && (day > before || day >= yesterday);
}

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** In any order, because settings decide it. */
const textsOf = ({ summary, sections }: NotesDocument): string =>
  sections
    .flatMap(({ component, kinds }) =>
      kinds.map(({ kind, notes }) => ({ section: [component, kind], notes })),
    )
    .flatMap(({ section, notes }) => notes.map((note) => JSON.stringify([section, note])))
    .concat(JSON.stringify(summary))
    .sort()
    .join();
