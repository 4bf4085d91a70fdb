import type { Problem } from "../../shared/errors.ts";
import { error } from "../records/report.ts";
import type { Ledger } from "./ledger.ts";

interface Growth {
  /**
   * grown: starts with all lines of the other; behind: ends before the other; parted: both continued after a
   * common start; rewritten: a line of the other was changed or removed.
   */
  kind: "grown" | "behind" | "parted" | "rewritten";
  /** Number of common lines at the start. */
  common: number;
}

/** @param base text of the other ledger */
export function compareGrowth({ text }: Pick<Ledger, "text">, base: string): Growth {
  const [ours, theirs] = [linesOf(text()), linesOf(base)];
  const common = theirs.findIndex((line, index) => line !== ours[index]);
  if (common === -1) return { kind: "grown", common: theirs.length };
  if (common === ours.length) return { kind: "behind", common };
  const own = new Set(ours.slice(common));
  const isRewritten =
    theirs.slice(common).some((line) => own.has(line)) || isEdited(ours[common] ?? "", theirs[common] ?? "");
  return { kind: isRewritten ? "rewritten" : "parted", common };
}

/** Includes line feeds: a line without one is a different line. */
const linesOf = (text: string) => text.split(/(?<=\n)/).filter((line) => line !== "");

/** Two branches write different events, but an edit changes only one field of an event or damages it. */
function isEdited(ours: string, theirs: string): boolean {
  try {
    const [a, b] = [JSON.parse(ours) as object, JSON.parse(theirs) as object];
    // Two branches may promote the same releases, at different times.
    if ("channel" in a && "channel" in b) return false;
    const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
    const value = (event: object, key: string) => JSON.stringify(Reflect.get(event, key));
    return [...keys].filter((key) => value(a, key) !== value(b, key)).length <= 1;
  } catch {
    return true;
  }
}

export function checkGrowth(ledger: Ledger, base: string, revision: string): Problem[] {
  const { kind, common } = compareGrowth(ledger, base);
  if (kind === "grown") return [];
  const { message, hint } = words(kind, common, revision, ledger.file);
  const excerpt = ledger.text().split("\n")[common] ?? "";
  const at = { file: ledger.file, line: common + 1, column: 1, excerpt };
  return [error("ledger-rewritten", at, message, hint)];
}

function words(kind: Exclude<Growth["kind"], "grown">, common: number, revision: string, file: string) {
  const after = common === 0 ? "from the first one on" : `after line ${common}`;
  if (kind === "behind")
    return {
      message: `the ledger lacks the lines that ${revision} has ${after}`,
      hint: `Run git merge ${revision}. Where that is done already, lines were lost: git checkout ${revision} -- ${file}`,
    };
  if (kind === "parted")
    return {
      message: `${revision} has other lines ${after} than the ledger here: both were written to`,
      hint: `Run git merge ${revision}, then relcat ledger rebase --onto ${revision}: it keeps those lines and puts ours after them, with the next ids.`,
    };
  return {
    message: `the line differs from ${revision}, expected a ledger that only grows`,
    hint: `Restore it (git diff ${revision} -- ${file}); events are appended, never changed.`,
  };
}
