import type { Problem } from "../errors.ts";
import { display } from "./document.ts";
import type { Artifact } from "./normalize.ts";

/**
 * Joins what the build jobs of one release claim. Equal claims become one artifact, different claims
 * about one file are a problem; the order of jobs and manifests never matters.
 */
export function mergeArtifacts(claims: readonly Artifact[]): { artifacts: Artifact[]; problems: Problem[] } {
  const byFile = new Map<string, Artifact>();
  const byFoldedFile = new Map<string, Artifact>();
  const problems: Problem[] = [];
  for (const claim of [...claims].sort(inAllocationOrder)) {
    const same = byFile.get(claim.file);
    if (same) {
      const fields = differingFields(same, claim);
      if (fields.length > 0) problems.push(conflict(same, claim, fields));
      continue;
    }
    const alike = byFoldedFile.get(fold(claim.file));
    if (alike) problems.push(alikeFiles(alike, claim));
    byFile.set(claim.file, claim);
    byFoldedFile.set(fold(claim.file), claim);
  }
  return { artifacts: [...byFile.values()], problems };
}

/** File systems that ignore case or normalization would keep only one of two such files. */
const fold = (file: string) => file.normalize("NFC").toLowerCase();

/**
 * The order ids are given in. The graphical variant comes before the core one, so that in the list (ids
 * descending) an installer's first match is never the graphical one.
 */
export function inAllocationOrder(a: Artifact, b: Artifact): number {
  return (
    text(a.content.version, b.content.version) ||
    text(a.content.package_type, b.content.package_type) ||
    Number(b.content.gui_only) - Number(a.content.gui_only) ||
    text(a.content.name, b.content.name) ||
    nullable(a.content.min_os_version, b.content.min_os_version) ||
    nullable(a.content.max_os_version, b.content.max_os_version) ||
    text(a.file, b.file) ||
    // Conflicting claims about one file: any order will do as long as it is always the same.
    text(fingerprint(a), fingerprint(b))
  );
}

const text = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

function nullable(a: string | null, b: string | null): number {
  if (a === b) return 0;
  if (a === null) return -1;
  return b === null ? 1 : text(a, b);
}

const fingerprint = (artifact: Artifact) =>
  JSON.stringify([artifact.contentHash, artifact.url, artifact.size]);

/** The fields in which two claims differ, `data` down to its leaves. */
export function differingFields(a: Artifact, b: Artifact): string[] {
  const [left, right] = [a, b].map(({ content, verbatim, url, size }) =>
    leaves({ ...content, ...verbatim?.fields, url, size }),
  );
  const keys = new Set([...(left?.keys() ?? []), ...(right?.keys() ?? [])]);
  return [...keys].filter((key) => left?.get(key) !== right?.get(key)).sort();
}

/** Every leaf of a value under its dotted path. */
export function leaves(value: unknown, path = "", into = new Map<string, string>()): Map<string, string> {
  const isBranch = value !== null && typeof value === "object" && Object.keys(value).length > 0;
  if (!isBranch) into.set(path, JSON.stringify(value));
  else
    for (const [key, item] of Object.entries(value)) leaves(item, path === "" ? key : `${path}.${key}`, into);
  return into;
}

function conflict(first: Artifact, second: Artifact, fields: string[]): Problem {
  const [a, b] = [first.place(), second.place()].sort((x, y) =>
    text(`${x.file}:${x.line}`, `${y.file}:${y.line}`),
  );
  const message = `${display(first.file)} is described differently in ${a?.file}:${a?.line}: ${fields.join(", ")}`;
  const hint = "One file has one description: correct or remove one of the two.";
  return { code: "artifact-conflict", severity: "error", message, hint, ...(b && { at: b }) };
}

function alikeFiles(first: Artifact, second: Artifact): Problem {
  const place = first.place();
  const message = `the file ${display(second.file)} differs from ${display(first.file)} (${place.file}:${place.line}) only in case or accents`;
  const hint = "Rename one: not every file system can keep both.";
  return { code: "duplicate-file", severity: "error", message, hint, at: second.place() };
}
