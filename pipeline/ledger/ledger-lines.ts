import type { LedgerEvent } from "../documents/ledger.ts";
import type { LinedText } from "./lined-text.ts";

/** The events of a ledger's lines in order, each parsed when it is asked for. */
export interface LedgerEvents extends Iterable<LedgerEvent> {
  readonly length: number;
  /** Those after the first `count`. */
  slice(count: number): LedgerEvent[];
}

/**
 * Offsets of the lines of a ledger. A parsed event takes twice the memory of its line and is parsed in
 * microseconds, so none is kept.
 */
export class LedgerLines implements LedgerEvents {
  private readonly text: LinedText;
  /** By line; -1 where a line holds no event. */
  private readonly starts: number[] = [];
  private faulty = 0;

  constructor(text: LinedText) {
    this.text = text;
  }

  /** How many lines there are, with those that hold no event. */
  get count(): number {
    return this.starts.length;
  }

  get length(): number {
    return this.starts.length - this.faulty;
  }

  /** The next line. */
  push(start: number, holdsEvent: boolean): void {
    this.starts.push(holdsEvent ? start : -1);
    if (!holdsEvent) this.faulty++;
  }

  /** @param line from 1, one that holds an event */
  textOf(line: number): string {
    return this.text.lineAt(this.starts[line - 1] ?? 0);
  }

  /** @param line from 1, one that holds an event */
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
