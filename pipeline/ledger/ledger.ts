import { createHash } from "node:crypto";
import { type Code, type Place, type Problem, throwErrors } from "../../shared/errors.ts";
import type { Source } from "../../shared/source.ts";
import {
  type AddEvent,
  type ChannelEvent,
  type LedgerEvent,
  ledgerEventSchema,
} from "../documents/ledger.ts";
import { display } from "../project/display.ts";
import { isChannelEvent, LedgerChannels } from "./ledger-channels.ts";
import { type Change, type Entry, LedgerRecords } from "./ledger-records.ts";

export interface Ledger {
  file: string;
  /** Assembled on each call, so that a long text does not stay in memory. */
  text(): string;
  pieces(): Iterable<string>;
  events: readonly LedgerEvent[];
  /** In the order of their lines. */
  byId: ReadonlyMap<number, Entry>;
  /** By the result of identity(). */
  byIdentity: ReadonlyMap<string, Entry>;
  ofVersion(version: string): readonly Entry[];
  /** Events of a record after the one that adds it, in order. */
  changesOf(id: number): readonly Change[];
  versions: ReadonlySet<string>;
  channels: LedgerChannels;
  /** Number of lines that are not about private records. */
  publicLines: number;
  nextId: number;
  /** Newest `at` of the lines that were not imported; "" if there are none. */
  newest: string;
}

export const digest = (text: string) => createHash("sha256").update(text).digest("hex");

/** Canonical line of an event: compact JSON, keys in schema order, a line feed. */
export const ledgerLine = (event: LedgerEvent) => `${JSON.stringify(event)}\n`;

export const restore = "Restore the ledger from version control.";

export const readLedger = ({ file, text }: Source) => readLedgerPieces(file, [text]);

/** @param pieces of the ledger's text; each ends with a line feed, except the last one of a damaged ledger */
export function readLedgerPieces(file: string, pieces: Iterable<string>) {
  const fold = new LedgerFold(file);
  for (const piece of pieces) fold.piece(piece);
  // Two histories in one file contradict each other in every line, so only the conflict markers are reported.
  const conflicts = fold.problems.filter(({ code }) => code === "ledger-conflict-marker");
  return { ledger: fold.ledger(), problems: conflicts.length > 0 ? conflicts : fold.problems };
}

class LedgerFold {
  readonly problems: Problem[] = [];
  private readonly file: string;
  private readonly pieces: string[] = [];
  private readonly events: LedgerEvent[] = [];
  private readonly records = new LedgerRecords();
  private readonly channels = new LedgerChannels();
  /** Lines other than add events, to detect repetitions. A repeated add event is found by its id. */
  private readonly others = new Map<string, number>();
  private nextId = 1;
  private newest = "";
  private current = { text: "", number: 0 };

  constructor(file: string) {
    this.file = file;
  }

  ledger(): Ledger {
    const { file, events, records, channels, nextId, newest } = this;
    // Each event of a sound ledger is its own line, so the text need not be kept.
    const damaged = this.problems.length > 0 ? this.pieces : undefined;
    const pieces = () => damaged ?? events.values().map(ledgerLine);
    return {
      file,
      text: () => [...pieces()].join(""),
      pieces,
      events,
      byId: records.byId,
      byIdentity: records.byIdentity,
      ofVersion: (version) => records.ofVersion(version),
      changesOf: (id) => records.changesOf(id),
      versions: records.versions(),
      channels,
      publicLines: events.length - records.privateEvents(),
      nextId,
      newest,
    };
  }

