import type { LedgerEvent } from "../documents/ledger.ts";
import type { LinedText } from "./lined-text.ts";

/** Events of the ledger's lines, in order. A line is parsed only when its event is needed. */
export interface LedgerEvents extends Iterable<LedgerEvent> {
  readonly length: number;
  /** The events after the first `count`. */
  slice(count: number): LedgerEvent[];
}

/**
 * Offsets of the ledger's lines. Events are parsed again each time, because a parsed event takes twice the
 * memory of its line and parsing takes microseconds.
 */
export class LedgerLines implements LedgerEvents {
  private readonly text: LinedText;
  /** Offset by line; -1 for a line without an event. */
  private readonly starts: number[] = [];
  private faulty = 0;

  constructor(text: LinedText) {
    this.text = text;
  }

  /** Number of lines, including those without an event. */
  get count(): number {
    return this.starts.length;
  }

  get length(): number {
    return this.starts.length - this.faulty;
  }

  /** Adds the next line. */
  push(start: number, holdsEvent: boolean): void {
    this.starts.push(holdsEvent ? start : -1);
    if (!holdsEvent) this.faulty++;
  }

  /** @param line number of a line with an event, from 1 */
  textOf(line: number): string {
    return this.text.lineAt(this.starts[line - 1] ?? 0);
  }

  /** @param line number of a line with an event, from 1 */
  eventOf(line: number): LedgerEvent {
    return JSON.parse(this.textOf(line));
  }

  *[Symbol.iterator](): Generator<LedgerEvent, undefined> {
    for (const start of this.starts) if (start !== -1) yield JSON.parse(this.text.lineAt(start));
  }

  slice(count: number): LedgerEvent[] {
    const starts = this.starts.filter((start) => start !== -1);
    return starts.slice(count).map((start) => JSON.parse(this.text.lineAt(start)));
  }
}
