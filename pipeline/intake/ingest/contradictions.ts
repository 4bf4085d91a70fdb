import type { Problem } from "../../../shared/errors.ts";
import type { Path } from "../../../shared/source.ts";
import type { Attestation } from "../../documents/attestation.ts";
import { isObject } from "../../documents/is-object.ts";
import { type At, type Claimed, problem } from "./evidence.ts";
import type { Fields } from "./fields.ts";
import type { Sidecars } from "./formats/sidecars.ts";

type FileSignatures = NonNullable<Attestation["file_signatures"]>;

interface Difference {
  path: Path;
  field: string;
  stated: unknown;
  /** undefined: the bytes contain no such value. */
  fact: unknown;
}

/** Stated values by source; later sources take precedence over the manifest. */
export interface Statements {
  sidecars: Sidecars;
  settings: Fields;
}

/**
 * @param stated by the sidecar, --set and a finished manifest
 * @param isInspected whether the bytes were inspected; then a stated value that they lack is wrong
 */
export function contradictions(
  file: Claimed,
  stated: Fields,
  facts: Fields,
  isInspected: boolean,
  by: Statements = { sidecars: new Map(), settings: {} },
): Problem[] {
  const { sha256, size, store, vendor, attestation, inspected } = stated;
  const claims: Fields = {
    sha256: sha256 === "unknown" ? undefined : sha256,
    size,
    store,
    vendor,
    attestation: isInspected ? attestation : { sha256: attestation?.sha256 },
    // A different policy or signer list may have given another verdict for the same bytes.
    inspected: inspected?.policy === facts.inspected?.policy ? inspected : undefined,
  };
  return [...differences(claims, facts)].map((difference) => problemOf(difference, file, by));
}

function* differences(stated: unknown, fact: unknown, path: Path = [], field = ""): Generator<Difference> {
  if (stated === undefined || (fact === undefined && !isInBytes(field))) return;
  if (Array.isArray(stated) && Array.isArray(fact)) yield* ofFilesInside(stated, fact, path, field);
  else if (isObject(stated) && isObject(fact)) {
    for (const [key, value] of Object.entries(stated))
      yield* differences(value, fact[key], [...path, key], field === "" ? key : `${field}.${key}`);
  } else if (stated !== fact) yield { path, field, stated, fact };
}

/** Compared by name, because order is irrelevant. The list must be complete. */
function* ofFilesInside(
  stated: FileSignatures,
  found: FileSignatures,
  path: Path,
  field: string,
): Generator<Difference> {
  const facts = new Map(found.map(({ name, signature }) => [name, signature]));
  for (const [index, { name, signature }] of stated.entries()) {
    const inside = `${field}[${JSON.stringify(name)}]`;
    yield* differences(signature, facts.get(name), [...path, index, "signature"], inside);
    facts.delete(name);
  }
  for (const name of facts.keys()) yield { path, field, stated: undefined, fact: name };
}

/** Fields that inspection always finds if they exist. */
const isInBytes = (field: string): boolean =>
  field === "" || /^attestation\.(?:key_id|signature|file_signatures)\b/.test(field);

function problemOf({ path, field, stated, fact }: Difference, file: Claimed, by: Statements): Problem {
  const { at, who } = sourceOf(path, file, by);
  const what = `${field} of ${file.name}`;
  const shown = isObject(stated) || Array.isArray(stated) ? "" : ` as ${JSON.stringify(stated)}`;
  const found = fact === undefined ? "nowhere in its bytes" : JSON.stringify(fact);
  const message =
    stated === undefined
      ? `${what} lacks ${fact}, which is signed inside`
      : `${what} is stated${shown}${who === "--set" ? " by --set" : ""}, but is ${found}`;
  const hint =
    who === "the manifest" && ["sha256", "size"].includes(field)
      ? "It is from another build, or was changed since then: give the right file, or correct the manifest."
      : `Correct or leave out what ${who} states.`;
  return problem("ingest-conflict", at, message, hint);
}

function sourceOf(path: Path, file: Claimed, { settings, sidecars }: Statements): { at: At; who: string } {
  const { at, finished } = file;
  if (has(settings, path)) return { at, who: "--set" };
  const sidecar = sidecars.get(file.name);
  if (sidecar && has(sidecar.value, path)) return { at: () => sidecar.place(path), who: "the sidecar" };
  return { at: finished ? () => finished.place(path) : at, who: "the manifest" };
}

const has = (value: unknown, path: Path): boolean =>
  path.reduce<unknown>(
    (part, key) => (part as Record<string | number, unknown> | undefined)?.[key],
    value,
  ) !== undefined;
