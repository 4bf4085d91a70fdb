import type { LedgerEvent } from "../documents/ledger.ts";
import { compareGrowth } from "../ledger/growth.ts";
import { type Ledger, readLedger } from "../ledger/ledger.ts";

const maxSubject = 72;

/**
 * Message of a commit that names what happened to the ledger since the last commit. Private records are not named,
 * because the subject is printed.
 * @param before text of the committed ledger
 * @param versions releases whose files are committed
 */
export function commitMessage(before: string, ledger: Ledger, versions: readonly string[]) {
  const { common } = compareGrowth(ledger, before);
  const lost = readLedger({ file: ledger.file, text: before }).ledger.events.slice(common);
  const undone = lost.flatMap((event) => (event.event === "add" ? [event.version] : []));
  const changes = Object.groupBy(ledger.events.slice(common), (event) => headingOf(event, ledger));
  const things = [
    ...(undone.length > 0 ? [`Undo the cut of ${[...new Set(undone)].join(", ")}`] : []),
    ...Object.entries(changes).map(([heading, events = []]) => describe(heading, events, ledger)),
  ];
  const [first = `Update ${versions.join(", ") || "releases"}`, ...others] = things;
  const more = others.length === 0 ? "" : ` and ${others.length} more`;
  // After a reason, "and 1 more" would read as a part of it.
  const head = more ? first.replace(/(\(\d\d\.\d\d\.\d{3}\)): .*/s, "$1") : first;
  const isShort = head.length + more.length <= maxSubject;
  const subject = `${isShort ? head : `${head.slice(0, maxSubject - more.length - 1).toWellFormed()}…`}${more}`;
  return {
    subject,
    body: isShort && others.length === 0 ? "" : things.map((thing) => `- ${thing}`).join("\n"),
  };
}

/** Events with the same heading are one thing; the heading has a place for the names of the records. */
function headingOf(event: LedgerEvent, { byId }: Ledger): string {
  if (event.event === "reserve") return `Reserve the ids below ${event.next_id}`;
  if (event.event === "add") return `Cut ${event.version}`;
  const version = byId.get(event.id)?.add.version ?? "";
  if (event.event === "revise") return `Revise NAME (${version})`;
  if (event.event === "reinstate") return `Reinstate NAME (${version})`;
  return `Withdraw NAME (${version}): ${event.reason}`;
}

function describe(heading: string, events: readonly LedgerEvent[], { byId }: Ledger): string {
  const [first] = events;
  const records = new Set(events.map((event) => ("id" in event ? event.id : undefined))).size;
  const entry = first && "id" in first ? byId.get(first.id) : undefined;
  const only = entry?.private ? "a private record" : entry?.add.name;
  return heading.replace("NAME", () => (records > 1 ? `${records} records` : (only ?? "")));
}