  piece(text: string): void {
    this.pieces.push(text);
    let start = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", start)) {
      this.line(text.slice(start, end));
      start = end + 1;
    }
    if (start === text.length) return;
    this.current = { text: text.slice(start), number: this.current.number + 1 };
    const hint = "Restore the file from version control; relcat never leaves half a line.";
    this.refuse("ledger-truncated", "the last line does not end: the file was cut off", hint);
  }

  private line(text: string): void {
    this.current = { text, number: this.current.number + 1 };
    const event = this.newEvent();
    if (!event) return;
    this.events.push(event);
    this.apply(event);
  }

  private refuse(code: Code, message: string, hint: string): undefined {
    const { text, number } = this.current;
    const at: Place = { file: this.file, line: number, column: 1, excerpt: text };
    this.problems.push({ code, severity: "error", message, hint, at });
  }

  /** The line's event; undefined if it is invalid or repeats an earlier line. */
  private newEvent(): LedgerEvent | undefined {
    const { text, number } = this.current;
    if (/^(<{7}|={7}|>{7}|\|{7})/.test(text)) {
      const hint = "Run relcat ledger rebase: it keeps the base's lines and puts ours after them.";
      return this.refuse("ledger-conflict-marker", "a merge conflict is not resolved", hint);
    }
    const event = this.others.has(text) ? undefined : this.read(text);
    const before = this.others.get(text) ?? this.lineWithSameAdd(event);
    if (before !== undefined)
      return this.refuse("ledger-duplicate", `the line repeats line ${before}`, restore);
    if (event?.event !== "add") this.others.set(text, number);
    return event;
  }

  private lineWithSameAdd(event: LedgerEvent | undefined): number | undefined {
    const known = event?.event === "add" ? this.records.byId.get(event.id) : undefined;
    return known && JSON.stringify(known.add) === this.current.text ? known.line : undefined;
  }

  private read(text: string): LedgerEvent | undefined {
    let parsed: ReturnType<typeof ledgerEventSchema.safeParse>;
    try {
      parsed = ledgerEventSchema.safeParse(JSON.parse(text));
    } catch {
      return this.refuse("ledger-line", "the line is not JSON", restore);
    }
    const [issue] = parsed.error?.issues ?? [];
    if (!parsed.success || issue) {
      const what = `${issue?.path.join(".") || "the line"}: ${issue?.message.replace(/^[a-z-]+\|/, "expected ")}`;
      const hint = `${restore} If a newer relcat wrote the line, use that version.`;
      return this.refuse("ledger-line", `the line is not a ledger event (${what})`, hint);
    }
    if (JSON.stringify(parsed.data) === text) return parsed.data;
    const hint = text.endsWith("\r")
      ? "Its lines end in CR LF: check it out with LF (.gitattributes: `ledger.jsonl -text`)."
      : "It was edited: restore the ledger from version control.";
    return this.refuse("ledger-line", "the line is not in the form relcat writes", hint);
  }

  private apply(event: LedgerEvent): void {
    this.order(event);
    if (event.event === "add") this.add(event);
    else if (event.event === "reserve") this.nextId = Math.max(this.nextId, event.next_id);
    else if (isChannelEvent(event)) this.channel(event);
    else this.change(event);
  }

  /** Imported lines have another catalog's dates, so their order is checked per id. */
  private order(event: LedgerEvent): void {
    const imported = "imported" in event && event.imported === true;
    const floor = imported && "id" in event ? (this.records.byId.get(event.id)?.modified ?? "") : this.newest;
    if (event.at < floor) {
      const hint = "Lines were reordered or edited: restore the ledger from version control.";
      this.refuse("ledger-order", `the event is dated ${event.at}, before an earlier line's ${floor}`, hint);
    }
    if (!imported && event.at > this.newest) this.newest = event.at;
  }

  private add(event: AddEvent): void {
    const known = this.records.add(event, this.current.number);
    if (known) {
      const what =
        known.add.id === event.id ? `the id ${event.id}` : `${display(event.file)} of ${event.version}`;
      this.refuse("ledger-duplicate", `${what} is added a second time, first in line ${known.line}`, restore);
      this.others.set(this.current.text, this.current.number);
      return;
    }
    if (event.id !== this.nextId && !event.imported) {
      const hint =
        "A line before this one was removed, reordered or edited: restore the ledger from version control.";
      this.refuse("ledger-id", `the id is ${event.id}, expected ${this.nextId}`, hint);
    }
    this.nextId = Math.max(this.nextId, event.id + 1);
  }

  private change(event: Change): void {
    const entry = this.records.byId.get(event.id);
    const fault = entry
      ? this.faultOf(event, entry)
      : `${event.event} names the id ${event.id}, which no line before it adds`;
    if (!entry || fault) this.refuseEvent(fault ?? "");
    else this.records.change(entry, event);
  }

  private channel(event: ChannelEvent): void {
    const { event: kind, version } = event;
    const fault = this.channels.faultOf(event, this.records.ofVersion(version));
    if (fault) this.refuseEvent(`${kind} names ${version}, which ${fault}`);
    else this.channels.apply(event);
  }

  private refuseEvent(fault: string): void {
    const hint =
      "A line before this one was removed or this one was edited: restore the ledger from version control.";
    this.refuse("ledger-event", fault, hint);
  }

  private faultOf(event: Change, { retraction }: Entry): string | undefined {
    const { id } = event;
    if (event.event === "revise" && retraction) return `revise names the id ${id}, which is retracted`;
    if (event.event === "reinstate" && !retraction)
      return `reinstate names the id ${id}, which is not retracted`;
    if (event.event !== "retract" || event.replaced_by === null) return undefined;
    if (event.replaced_by === id) return `the id ${id} is replaced by itself`;
    if (this.records.byId.has(event.replaced_by)) return undefined;
    return `replaced_by names the id ${event.replaced_by}, which no line before it adds`;
  }
}

export interface LedgerChange {
  events: readonly LedgerEvent[];
  /** The whole text before and after; `after` is written only if the file still equals `before`. */
  before: string;
  after: string;
}

export function append(ledger: Ledger, events: readonly LedgerEvent[]): LedgerChange {
  const before = ledger.text();
  return { events, before, after: before + events.map(ledgerLine).join("") };
}

/** Validates the new ledger before it is written, so that relcat never writes what it would refuse to read. */
export function throwIfUnsound(change: LedgerChange, file: string): void {
  throwErrors(readLedger({ file, text: change.after }).problems);
}
