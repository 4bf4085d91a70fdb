import type { Problem } from "../../shared/errors.ts";
import { lineOf } from "../../shared/version.ts";
import type { AddEvent, ChannelEvent, LedgerEvent } from "../documents/ledger.ts";
import { display } from "../project/display.ts";
import { laterThan } from "../project/event-time.ts";
import type { Ledger } from "./ledger.ts";
import { isChannelEvent, type LedgerChannels } from "./ledger-channels.ts";
import { type Change, changeEntry, type Entry, identity, newEntry } from "./ledger-records.ts";

/** One of our records with its new id. */
export interface MovedRecord {
  from: number;
  to: number;
  add: AddEvent;
  /** `onto` has the same artifact, with the id `to`. */
  alreadyThere: boolean;
}

/** The first new date, not before the base's newest one. */
export type Start = (newest: string) => string;

/** Appends our events to the base's lines, one by one. */
export class Replay {
  readonly events: LedgerEvent[] = [];
  readonly moved: MovedRecord[] = [];
  readonly overtaken: number[] = [];
  /** Our changes of channels that have no effect any more. */
  readonly dropped: ChannelEvent[] = [];
  readonly problems: Problem[] = [];
  private readonly base: Ledger;
  private readonly own: Ledger;
  private readonly onto: string;
  private readonly start: Start;
  /** Our ids, mapped to the ids of the same artifacts in the result. */
  private readonly ids = new Map<number, number>();
  /** Records of the result, by id. */
  private readonly records = new Map<number, Entry>();
  private readonly channels: LedgerChannels;
  /** Our lines that only say which releases of the base stay in the default channel. */
  private kept: ReadonlySet<LedgerEvent> = new Set();
  private nextId: number;
  /** The last assigned date, and the date it replaced. */
  private newest: string | undefined;
  private latest = "";

  /** @param onto name of the base in messages */
  constructor(base: Ledger, own: Ledger, onto: string, start: Start) {
    this.base = base;
    this.own = own;
    this.onto = onto;
    this.start = start;
    this.nextId = base.nextId;
    this.channels = base.channels.copy();
    for (const [id, entry] of base.byId) this.records.set(id, { ...entry });
    for (const { add } of own.byId.values()) {
      const known = base.byIdentity.get(identity(add.version, add.file));
      if (known) this.ids.set(add.id, known.add.id);
    }
  }

  run(due: readonly LedgerEvent[]): void {
    this.kept = keptLines(due, this.own, this.base);
    for (const event of lastWords(due, this.own.events, (id) => this.ids.has(id))) this.apply(event);
  }

  private apply(event: LedgerEvent): void {
    if (event.event === "add") this.add(event);
    else if (event.event === "reserve") {
      if (event.next_id <= this.nextId) return;
      this.nextId = event.next_id;
      this.events.push({ ...event, at: this.date(event.at) });
    } else if (isChannelEvent(event)) this.channel(event);
    else this.change(event);
  }

  private add(event: AddEvent): void {
    const known = this.base.byIdentity.get(identity(event.version, event.file));
    if (known) {
      this.problems.push(...this.otherBytes(event, known.add));
      this.moved.push({ from: event.id, to: known.add.id, add: event, alreadyThere: true });
      return;
    }
    // Imported ids belong to another catalog and cannot change.
    const id = event.imported ? event.id : this.nextId;
    if (this.records.has(id)) return void this.problems.push(this.idTaken(event));
    const at = event.imported ? event.at : this.date(event.at);
    this.ids.set(event.id, id);
    this.nextId = Math.max(this.nextId, id + 1);
    this.moved.push({ from: event.id, to: id, add: event, alreadyThere: false });
    const added = { ...event, id, at };
    this.records.set(id, newEntry(added, this.base.events.length + this.events.push(added)));
  }

  private change(event: Change): void {
    const moved = this.renumbered(event);
    const entry = moved && this.records.get(moved.id);
    if (!moved || !entry) return;
    const isOwn = !this.base.byId.has(moved.id);
    const effect = withEffect(moved, entry, { isOwn, isAnswer: this.answers(event, entry) });
    if (effect === "overtaken") this.overtaken.push(moved.id);
    if (effect === "none" || effect === "overtaken") return;
    const dated = this.dated(effect, entry);
    changeEntry(entry, dated);
    this.events.push(dated);
  }

