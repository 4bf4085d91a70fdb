import { type Catalog, type Cut, cut, exitStatus, type LedgerEvent, writeText } from "../pipeline/index.ts";
import { cutMarkdown } from "./cut-body.ts";
import { answer, type Host, releasesFolder, say, sayNext, surroundings } from "./host.ts";
import { type RecordRow, recordTable } from "./records.ts";
import { count, listed } from "./words.ts";

export interface CutOptions {
  allowIncomplete?: true;
  allowRevise?: number;
  commit?: true;
  body?: string;
  now?: string;
}

/** What a cut did. Private records are counted, never named: the output is often public. */
export interface CutSummary {
  at: string;
  added: RecordRow[];
  revised: RecordRow[];
  private: { added: number; revised: number };
  /** The new commit's abbreviated id. */
  commit: string | null;
  /** The git revision that settles the lines. */
  settled_by: string;
}

/** `relcat cut`: ids and dates become permanent. */
export async function cutReleases(
  versions: readonly string[],
  options: CutOptions,
  host: Host,
): Promise<number> {
  const { allowIncomplete = false, allowRevise = 50, commit = false, body, now } = options;
  const chosen = versions.length > 0 ? versions : undefined;
  const done = await cut(
    releasesFolder,
    { versions: chosen, allowIncomplete, allowRevise, commit },
    surroundings(host, now),
  );
  const summary = summarize(done.cut, done.catalog, done.commit);
  answer(host, { ...summary }, () => describe(summary, emptyReleases(done.catalog, chosen)));
  if (body !== undefined) writeText(body, cutMarkdown(summary));
  if (summary.added.length + summary.private.added > 0) {
    say(host, `Until ${summary.settled_by} has these ledger lines, their ids may still change.`);
  }
  sayNext(host, nextAfter(done.cut, summary));
  return exitStatus.done;
}

function nextAfter({ events }: Cut, { commit }: CutSummary): string {
  if (events.length === 0) return "relcat build --released";
  return commit === null
    ? "commit releases/, then relcat build --released"
    : "git push, then relcat build --released";
}

function summarize({ events, at }: Cut, { ledger, config }: Catalog, commit: string | undefined): CutSummary {
  const isHidden = (event: LedgerEvent) => "private" in event && event.private === true;
  const adds = events.filter((event) => event.event === "add");
  const revisions = events.filter((event) => event.event === "revise");
  return {
    at,
    added: adds.filter((event) => !isHidden(event)).map(row),
    revised: revisions.flatMap((event) => {
      const entry = ledger.byId.get(event.id);
      return entry && !isHidden(event) ? [row(entry.add)] : [];
    }),
    private: { added: adds.filter(isHidden).length, revised: revisions.filter(isHidden).length },
    commit: commit ?? null,
    settled_by: config.ledgerBase,
  };
}

const row = ({ id, version, package_type, name, file }: RecordRow): RecordRow => ({
  id,
  version,
  package_type,
  name,
  file,
});

/** Open releases that a cut would have made permanent, had they anything in them. */
function emptyReleases({ releases, ledger }: Catalog, chosen: readonly string[] | undefined): string[] {
  const empty = releases.filter(
    ({ version, artifacts }) => artifacts.length === 0 && !ledger.versions.has(version),
  );
  return empty.map(({ version }) => version).filter((version) => chosen?.includes(version) ?? true);
}

function describe(summary: CutSummary, empty: readonly string[]): string {
  const { added, revised, private: hidden, at, commit } = summary;
  if (added.length + revised.length + hidden.added + hidden.revised === 0) {
    if (empty.length === 0) return "Nothing to cut: everything is permanent already.";
    return `Nothing to cut: ${listed(empty)} ${empty.length === 1 ? "has" : "have"} no artifacts yet.`;
  }
  const blocks: string[] = [];
  if (added.length > 0) blocks.push(`New ids, dated ${at}:\n${recordTable(added)}`);
  if (revised.length > 0) blocks.push(`Revised, dated ${at}:\n${recordTable(revised)}`);
  if (hidden.added > 0) blocks.push(`${count(hidden.added, "private record")} got an id.`);
  if (hidden.revised > 0) blocks.push(`${count(hidden.revised, "private record")} revised.`);
  if (commit !== null) blocks.push(`Committed as ${commit}.`);
  return blocks.join("\n");
}
