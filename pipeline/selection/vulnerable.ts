import type { Note } from "../documents/note.ts";
import type { Affected } from "../documents/outputs/catalog.ts";

/** A vulnerability that notes describe, or name as a reference. */
export type Fix = Affected["fixes"][number];

/** A release whose notes may fix something, and which may be affected itself. */
interface Candidate {
  version: string;
  notes: readonly Note[];
  /** An open release is on no machine, so it is not affected. */
  isCut: boolean;
}

interface Vulnerable {
  fixes: Fix[];
  /** Affected ones, in the order of the releases. A release that fixes it is not affected. */
  versions: string[];
}

/** @param asked the id of a vulnerability or of a note @returns undefined if no note names it */
export function vulnerable(asked: string, releases: readonly Candidate[]): Vulnerable | undefined {
  const found = releases.flatMap(({ version, notes }) =>
    notes.flatMap((note) => {
      const fix = fixOf(note, asked, version);
      return fix ? [{ fix, isAffected: affectedVersions(note, version) }] : [];
    }),
  );
  if (found.length === 0) return undefined;
  const fixing = new Set(found.map(({ fix }) => fix.version));
  const versions = releases
    .filter(({ version, isCut }) => isCut && !fixing.has(version))
    .map(({ version }) => version)
    .filter((version) => found.some(({ isAffected }) => isAffected(version)));
  return { fixes: found.map(({ fix }) => fix), versions };
}

/** Ids of vulnerabilities at the CVE program that a note names. */
export const cveOf = ({ refs }: Pick<Note, "refs">): string[] => [
  ...new Set(refs.flatMap((ref) => ref.toUpperCase().match(/CVE-\d{4}-\d{4,}/g) ?? [])),
];

function fixOf(note: Note, asked: string, version: string): Fix | undefined {
  const { security, advisory } = note;
  const cve = cveOf(note);
  const isIt = security && (advisory?.id === asked || cve.includes(asked.toUpperCase()));
  return isIt ? { id: advisory?.id ?? null, severity: advisory?.severity ?? null, cve, version } : undefined;
}

/** A note that says nothing about versions means all before its release. */
function affectedVersions({ advisory }: Note, fixedIn: string): (version: string) => boolean {
  const affected = advisory?.affected ?? `<${fixedIn}`;
  if (typeof affected === "string") return (version) => version < affected.slice(1);
  return (version) => affected.includes(version);
}
