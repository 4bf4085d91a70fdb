import type { Problem } from "../../../shared/errors.ts";
import type { Path } from "../../../shared/source.ts";
import { fieldName } from "../../project/display.ts";

/** unreadable: not JSON; conflict: valid, but contradicts existing data. */
export type Reason = "unreadable" | "too-large" | "invalid" | "conflict";

/** The posted data is rejected, for reasons that the client can correct. */
export class PostRefused extends Error {
  override readonly name = "PostRefused";
  readonly reason: Reason;
  /** Messages by field path, if the reason is "invalid". */
  readonly fields: Readonly<Record<string, string[]>>;
  /** Set if the reason is "conflict". */
  readonly conflicts: readonly string[];

  constructor(
    reason: Reason,
    message: string,
    { fields = {}, conflicts = [] }: Partial<Pick<PostRefused, "fields" | "conflicts">> = {},
  ) {
    super(message);
    this.reason = reason;
    this.fields = fields;
    this.conflicts = conflicts;
  }
}

/** The framework's name for errors that belong to no field. */
const noField = "non_field_errors";

/** One mistake can make every value invalid; further messages are only counted. */
const maxMessages = 500;

/** @param path of the field; [] for the whole body */
export const invalid = (path: Path, message: string): PostRefused =>
  new PostRefused("invalid", message, { fields: { [nameOf(path)]: [message] } });

/** @throws PostRefused with all problems by field, if there are any */
export function refuseInvalid(problems: readonly Problem[]): void {
  if (problems.length === 0) return;
  const fields = new Map<string, Set<string>>();
  for (const problem of problems.slice(0, maxMessages)) {
    const name = nameOf(problem.at?.path ?? []);
    fields.set(name, (fields.get(name) ?? new Set()).add(messageOf(problem)));
  }
  const more = problems.length - maxMessages;
  if (more > 0)
    fields.set(noField, (fields.get(noField) ?? new Set()).add(`There are ${more} more problems.`));
  throw new PostRefused("invalid", "the body has problems", {
    fields: Object.fromEntries([...fields].map(([name, messages]) => [name, [...messages]])),
  });
}

/** @throws PostRefused naming both sides of each conflict, if there are any */
export function refuseConflicts(conflicts: readonly string[]): void {
  const [first] = conflicts;
  if (first === undefined) return;
  const shown = conflicts.slice(0, maxMessages);
  const more = conflicts.length > 1 ? ` There are ${conflicts.length} conflicts in all.` : "";
  throw new PostRefused("conflict", `${first}${more}`, { conflicts: shown });
}

const nameOf = (path: Path) => (path.length > 0 ? fieldName(path) : noField);

/** The message, with the hint if there is one. */
export function messageOf({ code, message, hint }: Problem): string {
  if (code === "missing-key") return "This field is required.";
  const sentence = message.endsWith(".") ? message : `${message}.`;
  return hint === undefined ? sentence : `${sentence} ${hint}`;
}
