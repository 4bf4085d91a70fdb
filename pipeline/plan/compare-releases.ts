import type { Note } from "../documents/note.ts";
import type { FieldChange, ReleaseChange } from "../documents/plan.ts";
import { changedLeaves } from "./fields.ts";
import type { ReleaseFacts, Snapshot } from "./snapshot.ts";

/** Changes of dates, summaries and notes, which have no ledger lines. Ascending by version. */
export function compareReleases(before: Snapshot, after: Snapshot): ReleaseChange[] {
  // A list contains no information about releases.
  if (!before.releases || !after.releases) return [];
  const versions = new Set([...before.releases.keys(), ...after.releases.keys()]);
  return [...versions].sort().flatMap((version): ReleaseChange[] => {
    const [old, now] = [before.releases?.get(version), after.releases?.get(version)];
    const fields = changedFacts(old, now);
    if (!now) return [{ version, change: "removed", date: null, fields: [] }];
    if (!old) return [{ version, change: "added", date: now.date, fields }];
    return fields.length > 0 ? [{ version, change: "changed", date: now.date, fields }] : [];
  });
}

function changedFacts(old: ReleaseFacts | undefined, now: ReleaseFacts | undefined): FieldChange[] {
  const simple = (facts: ReleaseFacts | undefined) =>
    facts ? { date: facts.date, ...(facts.summary !== null && { summary: facts.summary }) } : undefined;
  const facts = old && now ? changedLeaves(simple(old), simple(now)) : [];
  return [...facts, ...changedNotes(old?.notes ?? [], now?.notes ?? [])];
}

/** Notes have no ids, so removed and added notes of the same component and kind are paired. */
function changedNotes(before: readonly Note[], after: readonly Note[]): FieldChange[] {
  const gone = bySection(without(before, after));
  const come = bySection(without(after, before));
  return [...new Set([...gone.keys(), ...come.keys()])].flatMap((field) => {
    const [from = [], to = []] = [gone.get(field), come.get(field)];
    return Array.from({ length: Math.max(from.length, to.length) }, (_, index) => ({
      field,
      ...(from[index] !== undefined && { from: from[index] }),
      ...(to[index] !== undefined && { to: to[index] }),
    }));
  });
}

/** Notes missing from the other list; duplicates are counted. */
function without(notes: readonly Note[], others: readonly Note[]): Note[] {
  const left = new Map<string, number>();
  for (const note of others) left.set(key(note), (left.get(key(note)) ?? 0) + 1);
  return notes.filter((note) => {
    const count = left.get(key(note)) ?? 0;
    left.set(key(note), count - 1);
    return count <= 0;
  });
}

const key = (note: Note) => JSON.stringify(note);

function bySection(notes: readonly Note[]): Map<string, string[]> {
  const groups = Map.groupBy(notes, ({ component, kind }) => `notes.${component}.${kind}`);
  return new Map([...groups].map(([section, group]) => [section, group.map(described)]));
}

function described({ text, refs, security }: Note): string {
  const marks = [...(security ? ["security"] : []), ...refs];
  return marks.length > 0 ? `${text} (${marks.join(", ")})` : text;
}
