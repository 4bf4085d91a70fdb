import type { LedgerEvent } from "../documents/ledger.ts";
import { throwErrors } from "../errors.ts";
import type { LedgerChange } from "./change.ts";
import { type Ledger, ledgerLine, readLedger } from "./ledger.ts";
import { type MovedRecord, type OwnLedger, Replay, type Start } from "./rebase-replay.ts";

/** One of two ledgers that are to become one. */
export interface Side {
  /** What people call it: a revision, or the file itself. */
  name: string;
  /** The file in messages about its lines. */
  file: string;
  text: string;
}

/** Two ledgers that grew apart. */
export interface Sides {
  /** Its bytes stay. */
  onto: Side;
  /** Its new lines follow. */
  ours: Side;
  /** The ledger before the two parted: lines of it that `onto` took back are not ours to bring again. */
  shared: string;
}

/** A ledger that starts with the base's bytes and goes on with what is ours. */
export interface Rebase extends LedgerChange {
  /** Ids that are others now, ascending by the old one. */
  moved: MovedRecord[];
  /** Revisions of ours that nobody may make any more, by the record's id. */
  overtaken: number[];
  /** Versions with new records on both sides. */
  cutTwice: string[];
}

/**
 * Decides the ledger that joins two: the base's bytes, then our events with the next free ids and new dates.
 * Retractions and revisions of records the base has keep their ids, and are left out where they change nothing.
 * @param before the ledger's present text, conflict markers included
 * @throws RelcatError bytes-changed where the base published an artifact with other bytes; rebase-conflict
 */
export function decideRebase({ onto, ours, shared }: Sides, before: string, start: Start): Rebase {
  const base = soundLedger(onto);
  const own = withParsedEvents(soundLedger(ours));
  const earlier = new Set(lines(shared));
  const theirs = new Set(lines(onto.text));
  const due = own.events.filter((event) => {
    const line = JSON.stringify(event);
    return !earlier.has(line) && !(theirs.has(line) && meansTheSame(event, own, base));
  });
  const replay = new Replay(base, own, onto.name, start);
  replay.run(due);
  throwErrors(replay.problems);
  const { events, overtaken } = replay;
  const moved = replay.moved.filter(({ from, to }) => from !== to).sort((a, b) => a.from - b.from);
  const cutTwice = versionsOfBoth(base, replay, earlier);
  return { events, before, after: base.text + events.map(ledgerLine).join(""), moved, overtaken, cutTwice };
}

const lines = (text: string) => text.split("\n");

/** Two branches give one id to different records; a line that names it is not the same line then. */
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

/** @throws RelcatError when relcat did not write it so */
function soundLedger(source: Side): Ledger {
  const { ledger, problems } = readLedger(source);
  throwErrors(problems);
  return ledger;
}

/** Ours are gone through again and again, and told apart by being the same object. */
const withParsedEvents = (ledger: Ledger): OwnLedger => ({ ...ledger, events: [...ledger.events] });

function versionsOfBoth({ events }: Ledger, replay: Replay, shared: ReadonlySet<string>): string[] {
  const added = (all: readonly LedgerEvent[]) =>
    all.filter((event) => event.event === "add").map(({ version }) => version);
  const theirs = new Set(added([...events].filter((event) => !shared.has(JSON.stringify(event)))));
  return [...new Set(added(replay.events))].filter((version) => theirs.has(version)).sort();
}
