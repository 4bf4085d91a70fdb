import { type Problem, throwErrors } from "../../shared/errors.ts";
import { line } from "../../shared/fields.ts";
import type { ReinstateEvent, RetractEvent } from "../documents/ledger.ts";
import { display } from "../project/display.ts";
import type { CommandContext } from "../system/lock.ts";
import { append, type Ledger, type LedgerChange } from "./ledger.ts";
import { changeLedger } from "./ledger-file.ts";

export const retract = (folder: string, options: RetractOptions, context: CommandContext) =>
  changeLedger(folder, context, (ledger, at) => decideRetract(ledger, options, at));

export const reinstate = (folder: string, ids: readonly number[], context: CommandContext) =>
  changeLedger(folder, context, (ledger, at) => decideReinstate(ledger, ids, at));

export interface RetractOptions {
  ids: readonly number[];
  reason: string;
  replacedBy?: number | null | undefined;
}

/**
 * A repetition may change reason and replacement.
 * @throws RelcatError record-unknown, replacement-unknown, text-format
 */
export function decideRetract(
  ledger: Ledger,
  { ids, reason, replacedBy }: RetractOptions,
  at: string,
): LedgerChange {
  const problems = [...reasonProblems(reason), ...replacementProblems(ledger, replacedBy, ids)];
  const events: RetractEvent[] = [];
  for (const id of [...new Set(ids)].sort((a, b) => a - b)) {
    const entry = ledger.byId.get(id);
    if (!entry) problems.push(unknownRecord(id));
    const { retraction } = entry ?? {};
    const replaced_by = replacedBy === undefined ? (retraction?.replaced_by ?? null) : replacedBy;
    const unchanged = retraction?.reason === reason && retraction.replaced_by === replaced_by;
    if (!unchanged) events.push({ event: "retract", id, reason, replaced_by, at });
  }
  throwErrors(problems);
  return append(ledger, events);
}

export function reasonProblems(reason: string): Problem[] {
  if (line.safeParse(reason).success) return [];
  const message = `the reason is ${display(reason)}, expected one line of text`;
  return [{ code: "text-format", severity: "error", message, hint: "Describe the problem in one sentence." }];
}

/** A new replacement must be installable. One that was withdrawn since stays, because its own page shows that. */
function replacementProblems(
  ledger: Ledger,
  replacement: number | null | undefined,
  withdrawn: readonly number[],
): Problem[] {
  if (replacement === null || replacement === undefined) return [];
  const entry = ledger.byId.get(replacement);
  const fault = withdrawn.includes(replacement)
    ? "it is withdrawn by the same command"
    : !entry
      ? "there is no such id"
      : entry.retraction
        ? "it is withdrawn itself"
        : entry.private
          ? "it is not public"
          : undefined;
  if (!fault) return [];
  const message = `the id ${replacement} cannot be the replacement: ${fault}`;
  const hint = "Name another public record, or leave --replaced-by for later.";
  return [{ code: "replacement-unknown", severity: "error", message, hint }];
}

/** @throws RelcatError record-unknown, nothing-to-reinstate */
export function decideReinstate(ledger: Ledger, ids: readonly number[], at: string): LedgerChange {
  const problems: Problem[] = [];
  const events: ReinstateEvent[] = [];
  for (const id of [...new Set(ids)].sort((a, b) => a - b)) {
    const entry = ledger.byId.get(id);
    if (entry?.retraction) events.push({ event: "reinstate", id, at });
    else problems.push(entry ? notWithdrawn(id) : unknownRecord(id));
  }
  throwErrors(problems);
  return append(ledger, events);
}

const notWithdrawn = (id: number): Problem => ({
  code: "nothing-to-reinstate",
  severity: "error",
  message: `the id ${id} is not withdrawn`,
  hint: "Nothing to undo: relcat list --all shows which records are withdrawn.",
});

export const unknownRecord = (id: number): Problem => ({
  code: "record-unknown",
  severity: "error",
  message: `no record has the id ${id}`,
  hint: "relcat list --all shows the records and their ids; an id is permanent only after relcat cut.",
});
