import type { Problem } from "../../errors.ts";
import { fieldName } from "../../project/document.ts";
import type { Path } from "../../project/source.ts";

/** unreadable: no JSON that could be checked; conflict: right by itself, but something stands against it. */
export type Reason = "unreadable" | "too-large" | "invalid" | "conflict";

/** What was posted cannot be taken, and whoever posted it can mend that. */
export class PostRefused extends Error {
  override readonly name = "PostRefused";
  readonly reason: Reason;
  /** What is wrong by the path of the field, where the reason is "invalid". */
  readonly fields: Readonly<Record<string, string[]>>;
  /** Where the reason is "conflict". */
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

/** For what is wrong with no field in particular, as the framework calls it. */
const noField = "non_field_errors";

/** One accident can make every value wrong; beyond these a count says enough. */
const mostMessages = 500;

/** @param path of the field; [] for the whole body */
export const invalid = (path: Path, message: string): PostRefused =>
  new PostRefused("invalid", message, { fields: { [nameOf(path)]: [message] } });

/** @throws PostRefused with every problem under its field; nothing where there is none */
export function refuseInvalid(problems: readonly Problem[]): void {
  if (problems.length === 0) return;
  const fields = new Map<string, Set<string>>();
  for (const problem of problems.slice(0, mostMessages)) {
    const name = nameOf(problem.at?.path ?? []);
    fields.set(name, (fields.get(name) ?? new Set()).add(messageOf(problem)));
  }
  const more = problems.length - mostMessages;
  if (more > 0)
    fields.set(noField, (fields.get(noField) ?? new Set()).add(`There are ${more} more problems.`));
  throw new PostRefused("invalid", "the body has problems", {
    fields: Object.fromEntries([...fields].map(([name, messages]) => [name, [...messages]])),
  });
}

/** @throws PostRefused naming both sides of each conflict; nothing where there is none */
export function refuseConflicts(conflicts: readonly string[]): void {
  const [first] = conflicts;
  if (first === undefined) return;
  const shown = conflicts.slice(0, mostMessages);
  const more = conflicts.length > 1 ? ` There are ${conflicts.length} conflicts in all.` : "";
  throw new PostRefused("conflict", `${first}${more}`, { conflicts: shown });
}

const nameOf = (path: Path) => (path.length > 0 ? fieldName(path) : noField);

/** What a person or a program reads: the sentence, and the way out where there is one. */
export function messageOf({ code, message, hint }: Problem): string {
  if (code === "missing-key") return "This field is required.";
  const sentence = message.endsWith(".") ? message : `${message}.`;
  return hint === undefined ? sentence : `${sentence} ${hint}`;
}
