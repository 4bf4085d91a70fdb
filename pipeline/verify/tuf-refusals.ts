import { failure, type RelcatError } from "../../shared/errors.ts";
import type { SiteReader } from "./stores/site-reader.ts";
import { WorkflowError } from "./tuf-workflow.ts";

/** @param path of the last request, because errors of the TUF client seldom name a role */
export function tufProblem(site: SiteReader, path: string, error: unknown): RelcatError {
  const { message } = error as Error;
  const [, expired] = /([\w.-]+)\.json is expired/.exec(message) ?? [];
  if (expired !== undefined)
    return failure(
      "site-expired",
      `${site.place}: the ${expired} metadata has expired`,
      "Its publisher must sign it again; or your clock is wrong.",
      undefined,
      error,
    );
  const [, older, newer] = /timestamp version (\d+) is less than current version (\d+)/.exec(message) ?? [];
  // An outdated cache and a replay attack look the same.
  if (older !== undefined)
    return failure(
      "site-stale",
      `${site.place}: (role timestamp) metadata/timestamp.json is older than what was seen here before (version ${older} < ${newer})`,
      "A cache serves an old version, or someone withholds updates from you. Nothing of it was used; try again later.",
      undefined,
      error,
    );
  if (error instanceof WorkflowError) return tampered(site, path, message, error);
  const role = roleOf(path);
  if (role === "root" && isNoMetadata(error)) {
    return failure(
      "site-tampered",
      `${site.place} answers 200 with something else for ${path}, which is missing`,
      "The host must answer 404 for missing files: it is misconfigured.",
      undefined,
      error,
    );
  }
  const reason = isNoJson(error) ? "is not metadata" : reasonOf(message);
  return tampered(site, path, `(role ${role}) ${reason}`, error);
}

const isNoJson = (error: unknown): boolean =>
  error instanceof SyntaxError ||
  (error as NodeJS.ErrnoException).code === "ERR_ENCODING_INVALID_ENCODED_DATA";

const isNoMetadata = (error: unknown): boolean =>
  isNoJson(error) || /is not (defined|an array)|expected 'root', got/.test((error as Error).message);

/** Error messages of the client, with their replacements. */
const wordings: readonly [RegExp, (...groups: string[]) => string][] = [
  [
    /[\w.-]+ was signed by (\d+)\/(\d+) keys/,
    (has, needs) => `has ${has} of the ${needs} signatures it needs by keys that may sign it`,
  ],
  [
    /snapshot version (\d+) is less than current version (\d+)/,
    (older, newer) => `names an older snapshot than one seen here before (version ${older} < ${newer})`,
  ],
  [
    /New version (\d+) of ([\w.-]+)\.json is less than current version (\d+)/,
    (older, role, newer) =>
      `names an older ${role} (role ${role}) than was seen here before (version ${older} < ${newer})`,
  ],
  [/Missing file ([\w.-]+)\.json in new snapshot/, (role) => `lacks the role ${role}, which was seen before`],
  [/Missing ([\w.-]+)\.json in snapshot/, (role) => `is not in the snapshot: role ${role}`],
  [/Expected version (\d+), got (\d+)/, (wanted, got) => `has version ${got}, expected ${wanted}`],
  [/Expected length (\d+) but got (\d+)/, (wanted, got) => `has ${got} bytes, expected ${wanted}`],
  [/Expected hash /, () => "has another SHA-256 than the metadata that names it says"],
  [
    /Version (\d+) of [\w.-]+ does not match snapshot version (\d+)/,
    (got, wanted) => `has version ${got}, but the snapshot says ${wanted}`,
  ],
  [/Snapshot version doesn't match timestamp/, () => "has another version than the timestamp says"],
  [/multiple signatures found for keyid/, () => "has two signatures by one key"],
  [/duplicate key IDs found/, () => "names one key twice"],
];

function reasonOf(message: string): string {
  for (const [pattern, wording] of wordings) {
    const match = pattern.exec(message);
    if (match) return `is refused: it ${wording(...match.slice(1))}`;
  }
  return `is refused: ${message}`;
}

const roleOf = (path: string): string => /^metadata\/(?:\d+\.)?(.+)\.json$/.exec(path)?.[1] ?? path;

export const tampered = (site: Pick<SiteReader, "place">, path: string, what: string, cause?: unknown) =>
  failure(
    "site-tampered",
    `${site.place}: ${path} ${what}`,
    "Do not use any of it, and inform its publisher.",
    undefined,
    cause,
  );
