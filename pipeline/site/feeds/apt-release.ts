import type { AptSettings } from "../../documents/feeds/settings.ts";
import { releaseBody } from "../../documents/feeds/signing.ts";
import type { OutputFile } from "../../documents/published.ts";
import { textFile } from "../output.ts";
import type { AptIndex } from "./apt-indexes.ts";

/**
 * apt warns about a file without a date. It refuses one in the future, such as the date of an open release, and ignores
 * an index with an earlier date than the one it has, for example after a withdrawal. A constant has neither fault.
 */
const constantDate = "Thu, 01 Jan 1970 00:00:00 UTC";

/** The `Release` of a suite. If it is signed, `sign` adds the dates. */
export function releaseFile(
  suite: string,
  indexes: readonly AptIndex[],
  { origin, label }: Pick<AptSettings, "origin" | "label">,
  isSigned: boolean,
): OutputFile {
  const lines = [
    `Origin: ${origin}`,
    `Label: ${label}`,
    `Suite: ${suite}`,
    `Codename: ${suite}`,
    "Acquire-By-Hash: yes",
    `Architectures: ${indexes.map(({ architecture }) => architecture).join(" ")}`,
    "Components: main",
    ...(isSigned ? [] : [`Date: ${constantDate}`]),
    "SHA256:",
    ...indexes.flatMap(({ forms }) =>
      forms.map(({ path, bytes, sha256 }) => ` ${sha256} ${bytes.length} ${path}`),
    ),
  ];
  return textFile(releaseBody(suite, isSigned), `${lines.join("\n")}\n`);
}

/** A field of `Release` that machines select packages by. */
export interface ChangedOrigin {
  field: "Origin" | "Label";
  live: string;
  next: string;
}

/**
 * Fields that unattended-upgrades and pinning match on: with another value, machines ask their administrator and get no
 * updates until then.
 * @param live the `Release` or `InRelease` that is published
 * @param next the one that would replace it
 */
export const changedOrigin = (live: string, next: string): ChangedOrigin[] =>
  (["Origin", "Label"] as const).flatMap((field) => {
    const [before, after] = [fieldOf(live, field), fieldOf(next, field)];
    return before === undefined || after === undefined || before === after
      ? []
      : [{ field, live: before, next: after }];
  });

const fieldOf = (release: string, field: string): string | undefined =>
  new RegExp(`^${field}:[ \\t]*(.*?)[ \\t]*$`, "m").exec(release)?.[1];
