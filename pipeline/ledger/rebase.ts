import { failure, throwErrors } from "../../shared/errors.ts";
import type { ChannelEvent, LedgerEvent } from "../documents/ledger.ts";
import { filesIn } from "../project/authored-files.ts";
import { eventTime } from "../project/event-time.ts";
import { requireFolder } from "../system/files.ts";
import {
  isAncestor,
  type Operation,
  operationUnderWay,
  partedAt,
  unmergedFile,
} from "../system/git/git-merge.ts";
import { showFile } from "../system/git/git-revision.ts";
import { type CommandContext, withWriteLock } from "../system/lock.ts";
import { type Ledger, type LedgerChange, ledgerLine, readLedger } from "./ledger.ts";
import { deliverLedger } from "./ledger-file.ts";
import { type MovedRecord, Replay, type Start } from "./rebase-replay.ts";

interface Side {
  /** Display name: a revision, or the file itself. */
  name: string;
  /** The file in messages about its lines. */
  file: string;
  text: string;
}

interface Sides {
  /** The ledger whose bytes stay. */
  onto: Side;
  /** The ledger whose new lines are appended. */
  ours: Side;
  /** Text of the common ancestor. If `onto` removed one of its lines, that line must not come back. */
  shared: string;
}

/** The base's bytes followed by our new lines. */
interface Rebase extends LedgerChange {
  /** Ascending by the old id. */
  moved: MovedRecord[];
  /** Our revisions that are no longer allowed, by record id. */
  overtaken: number[];
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

const path = "ledger.jsonl";

const option = "--onto";

/**
 * Finds the ledgers to merge: during a git merge or rebase its two sides, whatever the file contains by now;
 * otherwise the file and the revision's ledger.
 * @param onto git revision whose lines stay; "none": those of HEAD
 * @param working current text of the ledger
 * @throws RelcatError git-missing, git-revision, rebase-conflict
 */
export async function findSides(folder: string, onto: string, working: string) {
  const operation = await operationUnderWay(folder);
  const conflict =
    (await fromIndex(folder, operation)) ?? fromMarkers(working) ?? (await fromHeads(folder, operation));
  if (conflict) {
    const settled = onto === "none" ? "" : await showFile(folder, onto, path, option);
    return { sides: adopt(choose(conflict, settled, onto), workingSide(folder, working)), operation };
  }
  const base = onto === "none" ? "HEAD" : onto;
  const parted = await partedAt(folder, base);
  const sides = {
    onto: side(base, await showFile(folder, base, path, option)),
    ours: workingSide(folder, working),
    shared: parted === undefined ? "" : await showFile(folder, parted, path),
  };
  return { sides: adopt(sides, sides.ours), operation };
}

/** Names the file as git does. */
const side = (name: string, text: string): Side => ({ name, file: `${name}:${path}`, text });

const workingSide = (folder: string, text: string): Side => ({
  name: "the working ledger",
  file: `${folder}/${path}`,
  text,
});

/** HEAD's version and the other one. Git keeps both until the conflict is resolved, even without conflict markers. */
async function fromIndex(folder: string, operation: Operation | undefined): Promise<Sides | undefined> {
  const unmerged = await unmergedFile(folder, path);
  if (!unmerged) return undefined;
  const { shared = "", head, other } = unmerged;
  if (head === undefined || other === undefined) {
    const hint = `Restore it first: git checkout --${head === undefined ? "theirs" : "ours"} ${folder}/${path}`;
    throw failure("rebase-conflict", "one side of the merge deleted the ledger", hint);
  }
  const name = operation?.head ?? "the other side";
  return { onto: side("HEAD", head), ours: side(name, other), shared };
}

/** After a resolution was staged, correct or not, the commits still have both versions. */
async function fromHeads(folder: string, operation: Operation | undefined): Promise<Sides | undefined> {
  if (!operation) return undefined;
  const { kind, head } = operation;
  // A rebase or cherry-pick applies only the changes of one commit.
  const parted = kind === "merge" ? await partedAt(folder, head) : `${head}^`;
  return {
    onto: side("HEAD", await showFile(folder, "HEAD", path)),
    ours: side(head, await showFile(folder, head, path)),
    shared: parted === undefined ? "" : await showFile(folder, parted, path),
  };
}

/** The texts between unresolved conflict markers, including committed ones. */
function fromMarkers(working: string): Sides | undefined {
  const texts = { all: "", head: "", shared: "", other: "" };
  const names = { head: "", other: "" };
  let place: "all" | "head" | "shared" | "other" = "all";
  let found = false;
  for (const line of working.split(/(?<=\n)/)) {
    const [, mark, label = ""] = /^(<{7}|\|{7}|={7}|>{7})(?: (.*))?\n?$/.exec(line) ?? [];
    if (mark === undefined) {
      if (place === "all") for (const key of ["head", "shared", "other"] as const) texts[key] += line;
      else texts[place] += line;
      continue;
    }
    found = true;
    if (mark === "<<<<<<<") names.head = label;
    if (mark === ">>>>>>>") names.other = label;
    place =
      mark === "<<<<<<<" ? "head" : mark === "=======" ? "other" : mark === ">>>>>>>" ? "all" : "shared";
  }
  if (!found) return undefined;
  return {
    onto: side(names.head || "the upper side", texts.head),
    ours: side(names.other || "the lower side", texts.other),
    shared: texts.shared,
  };
}

/** Settled lines never change, so the side that contains them all stays; if both do, HEAD stays. */
function choose(sides: Sides, settled: string, revision: string): Sides {
  const { onto: head, ours: other } = sides;
  if (head.text.startsWith(settled)) return sides;
  if (other.text.startsWith(settled)) return { ...sides, onto: other, ours: head };
  const message = `neither ${head.name} nor ${other.name} has all ledger lines of ${revision}`;
  const hint = `Give up this merge and merge ${revision} first; or choose whose ids stay: --onto ${head.name} or --onto ${other.name}.`;
  throw failure("rebase-conflict", message, hint);
}

/** Lines added to the file since the conflict belong to the side that they continue. */
function adopt(sides: Sides, working: Side): Sides {
  const { onto, ours, shared } = sides;
  const { text } = working;
  const isSound = readLedger(working).problems.length === 0;
  if (isSound && text.startsWith(onto.text)) return { ...sides, onto: { ...working, name: onto.name } };
  if (isSound && text.startsWith(ours.text)) return { ...sides, ours: working };
  const known = new Set(`${onto.text}${ours.text}${shared}`.split("\n"));
  const foreign = text.split("\n").filter((line) => line.startsWith("{") && !known.has(line));
  if (foreign.length === 0) return sides;
  const count = foreign.length === 1 ? "a line" : `${foreign.length} lines`;
  const message = `the ledger has ${count} that neither ${onto.name} nor ${ours.name} has`;
  const hint = `Put them aside, run git checkout --merge ${working.file}, then this again; then repeat what wrote them.`;
  throw failure("rebase-conflict", message, hint);
}

export interface RebasedLedger {
  rebase: Rebase;
  /** The side whose lines stayed. */
  onto: Side;
  /** The git operation that waits for the merged ledger. */
  operation: Operation["kind"] | undefined;
  /** True if the folder already contains the other side's releases. */
  isMerged: boolean;
}

/**
 * Merges the ledger with the diverged one. During a git merge or rebase, merges the two sides of the conflict.
 * @param onto git revision whose lines stay; "none": nothing is settled
 * @throws RelcatError git-missing, git-revision, rebase-conflict; see decideRebase
 */
export async function rebaseLedger(
  folder: string,
  onto: string,
  context: CommandContext,
): Promise<RebasedLedger> {
  requireFolder(folder);
  return withWriteLock(folder, context, async () => {
    const present = filesIn(folder).read("ledger.jsonl");
    const working = present ? new TextDecoder().decode(present) : "";
    const { sides, operation } = await findSides(folder, onto, working);
    const rebase = decideRebase(sides, working, (newest) =>
      eventTime(context.clock, context.explicitTime, newest),
    );
    deliverLedger(folder, rebase, context.dryRun);
    const isMerged = operation !== undefined || onto === "none" || (await isAncestor(folder, onto, "HEAD"));
    return { rebase, onto: sides.onto, operation: operation?.kind, isMerged };
  });
}
