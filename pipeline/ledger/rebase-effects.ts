import type { AddEvent, LedgerEvent, RetractEvent } from "../documents/ledger.ts";
import { isChannelEvent } from "./ledger-channels.ts";
import type { Change, Entry, Retraction } from "./ledger-records.ts";

/** State of a record, as far as merging events needs it. */
export interface RecordState {
  content: string;
  private: boolean;
  retraction: Retraction | null;
  /** Date of the record's last event. */
  at: string;
  /** True if the record gets its id in this rebase, so that no one else can have changed it. */
  own: boolean;
}

export const stateOf = ({ content, private: hidden, retraction, modified }: Entry): RecordState => ({
  content,
  private: hidden,
  retraction,
  at: modified,
  own: false,
});

export const newState = ({ content, private: hidden }: AddEvent, at: string): RecordState => ({
  content,
  private: hidden ?? false,
  retraction: null,
  at,
  own: true,
});

/** Fields of the state that an event sets. */
export function stateAfter(event: Change): Partial<RecordState> {
  if (event.event === "revise") return { content: event.content, private: event.private ?? false };
  if (event.event === "reinstate") return { retraction: null };
  return { retraction: { reason: event.reason, replaced_by: event.replaced_by, at: event.at } };
}

const isChange = (event: LedgerEvent): event is Change =>
  event.event !== "add" && event.event !== "reserve" && !isChannelEvent(event);

const topic = ({ event, id }: Change) => `${event === "revise" ? "content" : "retraction"} ${id}`;

/**
 * Keeps only our last events about records of the base, because earlier ones were never published.
 * @param all all our events, including those the base also has
 * @param isKnown whether the base has the record with this id of ours
 */
export function lastWords(
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
 * @param answered whether we knew of the base's retraction when we made the event
 */
export function withEffect(
  event: Change,
  state: RecordState,
  answered: boolean,
): Change | "none" | "overtaken" {
  if (event.event === "reinstate") return state.retraction ? event : "none";
  if (event.event === "retract") return retractionWithEffect(event, state, answered);
  const hides = event.private === true;
  if (state.content === event.content && state.private === hides) return "none";
  return state.retraction || (hides && !state.private) ? "overtaken" : event;
}

/** Keeps the replacement of a concurrent retraction if ours names none. */
function retractionWithEffect(
  event: RetractEvent,
  { retraction, own }: RecordState,
  answered: boolean,
): RetractEvent | "none" {
  if (!retraction || own) return event;
  const replaced_by = event.replaced_by ?? (answered ? null : retraction.replaced_by);
  const isSame = event.reason === retraction.reason && replaced_by === retraction.replaced_by;
  return isSame ? "none" : { ...event, replaced_by };
}
