import type { AddEvent, ReinstateEvent, RetractEvent, ReviseEvent } from "../documents/ledger.ts";
import type { LedgerLines } from "./ledger-lines.ts";

/** Reason and date of a withdrawal. */
export interface Retraction {
  reason: string;
  replaced_by: number | null;
  at: string;
}

/** State of one record. */
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

/** Records by id, in the order of their lines. Each call builds the entry again from its lines. */
export interface RecordsById {
  readonly size: number;
  has(id: number): boolean;
  get(id: number): Entry | undefined;
  values(): IteratorObject<Entry>;
}

/** Records by the result of identity(). */
export interface RecordsByIdentity {
  has(identity: string): boolean;
  get(identity: string): Entry | undefined;
}

/** Identity of an artifact: unique in a release, bound to its bytes, and never corrected. */
export const identity = (version: string, file: string) => `${version}/${file}`;

/** An event of an existing record. */
export type Change = ReviseEvent | RetractEvent | ReinstateEvent;

/** Lines of a record after the one that adds it. */
interface Changes {
  /** Line of the last revision; 0: none. */
  revised: number;
  /** Line of the last retraction or reinstatement; 0: none. */
  withdrawn: number;
  lines: number[];
}

/** Maps records to line numbers. Lines are parsed on demand; see LedgerLines. */
export class LedgerRecords implements RecordsById {
  private readonly lines: LedgerLines;
  private readonly lineOfId = new Map<number, number>();
  /**
   * Line by hash of the identity. If two identities have the same hash, one of them has the next free number.
   */
  private readonly lineOfHash = new Map<number, number>();
  private readonly linesOfVersion = new Map<string, number[]>();
  private readonly changes = new Map<number, Changes>();
  private readonly hidden = new Set<number>();

  constructor(lines: LedgerLines) {
    this.lines = lines;
  }

  get size(): number {
    return this.lineOfId.size;
  }

  has(id: number): boolean {
    return this.lineOfId.has(id);
  }

  get(id: number): Entry | undefined {
    const line = this.lineOfId.get(id);
    return line === undefined ? undefined : this.entryOf(line);
  }

  values(): IteratorObject<Entry> {
    return this.lineOfId.values().map((line) => this.entryOf(line));
  }

  withIdentity(key: string): Entry | undefined {
    return this.find(key).entry;
  }

  ofVersion(version: string): Entry[] {
    return this.linesOfVersion.get(version)?.map((line) => this.entryOf(line)) ?? [];
  }

  versions(): ReadonlySet<string> {
    return new Set(this.linesOfVersion.keys());
  }

  /** Number of lines that are not about a private record. */
  publicLines(): number {
    let count = this.lines.length;
    for (const id of this.hidden) count -= 1 + (this.changes.get(id)?.lines.length ?? 0);
    return count;
  }

  /**
   * Adds the record of the last line, an add event.
   * @returns the record that already has this id or identity; then nothing is added
   */
  add({ id, version, file, private: hidden }: AddEvent): Entry | undefined {
    const sameId = this.get(id);
    if (sameId) return sameId;
    const { hash, entry } = this.find(identity(version, file));
    if (entry) return entry;
    const line = this.lines.count;
    this.lineOfId.set(id, line);
    this.lineOfHash.set(hash, line);
    const others = this.linesOfVersion.get(version);
    if (others) others.push(line);
    else this.linesOfVersion.set(version, [line]);
    if (hidden) this.hidden.add(id);
    return undefined;
  }

  /** Applies the event of the last line to an existing record. */
  change(event: Change): void {
    const { id } = event;
    const line = this.lines.count;
    const changes = this.changes.get(id) ?? { revised: 0, withdrawn: 0, lines: [] };
    this.changes.set(id, changes);
    changes.lines.push(line);
    if (event.event !== "revise") changes.withdrawn = line;
    else {
      changes.revised = line;
      if (event.private) this.hidden.add(id);
      else this.hidden.delete(id);
    }
  }

  /** Events of a record after the one that adds it, in order. */
  changesOf(id: number): Change[] {
    return this.changes.get(id)?.lines.map((line) => this.lines.eventOf(line) as Change) ?? [];
  }

  /** The record with an identity, and the hash under which it is or would be stored. */
  private find(key: string): { hash: number; entry: Entry | undefined } {
    for (let hash = hashOf(key); ; hash = (hash + 1) | 0) {
      const line = this.lineOfHash.get(hash);
      const entry = line === undefined ? undefined : this.entryOf(line);
      if (!entry || identity(entry.add.version, entry.add.file) === key) return { hash, entry };
    }
  }

  /** @param line line of the add event */
  private entryOf(line: number): Entry {
    const add = this.lines.eventOf(line) as AddEvent;
    const { revised, withdrawn } = this.changes.get(add.id) ?? unchanged;
    const source = revised === 0 ? add : (this.lines.eventOf(revised) as ReviseEvent);
    const word =
      withdrawn === 0 ? undefined : (this.lines.eventOf(withdrawn) as RetractEvent | ReinstateEvent);
    const last = word && withdrawn > revised ? word : source;
    return {
      add,
      content: source.content,
      private: source.private ?? false,
      created: add.at,
      modified: last.at,
      imported: last === source && (source.imported ?? false),
      retraction: word?.event === "retract" ? retractionOf(word) : null,
      line,
    };
  }
}

const unchanged: Changes = { revised: 0, withdrawn: 0, lines: [] };

const retractionOf = ({ reason, replaced_by, at }: RetractEvent): Retraction => ({ reason, replaced_by, at });

/** FNV-1a. Among hundreds of thousands of identities a few have the same hash. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash | 0;
}
