import type { Host } from "./host.ts";
import { Declined, UsageError } from "./usage.ts";

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
