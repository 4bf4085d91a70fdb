import { failure } from "../../shared/errors.ts";
import { architecture, architectureNames } from "../../shared/package-metadata.ts";
import type { Config } from "../documents/config.ts";
import { display } from "../project/display.ts";
import { nearestName } from "../project/unknown-type.ts";
import { filterFields, isField } from "../selection/fields.ts";
import type { Row } from "../selection/record-index.ts";

/** `field=value`, split. */
export type Term = readonly [name: string, value: string];

const own = ["arch", "line", "ordering"];

/**
 * Rejects terms that the API would ignore or answer with an empty list, because a user who types a filter
 * expects a match.
 * @param records imported records may have values that are not configured
 * @throws RelcatError usage
 */
export function refuseTerms(terms: readonly Term[], config: Config, records: readonly Row[]): void {
  for (const [name, value] of terms) {
    refuseName(name);
    if (name === "version") refuseVersion(value);
    if (name === "line" && !/^\d{2}\.(0[1-9]|1[0-2])$/.test(value))
      throw unfit(name, value, "a month", "For example: line=26.09");
    if (name === "ordering") for (const part of value.split(",")) refuseOrdering(part.trim());
    const closed = valuesOf(name, config);
    const isKnown = () =>
      closed?.includes(value) ||
      (name === "arch" && architecture.safeParse(value).success) ||
      records.some((record) => String(record[name]) === value);
    if (closed && value !== "" && value !== "null" && !isKnown()) {
      const near = nearestName(value, closed);
      throw unfit(
        name,
        value,
        name === "arch" ? "a Debian architecture such as amd64, or all" : `one of ${closed.join(", ")}`,
        near ? `Did you mean ${name}=${near}?` : undefined,
      );
    }
  }
}

const flags = ["true", "false", "1", "0"];

/** Allowed values of a field with a fixed set. */
function valuesOf(field: string, { packageTypes, platforms }: Config): string[] | undefined {
  switch (field) {
    case "package_type":
      return [...packageTypes.keys()].sort();
    case "platform":
      return [...platforms.keys()].sort((a, b) => a - b).map(String);
    case "operating_system":
      return [...new Set([...packageTypes.values()].map((type) => type.operating_system))].sort();
    case "arch":
      return [...architectureNames];
    case "exclude_from_api":
    case "gui_only":
    case "headless":
      return flags;
    default:
      return undefined;
  }
}

function refuseName(name: string): void {
  const known = [...filterFields, ...own, "format", "strict"];
  if (known.includes(name)) return;
  const near = nearestName(name, known);
  throw failure(
    "usage",
    `${display(name)} is not a field of a record`,
    near ? `Did you mean ${near}?` : "relcat schema package-record names them; data cannot be filtered by.",
  );
}

function refuseVersion(value: string): void {
  if (value === "latest" || /^\d{2}\.\d{2}\.\d{3}$/.test(value)) return;
  const hint = /^\d{2}\.\d{2}$/.test(value)
    ? `The releases of a month: line=${value}`
    : "For example: version=26.09.001";
  throw unfit("version", value, "a version or latest", hint);
}

function refuseOrdering(term: string): void {
  const name = term.replace(/^-/, "");
  if (term === "" || isField(name)) return;
  const near = nearestName(name, filterFields);
  throw unfit("ordering", name, "fields of a record", near ? `Did you mean ${near}?` : undefined);
}

const unfit = (field: string, value: string, expected: string, hint?: string) =>
  failure("usage", `${field} is ${display(value)}, expected ${expected}`, hint);