  /** If both sides changed the channel in the same way, or the base withdrew the release, our line is left out. */
  private channel(event: ChannelEvent): void {
    const { version } = event;
    const ours = this.own.ofVersion(version).flatMap(({ add }) => this.ids.get(add.id) ?? []);
    if (ours.length === 0) {
      const message = `our ${event.event} in ${event.channel} names ${version}, which ${this.onto} does not have`;
      const hint = `${this.onto} took that cut back. Take its ledger, run relcat cut ${version}, then relcat channel ${event.event} again.`;
      return void this.problems.push(this.problem("rebase-conflict", event, message, hint));
    }
    if (this.channels.byName.size === 0 && this.refuseBeginning(event)) return;
    const entries = ours.flatMap((id) => this.records.get(id) ?? []);
    if (this.kept.has(event)) return;
    // Our resume answers our halt, and not one of the base.
    const answersDropped = event.event === "resume" && this.dropped.some(isHaltOf(event));
    if (answersDropped || this.channels.faultOf(event, entries)) return void this.dropped.push(event);
    const dated = { ...event, at: this.date(event.at) };
    this.channels.apply(dated);
    this.events.push(dated);
  }

  /** Our first change of a channel says which releases stay in the default one, and could not know these. */
  private refuseBeginning(event: ChannelEvent): boolean {
    const unknown = [...this.base.versions].filter((version) => !this.own.versions.has(version)).sort();
    if (unknown.length === 0) return false;
    const { onto } = this;
    const message = `our ${event.event} of ${event.version} is the first change of a channel, and ${onto} has cut ${unknown.join(", ")}, which would be in no channel`;
    const hint = `Take ${onto}'s ledger, cut our releases again, then run the relcat channel commands again.`;
    if (this.problems.length === 0) this.problems.push(this.problem("rebase-conflict", event, message, hint));
    return true;
  }

  /** True if we knew of the base's retraction, because our ledger has it too. */
  private answers({ id }: Change, { retraction }: Entry): boolean {
    if (!retraction) return false;
    const { reason, replaced_by, at } = retraction;
    const isIt = (event: LedgerEvent) =>
      event.event === "retract" &&
      event.id === id &&
      event.at === at &&
      event.reason === reason &&
      (event.replaced_by === null ? null : this.ids.get(event.replaced_by)) === replaced_by;
    return this.own.events.some(isIt);
  }

  private renumbered(event: Change): Change | undefined {
    const id = this.ids.get(event.id);
    if (id === undefined) return this.lost(event, event.id);
    if (event.event !== "retract" || event.replaced_by === null) return { ...event, id };
    const replaced_by = this.ids.get(event.replaced_by);
    return replaced_by === undefined ? this.lost(event, event.replaced_by) : { ...event, id, replaced_by };
  }

  /** An imported revision keeps its date, unless the base has a later event for the record. */
  private dated(event: Change, { modified }: Entry): Change {
    if (event.event !== "revise" || !event.imported) return { ...event, at: this.date(event.at) };
    if (event.at >= modified) return event;
    const { imported: _, ...rest } = event;
    return { ...rest, at: this.date(event.at) };
  }

  /** Equal dates stay equal, and later ones stay later. */
  private date(at: string): string {
    if (this.newest === undefined) this.newest = this.start(this.base.newest);
    else if (at !== this.latest) this.newest = laterThan(this.newest, this.newest);
    this.latest = at;
    return this.newest;
  }

  private otherBytes(ours: AddEvent, theirs: AddEvent): Problem[] {
    const fixed = ["checksum", "package_type"] as const;
    const changes = fixed.filter((key) => ours[key] !== theirs[key]);
    if (changes.length === 0) return [];
    const { onto } = this;
    const what = changes.map((key) => `${key} ${theirs[key]} there, ${ours[key]} here`).join("; ");
    const message = `${display(ours.file)} of ${ours.version} is published on ${onto} as id ${theirs.id} and cannot change: ${what}`;
    const month = lineOf(ours.version);
    const hint =
      `Keep ${onto}'s ledger and manifest of it, and publish our bytes under the next version (relcat new ${month}); ` +
      `or, while no one has ${onto}'s, take that cut back there (relcat uncut ${theirs.version}).`;
    return [this.problem("bytes-changed", ours, message, hint)];
  }

