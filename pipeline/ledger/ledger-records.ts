import type { AddEvent, ReinstateEvent, RetractEvent, ReviseEvent } from "../documents/ledger.ts";

export type Retraction = Pick<RetractEvent, "reason" | "replaced_by" | "at">;

export interface Entry {
  add: AddEvent;
  /** Content of the last add or revise. */
  content: string;
  /** Excluded from public output, as of the last add or revise. */
  private: boolean;
  created: string;
  modified: string;
  /** True if its last dated event was imported. */
  imported: boolean;
  retraction: Retraction | null;
  /** Line of its add event, from 1. */
  line: number;
}

/** Identity of an artifact: unique in a release, bound to its bytes, and never corrected. */
export const identity = (version: string, file: string) => `${version}/${file}`;

export type Change = ReviseEvent | RetractEvent | ReinstateEvent;

export class LedgerRecords {
  /** In the order of their add events. */
  readonly byId = new Map<number, Entry>();
  /** By the result of identity(). */
  readonly byIdentity = new Map<string, Entry>();
  private readonly byVersion = new Map<string, Entry[]>();
  private readonly changes = new Map<number, Change[]>();

  ofVersion(version: string): readonly Entry[] {
    return this.byVersion.get(version) ?? [];
  }

  versions(): ReadonlySet<string> {
    return new Set(this.byVersion.keys());
  }

  /** Number of events about private records. */
  privateEvents(): number {
    let count = 0;
    for (const { add, private: hidden } of this.byId.values())
      if (hidden) count += 1 + this.changesOf(add.id).length;
    return count;
  }

  /** @returns the record that already has this id or identity; then nothing is added */
  add(add: AddEvent, line: number): Entry | undefined {
    const key = identity(add.version, add.file);
    const known = this.byId.get(add.id) ?? this.byIdentity.get(key);
    if (known) return known;
    const entry = newEntry(add, line);
    this.byId.set(add.id, entry);
    this.byIdentity.set(key, entry);
    const others = this.byVersion.get(add.version);
    if (others) others.push(entry);
    else this.byVersion.set(add.version, [entry]);
    return undefined;
  }

  change(entry: Entry, event: Change): void {
    const { id } = event;
    const earlier = this.changes.get(id);
    if (earlier) earlier.push(event);
    else this.changes.set(id, [event]);
    changeEntry(entry, event);
  }

  /** Events of a record after the one that adds it, in order. */
  changesOf(id: number): readonly Change[] {
    return this.changes.get(id) ?? [];
  }
}

export function newEntry(add: AddEvent, line: number): Entry {
  const { at, content, private: hidden = false, imported = false } = add;
  return { add, content, private: hidden, created: at, modified: at, imported, retraction: null, line };
}

export function changeEntry(entry: Entry, event: Change): void {
  entry.modified = event.at;
  entry.imported = event.event === "revise" && (event.imported ?? false);
  if (event.event !== "revise") entry.retraction = event.event === "retract" ? retractionOf(event) : null;
  else {
    entry.content = event.content;
    entry.private = event.private ?? false;
  }
}

const retractionOf = ({ reason, replaced_by, at }: RetractEvent): Retraction => ({ reason, replaced_by, at });
