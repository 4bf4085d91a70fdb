import { createHash } from "node:crypto";
import { type AddEvent, type LedgerEvent, ledgerEventSchema } from "../documents/ledger.ts";
import type { Code, Place, Problem } from "../errors.ts";
import { display } from "./document.ts";
import type { Source } from "./source.ts";

/** Why and since when a record is withdrawn. */
export interface Retraction {
  reason: string;
  replaced_by: number | null;
  at: string;
}

/** What the ledger knows of one record. */
export interface Entry {
  add: AddEvent;
  /** Content of the last add or revise. */
  content: string;
  /** Excluded from everything public, as of the last add or revise. */
  private: boolean;
  created: string;
  modified: string;
  /** The last event that dated it was imported. */
  imported: boolean;
  retraction: Retraction | null;
  /** Line of its add event, from 1. */
  line: number;
}

/** The ledger, folded into its present state. */
export interface Ledger {
  file: string;
  text: string;
  events: readonly LedgerEvent[];
  byId: ReadonlyMap<number, Entry>;
  /** By identity: see identity(). */
  byIdentity: ReadonlyMap<string, Entry>;
  versions: ReadonlySet<string>;
  nextId: number;
  /** The newest `at` of lines that were not imported, "" when there are none. */
  newest: string;
}

/** An artifact's identity: unique in a release, tied to the bytes, never in need of correction. */
export const identity = (version: string, file: string) => `${version}/${file}`;

export const digest = (text: string) => createHash("sha256").update(text).digest("hex");

/** The canonical line of an event: compact JSON, keys in the schema's order, a line feed. */
export const ledgerLine = (event: LedgerEvent) => `${JSON.stringify(event)}\n`;

export const restore = "Restore the ledger from version control.";

/** Reads a ledger and finds every way in which it cannot be what relcat wrote. */
export function readLedger(source: Source): { ledger: Ledger; problems: Problem[] } {
  const fold = new LedgerFold(source.file);
  const lines = source.text.split("\n");
  const last = lines.pop() ?? "";
  for (const [index, line] of lines.entries()) fold.line(line, index + 1);
  if (last !== "") {
    const hint = "Restore the file from version control; relcat never leaves half a line.";
    const message = "the last line does not end: the file was cut off";
    fold.report("ledger-truncated", lines.length + 1, last, message, hint);
  }
  // Two histories in one file contradict each other in every line; only the markers are worth reading.
  const conflicts = fold.problems.filter(({ code }) => code === "ledger-conflict-marker");
  return { ledger: fold.ledger(source.text), problems: conflicts.length > 0 ? conflicts : fold.problems };
}

class LedgerFold {
  readonly problems: Problem[] = [];
  private readonly file: string;
  private readonly events: LedgerEvent[] = [];
  private readonly byId = new Map<number, Entry>();
  private readonly byIdentity = new Map<string, Entry>();
  private readonly seen = new Map<string, number>();
  private nextId = 1;
  private newest = "";
  private current = { text: "", number: 0 };

  constructor(file: string) {
    this.file = file;
  }

  ledger(text: string): Ledger {
    const { file, events, byId, byIdentity, nextId, newest } = this;
    const versions = new Set([...byId.values()].map((entry) => entry.add.version));
    return { file, text, events, byId, byIdentity, versions, nextId, newest };
  }

  report(code: Code, number: number, text: string, message: string, hint: string): void {
    const at: Place = { file: this.file, line: number, column: 1, excerpt: text };
    this.problems.push({ code, severity: "error", message, hint, at });
  }

  line(text: string, number: number): void {
    this.current = { text, number };
    const before = this.seen.get(text);
    if (/^(<{7}|={7}|>{7}|\|{7})/.test(text)) {
      const hint = "Run relcat ledger rebase: it keeps the base's lines and puts ours after them.";
      this.refuse("ledger-conflict-marker", "a merge conflict is not resolved", hint);
    } else if (before !== undefined) {
      this.refuse("ledger-duplicate", `the line repeats line ${before}`, restore);
    } else {
      this.seen.set(text, number);
      const event = this.read(text);
      if (event) this.apply(event);
    }
  }

  private refuse(code: Code, message: string, hint: string): void {
    this.report(code, this.current.number, this.current.text, message, hint);
  }

