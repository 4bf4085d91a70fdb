import { throwErrors } from "../../shared/errors.ts";
import type { ChannelEvent, LedgerEvent } from "../documents/ledger.ts";
import { type Ledger, type LedgerChange, ledgerLine, readLedger } from "./ledger.ts";
import { type MovedRecord, Replay, type Start } from "./rebase-replay.ts";

/** One of the two ledgers. */
export interface Side {
  /** Display name: a revision, or the file itself. */
  name: string;
  /** The file in messages about its lines. */
  file: string;
  text: string;
}

/** Two diverged ledgers. */
export interface Sides {
  /** The ledger whose bytes stay. */
  onto: Side;
  /** The ledger whose new lines are appended. */
  ours: Side;
  /** Text of the common ancestor. If `onto` removed one of its lines, that line must not come back. */
  shared: string;
}

/** The base's bytes followed by our new lines. */
export interface Rebase extends LedgerChange {
  /** Records with changed ids, ascending by the old id. */
  moved: MovedRecord[];
  /** Our revisions that are no longer allowed, by record id. */
  overtaken: number[];
  /** Our changes of channels that have no effect any more. */
  dropped: ChannelEvent[];
  /** Versions with new records on both sides. */
  cutTwice: string[];
}

/**
 * Merges two ledgers: the bytes of the base, then our events with the next free ids and new dates.
 * Retractions and revisions of the base's records keep their ids, and are dropped if they change nothing.
 * @param before current text of the ledger, including conflict markers
 * @throws RelcatError bytes-changed if the base published an artifact with other bytes; rebase-conflict
 */
export function decideRebase({ onto, ours, shared }: Sides, before: string, start: Start): Rebase {
  const base = soundLedger(onto);
  const own = soundLedger(ours);
  const earlier = new Set(lines(shared));
  const theirs = new Set(lines(onto.text));
  const due = own.events.filter((event) => {
    const line = JSON.stringify(event);
    return !earlier.has(line) && !(theirs.has(line) && meansTheSame(event, own, base));
  });
  const replay = new Replay(base, own, onto.name, start);
  replay.run(due);
  throwErrors(replay.problems);
  const { events, overtaken, dropped } = replay;
  const moved = replay.moved.filter(({ from, to }) => from !== to).sort((a, b) => a.from - b.from);
  const cutTwice = versionsOfBoth(base, replay, earlier);
  const after = base.text() + events.map(ledgerLine).join("");
  return { events, before, after, moved, overtaken, dropped, cutTwice };
}

const lines = (text: string) => text.split("\n");

/** Two branches may assign one id to different records, so equal lines can have different meanings. */
function meansTheSame(event: LedgerEvent, own: Ledger, base: Ledger): boolean {
  const ids = [
    "id" in event ? event.id : undefined,
    event.event === "retract" ? event.replaced_by : undefined,
  ].filter((id) => typeof id === "number");
  return ids.every((id) => {
    const [ours, theirs] = [own.byId.get(id)?.add, base.byId.get(id)?.add];
    return ours?.version === theirs?.version && ours?.file === theirs?.file;
  });
}

/** @throws RelcatError if the ledger is invalid */
function soundLedger(source: Side): Ledger {
  const { ledger, problems } = readLedger(source);
  throwErrors(problems);
  return ledger;
}

function versionsOfBoth({ events }: Ledger, replay: Replay, shared: ReadonlySet<string>): string[] {
  const added = (all: readonly LedgerEvent[]) =>
    all.filter((event) => event.event === "add").map(({ version }) => version);
  const theirs = new Set(added(events.filter((event) => !shared.has(JSON.stringify(event)))));
  return [...new Set(added(replay.events))].filter((version) => theirs.has(version)).sort();
}
