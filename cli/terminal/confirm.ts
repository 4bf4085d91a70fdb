import type { Entry } from "../../pipeline/index.ts";
import { recordTable } from "../catalog/records.ts";
import { type Host, say } from "./host.ts";
import { Declined, UsageError } from "./usage.ts";

/** Written to standard error, like the question that follows. */
export function listRecords(entries: readonly Entry[], host: Host): void {
  say(host, recordTable(entries.map((entry) => entry.add)));
}

/** Continues only with --yes or a positive answer at a terminal. */
export async function confirmOrRefuse(question: string, yes: true | undefined, host: Host): Promise<void> {
  if (yes) return;
  if (!host.confirm) {
    throw new UsageError(
      "there is no terminal to confirm this on; nothing was changed",
      "Run the command again with --yes.",
      "not-confirmed",
    );
  }
  if (!(await host.confirm(question))) throw new Declined(question);
}