  private idTaken(event: AddEvent): Problem {
    const other = `another record of ${this.base.byId.has(event.id) ? this.onto : "ours"}`;
    const message = `the imported id ${event.id} of ${display(event.file)} belongs to ${other}`;
    const hint = "Imported ids never move: import first, then cut on top of it.";
    return this.problem("rebase-conflict", event, message, hint);
  }

  private lost(event: Change, id: number): undefined {
    const add = this.own.byId.get(id)?.add;
    const what = add ? `${display(add.file)} of ${add.version}` : "a record";
    const { onto } = this;
    const message = `our ${event.event} names the id ${id}, ${what}, which ${onto} does not have`;
    const hint = `${onto} took that cut back. Take its ledger, run relcat cut ${add?.version ?? "VERSION"}, then ${event.event} again under the new id.`;
    this.problems.push(this.problem("rebase-conflict", event, message, hint));
  }

  private problem(code: Problem["code"], event: LedgerEvent, message: string, hint: string): Problem {
    // Each event of a sound ledger is its own line.
    const line = this.own.events.indexOf(event) + 1;
    const at = { file: this.own.file, line, column: 1, excerpt: JSON.stringify(event) };
    return { code, severity: "error", message, hint, at };
  }
}

const isHaltOf =
  ({ channel, version }: ChannelEvent) =>
  (event: ChannelEvent): boolean =>
    event.event === "halt" && event.channel === channel && event.version === version;

/** If both sides made the first change of a channel, the base has said which of its releases are in the default one. */
function keptLines(due: readonly LedgerEvent[], own: Ledger, base: Ledger): Set<LedgerEvent> {
  const changes = due.filter(isChannelEvent);
  const isFirst = changes.length === own.events.filter(isChannelEvent).length;
  if (!isFirst || base.channels.byName.size === 0) return new Set();
  // The change itself is the last line with that time.
  const together = changes.filter(({ at }) => at === changes[0]?.at).slice(0, -1);
  return new Set(together.filter(({ version }) => base.versions.has(version)));
}

const isChange = (event: LedgerEvent): event is Change =>
  event.event !== "add" && event.event !== "reserve" && !isChannelEvent(event);

const topic = ({ event, id }: Change) => `${event === "revise" ? "content" : "retraction"} ${id}`;

/**
 * Keeps only our last events about records of the base, because earlier ones were never published.
 * @param all our events, including those the base has
 * @param isKnown whether the base has the record with this id of ours
 */
function lastWords(
  due: readonly LedgerEvent[],
  all: readonly LedgerEvent[],
  isKnown: (id: number) => boolean,
): LedgerEvent[] {
  const last = new Map<string, Change>();
  for (const event of all) if (isChange(event) && isKnown(event.id)) last.set(topic(event), event);
  const isDue = new Set(due);
  return due.flatMap((event): LedgerEvent[] => {
    if (!isChange(event) || !isKnown(event.id)) return [event];
    if (last.get(topic(event)) !== event) return [];
    // A retracted record cannot be revised, so the revision must follow the reinstatement.
    const retraction = last.get(`retraction ${event.id}`);
    const isBack = retraction?.event === "reinstate" && isDue.has(retraction);
    if (event.event === "revise") return isBack ? [] : [event];
    const revision = isBack && last.get(`content ${event.id}`);
    return revision && isDue.has(revision) ? [event, revision] : [event];
  });
}

/**
 * Decides what an event still does to the record: the event, if it changes the record; "none", if it changes
 * nothing; "overtaken", if the base has withdrawn the record in the meantime, or made it public, so that our
 * revision is not allowed.
 */
function withEffect(event: Change, entry: Entry, { isOwn, isAnswer }: Origin): Change | "none" | "overtaken" {
  const { retraction } = entry;
  if (event.event === "reinstate") return retraction ? event : "none";
  if (event.event === "retract") {
    if (!retraction || isOwn) return event;
    // The replacement of a concurrent retraction stays if ours names none.
    const replaced_by = event.replaced_by ?? (isAnswer ? null : retraction.replaced_by);
    const isSame = event.reason === retraction.reason && replaced_by === retraction.replaced_by;
    return isSame ? "none" : { ...event, replaced_by };
  }
  const hides = event.private === true;
  if (entry.content === event.content && entry.private === hides) return "none";
  return retraction || (hides && !entry.private) ? "overtaken" : event;
}

/** isOwn: the base lacks the record. isAnswer: we knew of the base's retraction when we made the event. */
type Origin = Readonly<Record<"isOwn" | "isAnswer", boolean>>;
