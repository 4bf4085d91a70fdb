import { hasChanges, type Plan } from "../../pipeline/index.ts";
import { amounts, count, listed } from "../terminal/words.ts";

/** Escapes a user-chosen name for the output format. */
type Show = (name: string) => string;

export const planSentences = (plan: Plan, show: Show) => ({
  compared: [baselineSentence(plan, show), ...reservations(plan, show)],
  summary: summarySentence(plan),
  renamed: renamedSentence(plan, show),
  foot: [...firstDocumentsSentence(plan), ...privateSentence(plan), ledgerSentence(plan)],
});

function baselineSentence({ baseline }: Plan, show: Show): string {
  const { kind, name, commit, records } = baseline;
  if (kind === "nothing") return `${absence[name] ?? ""}Compared with an empty catalog.`;
  const revision = commit === null ? "" : ` (${commit.slice(0, 12)})`;
  return `Compared with ${show(name)}${revision}: ${count(records, "record")}.`;
}

const absence: Readonly<Record<string, string>> = {
  "no-repository": "This folder is not in a git repository. ",
  "no-commit": "The repository has no commit yet. ",
  "no-remote": "The repository has no remote yet. ",
};

function reservations({ baseline, documents }: Plan, show: Show): string[] {
  const { name, problems } = baseline;
  const errors = problems === 1 ? "1 error keeps" : `${problems} errors keep`;
  return [
    ...(problems > 0 ? [`${errors} parts of ${show(name)} from being read: they show as added.`] : []),
    ...(documents === null && baseline.kind === "live"
      ? [`${show(name)} has no build.json that can be read: its documents are not compared.`]
      : []),
  ];
}

function summarySentence(plan: Plan): string {
  const { forbidden, refused, removed, retracted, reinstated, added, changed, revised } = plan;
  const revisedIds = new Set(revised.map(({ id }) => id));
  const others = changed.filter(({ id }) => !revisedIds.has(id));
  const words = amounts([
    [forbidden.length, "forbidden"],
    [refused.length, "refused"],
    [removed.length, "removed"],
    [retracted.length, "retracted"],
    [reinstated.length, "reinstated"],
    [added.length, "added"],
    [revised.length, "revised"],
    [others.length, "changed"],
  ]);
  if (words.length > 0) return `Records: ${listed(words)}.`;
  return hasChanges(plan) ? "No public record would change." : "Nothing would change.";
}

/** If records differ only in key names, one sentence replaces the rows. */
function renamedSentence({ renamed, changed, baseline }: Plan, show: Show): string[] {
  if (renamed.length === 0) return [];
  const names = renamed.map(({ from, to }) => `${show(from)} → ${show(to)}`).join(", ");
  const amount = Math.max(...renamed.map(({ records }) => records));
  const rest = changed.length === 0 ? "nothing else differs in them" : "other differences are listed";
  return [
    `${count(amount, "record")} of ${show(baseline.name)} only ${amount === 1 ? "uses" : "use"} other key names inside data (${names}): ${rest}.`,
  ];
}

function privateSentence({ private: hidden }: Plan): string[] {
  const { added, changed, removed, lines } = hidden;
  const all = amounts([
    [lines.add, `to get ${lines.add === 1 ? "an id" : "ids"}`],
    [added - lines.add, "added"],
    [lines.revise, "to be revised"],
    [changed - lines.revise, "changed"],
    [removed, "removed"],
  ]);
  return all.length > 0 ? [`Private records, not shown: ${listed(all)}.`] : [];
}

/** On the first publish every document is new, so only their number is shown. */
function firstDocumentsSentence({ baseline, documents }: Plan): string[] {
  if (baseline.kind !== "nothing" || !documents || documents.added.length === 0) return [];
  return [`The site gets ${count(documents.added.length, "document")}.`];
}

function ledgerSentence({ lines, private: hidden, at, ledger, forbidden, refused }: Plan): string {
  const amount = lines.length + hidden.lines.add + hidden.lines.revise;
  if (amount === 0) return "The ledger gets no lines.";
  if (forbidden.length > 0) return "The ledger gets no lines while anything is forbidden.";
  if (refused.length > 0) return "The ledger gets no lines while any artifact is refused.";
  return `The ledger gets ${count(amount, "line")}, dated ${at}; the next free id is then ${ledger.next_id}.`;
}
