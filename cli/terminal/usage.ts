import type { Code, Problem } from "../../pipeline/index.ts";

/** The user answered no, which is not an error. */
export class Declined extends Error {
  override readonly name = "Declined";
}

/**
 * Invalid command-line input: exit status 2. The pipeline is not imported, so that fast commands can use it.
 */
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
