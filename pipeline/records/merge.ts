import type { Place, Problem } from "../../shared/errors.ts";
import { display } from "../project/display.ts";
import type { Artifact } from "./artifact.ts";

/**
 * Equal claims of build jobs become one artifact; different ones are a problem. The order of manifests is irrelevant.
 */
export function mergeArtifacts(claims: readonly Artifact[]): { artifacts: Artifact[]; problems: Problem[] } {
  const byFile = new Map<string, Artifact>();
  const byFoldedFile = new Map<string, Artifact>();
  const problems: Problem[] = [];
  for (const claim of [...claims].sort(inAllocationOrder)) {
    const same = byFile.get(claim.file);
    if (same) {
      if (fingerprint(same) !== fingerprint(claim) || contradicts(same, claim))
        problems.push(conflict(same, claim));
      else {
        same.inspected ??= claim.inspected;
        same.metadata ??= claim.metadata;
        same.documents ??= claim.documents;
      }
      continue;
    }
    const folded = fold(claim.file);
    const alike = byFoldedFile.get(folded);
    if (alike) problems.push(alikeFiles(alike, claim));
    byFile.set(claim.file, claim);
    byFoldedFile.set(folded, claim);
  }
  return { artifacts: [...byFile.values()], problems };
}

const contradicts = (a: Artifact, b: Artifact): boolean => !isSame(sharedFacts(a, b), sharedFacts(b, a));

/** Facts of a claim that the other has too; a job may lack them. */
const sharedFacts = (claim: Artifact, other: Artifact) => ({
  ...(other.metadata && claim.metadata && { package: claim.metadata }),
  ...(other.documents && claim.documents && { documents: claim.documents }),
});

/** Compares values of JSON; the order of keys is irrelevant. */
export const isSame = (a: unknown, b: unknown): boolean =>
  JSON.stringify(a) === JSON.stringify(b) || differingLeaves(leaves(a), leaves(b)).length === 0;

/** Case-insensitive or normalizing file systems would keep only one of two such files. */
export const fold = (file: string) => file.normalize("NFC").toLowerCase();

/** The graphical variant comes first, so that in the list (ids descending) an installer never finds it first. */
export function inAllocationOrder(a: Artifact, b: Artifact): number {
  return (
    text(a.content.version, b.content.version) ||
    text(a.content.package_type, b.content.package_type) ||
    Number(b.content.gui_only) - Number(a.content.gui_only) ||
    text(a.content.name, b.content.name) ||
    nullable(a.content.min_os_version, b.content.min_os_version) ||
    nullable(a.content.max_os_version, b.content.max_os_version) ||
    text(a.file, b.file) ||
    // Conflicting claims about one file need only a deterministic order.
    text(fingerprint(a), fingerprint(b)) ||
    Number(b.metadata !== undefined) - Number(a.metadata !== undefined)
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

/** Derived from the package type unless written. */
const derived = ["description", "operating_system", "platform"];

/** Fields in which two claims differ, including the leaves of `data`, with both values. */
function differences(a: Artifact, b: Artifact): string[] {
  const [left, right] = [leaves(described(a, b)), leaves(described(b, a))];
  const fields = differingLeaves(left, right);
  const written = fields.includes("package_type")
    ? fields.filter((field) => !derived.includes(field))
    : fields;
  const texts = written.map((field) => {
    const name = field === "checksum" ? "sha256" : field.replace(/^data\./, "");
    return `${name} ${shortly(left.get(field))} ↔ ${shortly(right.get(field))}`;
  });
  return texts.sort();
}

const described = (claim: Artifact, other: Artifact) => {
  const { content, data, verbatim, url, size } = claim;
  return { ...content, data, ...verbatim?.fields, url, size, ...sharedFacts(claim, other) };
};

/** Sorted paths with different leaves. An empty object does not count next to its parts. */
export function differingLeaves(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): string[] {
  const paths = [...new Set([...a.keys(), ...b.keys()])];
  const isEmpty = (path: string) => [a.get(path), b.get(path)].some((leaf) => leaf === "{}" || leaf === "[]");
  const isBranch = (path: string) =>
    isEmpty(path) && paths.some((other) => other.startsWith(path === "" ? "" : `${path}.`) && other !== path);
  return paths.filter((path) => a.get(path) !== b.get(path) && !isBranch(path)).sort();
}

/** A leaf in a message; digests are abbreviated. */
export function shortly(json: string | undefined): string {
  if (json === undefined || json === "null") return "nothing";
  const text = json.replace(/^"(.*)"$/, "$1");
  if (/^[0-9a-f]{32,}$/i.test(text)) return `${text.slice(0, 4)}…`;
  return display(JSON.parse(json)).slice(0, 60);
}

/** Leaves of a value by dotted path. */
export function leaves(value: unknown, path = "", into = new Map<string, string>()): Map<string, string> {
  const isBranch = value !== null && typeof value === "object" && Object.keys(value).length > 0;
  if (!isBranch) into.set(path, JSON.stringify(value));
  else
    for (const [key, item] of Object.entries(value)) leaves(item, path === "" ? key : `${path}.${key}`, into);
  return into;
}

const maxFields = 12;

function conflict(...claims: [Artifact, Artifact]): Problem {
  const [[there, first], [at, second]] = claims
    .map((claim) => [claim.place(), claim] as const)
    .sort(([x], [y]) => text(`${x.file}:${x.line}`, `${y.file}:${y.line}`)) as [Placed, Placed];
  const all = differences(first, second);
  const more = all.length > maxFields ? ` and ${all.length - maxFields} more` : "";
  const fields = `${all.slice(0, maxFields).join(", ")}${more}`;
  const message = `${display(first.file)} is described differently in ${there.file}:${there.line}: ${fields}`;
  const hint = "One file has one description: correct or remove one of the two.";
  return { code: "artifact-conflict", severity: "error", message, hint, at };
}

type Placed = readonly [Place, Artifact];

function alikeFiles(first: Artifact, second: Artifact): Problem {
  const place = first.place();
  const message = `the file ${display(second.file)} differs from ${display(first.file)} (${place.file}:${place.line}) only in case or accents`;
  const hint = "Rename one: not every file system can keep both.";
  return { code: "duplicate-file", severity: "error", message, hint, at: second.place() };
}