  private read(text: string): LedgerEvent | undefined {
    let parsed: ReturnType<typeof ledgerEventSchema.safeParse>;
    try {
      parsed = ledgerEventSchema.safeParse(JSON.parse(text));
    } catch {
      this.refuse("ledger-line", "the line is not JSON", restore);
      return undefined;
    }
    const [issue] = parsed.error?.issues ?? [];
    if (!parsed.success || issue) {
      const what = `${issue?.path.join(".") || "the line"}: ${issue?.message.replace(/^[a-z-]+\|/, "expected ")}`;
      this.refuse("ledger-line", `the line is not a ledger event (${what})`, restore);
      return undefined;
    }
    if (JSON.stringify(parsed.data) === text) return parsed.data;
    const hint = text.endsWith("\r")
      ? "Its lines end in CR LF: check it out with LF (.gitattributes: `ledger.jsonl -text`)."
      : "It was edited: restore the ledger from version control.";
    this.refuse("ledger-line", "the line is not in the form relcat writes", hint);
    return undefined;
  }

  private apply(event: LedgerEvent): void {
    this.events.push(event);
    this.order(event);
    if (event.event === "add") this.add(event);
    else if (event.event === "reserve") this.nextId = Math.max(this.nextId, event.next_id);
    else this.change(event);
  }

  /** Imported lines carry the dates of another catalog; their order is checked per id. */
  private order(event: LedgerEvent): void {
    const imported = "imported" in event && event.imported === true;
    const entry = "id" in event ? this.byId.get(event.id) : undefined;
    const floor = imported ? (entry?.modified ?? "") : this.newest;
    if (event.at < floor) {
      const hint = "Lines were reordered or edited: restore the ledger from version control.";
      this.refuse("ledger-order", `the event is dated ${event.at}, before an earlier line's ${floor}`, hint);
    }
    if (!imported && event.at > this.newest) this.newest = event.at;
  }

  private add(event: AddEvent): void {
    const key = identity(event.version, event.file);
    const taken = this.byId.get(event.id) ?? this.byIdentity.get(key);
    if (taken) {
      const what =
        taken.add.id === event.id ? `the id ${event.id}` : `${display(event.file)} of ${event.version}`;
      this.refuse("ledger-duplicate", `${what} is added a second time, first in line ${taken.line}`, restore);
      return;
    }
    if (event.id !== this.nextId && !event.imported) {
      const hint =
        "A line before this one was removed, reordered or edited: restore the ledger from version control.";
      this.refuse("ledger-id", `the id is ${event.id}, expected ${this.nextId}`, hint);
    }
    const entry: Entry = {
      add: event,
      content: event.content,
      private: event.private ?? false,
      created: event.at,
      modified: event.at,
      imported: event.imported ?? false,
      retraction: null,
      line: this.current.number,
    };
    this.byId.set(event.id, entry);
    this.byIdentity.set(key, entry);
    this.nextId = Math.max(this.nextId, event.id + 1);
  }

  private change(event: Change): void {
    const entry = this.byId.get(event.id);
    const fault = entry
      ? this.faultOf(event, entry)
      : `${event.event} names the id ${event.id}, which no line before it adds`;
    if (!entry || fault) {
      const hint =
        "A line before this one was removed or this one was edited: restore the ledger from version control.";
      this.refuse("ledger-event", fault ?? "", hint);
      return;
    }
    entry.modified = event.at;
    entry.imported = event.event === "revise" && (event.imported ?? false);
    if (event.event === "revise") {
      entry.content = event.content;
      entry.private = event.private ?? false;
    } else if (event.event === "retract") {
      entry.retraction = { reason: event.reason, replaced_by: event.replaced_by, at: event.at };
    } else entry.retraction = null;
  }

  private faultOf(event: Change, { retraction }: Entry): string | undefined {
    const { id } = event;
    if (event.event === "revise" && retraction) return `revise names the id ${id}, which is retracted`;
    if (event.event === "reinstate" && !retraction)
      return `reinstate names the id ${id}, which is not retracted`;
    if (event.event !== "retract" || event.replaced_by === null) return undefined;
    if (event.replaced_by === id) return `the id ${id} is replaced by itself`;
    if (this.byId.has(event.replaced_by)) return undefined;
    return `replaced_by names the id ${event.replaced_by}, which no line before it adds`;
  }
}

/** An event of a record that is there already. */
type Change = Exclude<LedgerEvent, { event: "add" | "reserve" }>;
