import type { Code, Problem } from "../../pipeline/index.ts";
import type { Host } from "./host.ts";

/** The user answered no, which is not an error. */
export class Declined extends Error {
  override readonly name = "Declined";
}

/** Invalid command-line input: exit status 2. The pipeline is not imported, so that fast commands can use it. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly problem: Problem;

  constructor(
    message: string,
    hint: string,
    code: Extract<Code, "usage" | "folder-missing" | "not-confirmed"> = "usage",
  ) {
    super(message);
    this.problem = { code, severity: "error", message, hint };
  }
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
