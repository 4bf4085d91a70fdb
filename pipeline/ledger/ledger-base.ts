import { createHash } from "node:crypto";
import { failure, type Problem } from "../../shared/errors.ts";
import { error } from "../records/report.ts";
import {
  type CommittedLedger,
  type CommittedLedgers,
  findLedgers,
  type LedgerBlob,
  readLedgerBlob,
} from "../system/git/git-ledger.ts";
import { compareGrowth } from "./growth.ts";
import { type Ledger, readLedger } from "./ledger.ts";
import { identity } from "./ledger-records.ts";

export interface LedgerBase {
  folder: string;
  /** Revision with settled lines, such as origin/main. */
  name: string;
  found: CommittedLedgers;
}

/** @param name git revision whose lines are settled; "none": no comparison, returns undefined */
export async function findLedgerBase(folder: string, name: string): Promise<LedgerBase | undefined> {
  return name === "none" ? undefined : { folder, name, found: await findLedgers(folder, name) };
}

const reasons = {
  "no-repository": "this folder is not in a git repository.",
  "no-commit": "the repository has no commit yet.",
  "no-remote": "the repository has no remote yet.",
  "no-base": "git does not know it. Fetch it, or name another: ledger: { base: … } in catalog.yaml.",
  unrelated: "it has no commit in common with HEAD.",
  shallow: "this clone is shallow. Fetch the whole history: fetch-depth: 0 in CI, or git fetch --unshallow.",
} as const;

/** Reason why the ledger was not compared, in one line; undefined: it was. */
export const whyNotCompared = ({ name, found: { kind } }: LedgerBase): string | undefined =>
  kind === "known" ? undefined : `The ledger was not compared with ${name}: ${reasons[kind]}`;

/** In CI a setting can fetch the history, so a shallow clone there deserves a warning. */
export const isShallowInCi = ({ found }: LedgerBase, { CI }: Readonly<Record<string, string | undefined>>) =>
  found.kind === "shallow" && CI === "true";

/** Only a warning for now, so that pipelines have time to fetch the history. */
export const shallowWarning = ({ name }: LedgerBase): Problem => ({
  code: "git-revision",
  severity: "warning",
  message: `the ledger was not compared with ${name}, because this clone is shallow`,
  hint: "Fetch the whole history (fetch-depth: 0), or give --no-base. In the next release of relcat this is an error.",
});

/** @returns at most one problem, ledger-rewritten, for a removed or changed line; none if git cannot tell */
export async function lostLines(
  ledger: Pick<Ledger, "file" | "text" | "pieces" | "byIdentity" | "channels">,
  { folder, name, found }: LedgerBase,
): Promise<Problem[]> {
  for (const earlier of found.earlier) {
    if (earlier.blob === undefined || startsWith(ledger, earlier.blob)) continue;
    const text = await readLedgerBlob(folder, earlier.blob);
    if (earlier.joinedTo && startsWith(ledger, earlier.joinedTo) && hasRecordsOf(ledger, text)) continue;
    return [lossOf(ledger, text, earlier, name)];
  }
  return [];
}

/** Compares git blob ids, without reading the other file. */
function startsWith({ pieces }: Pick<Ledger, "pieces">, { id, size }: LedgerBlob): boolean {
  const hash = createHash(id.length === 40 ? "sha1" : "sha256").update(`blob ${size}\0`);
  let left = size;
  for (const piece of pieces()) {
    const bytes = Buffer.from(piece).subarray(0, left);
    hash.update(bytes);
    left -= bytes.length;
    if (left === 0) break;
  }
  return left === 0 && hash.digest("hex") === id;
}

/**
 * True if the ledger has all records of another text. After a fast-forward of a branch that had merged the
 * base, the branch is its own first parent, and its records follow the base's lines under new ids.
 */
function hasRecordsOf({ byIdentity, channels }: Pick<Ledger, "byIdentity" | "channels">, text: string) {
  const { ledger } = readLedger({ file: "", text });
  const hasHalts = [...ledger.channels.byName].every(([name, members]) =>
    [...members].every(([version, { halt }]) => !halt || channels.byName.get(name)?.get(version)?.halt),
  );
  if (!hasHalts) return false;
  return [...ledger.byId.values()].every(({ add, retraction }) => {
    const entry = byIdentity.get(identity(add.version, add.file));
    return entry?.add.checksum === add.checksum && (!retraction || Boolean(entry.retraction));
  });
}

/** The ledger of the base revision; empty if git cannot tell. */
export const settledText = async ({ folder, found: { base } }: LedgerBase): Promise<string> =>
  base ? readLedgerBlob(folder, base.blob) : "";

const linesOf = (text: string): number => text.split("\n").length - 1;

function lossOf(
  { file, text }: Pick<Ledger, "file" | "text">,
  before: string,
  { revision }: CommittedLedger,
  base: string,
): Problem {
  const { kind, common } = compareGrowth({ text }, before);
  const at = { file, line: common + 1, column: 1, excerpt: text().split("\n")[common] ?? "" };
  const theirs = /^HEAD/.test(revision) ? `that of ${revision}` : `that of ${revision} in ${base}`;
  if (kind !== "behind") {
    const message = `the ledger differs from ${theirs} here, expected a ledger that only grows`;
    const hint = `Restore the line (git diff ${revision} -- ${file}): events are appended, never changed.`;
    return error("ledger-rewritten", at, message, hint);
  }
  const lost = linesOf(before) - common;
  const message =
    common === 0
      ? `the ledger is missing or empty, and ${theirs} has ${lost === 1 ? "1 line" : `${lost} lines`}`
      : `the ledger lacks the last ${lost === 1 ? "line" : `${lost} lines`} of ${theirs}`;
  return error("ledger-rewritten", at, message, `Put it back: git checkout ${revision} -- ${file}`);
}

/**
 * Refuses to publish ledger lines that are not pushed, because others may still assign their ids.
 * @returns the reason if git cannot tell, in one line; undefined: the base has every line
 * @throws RelcatError ledger-unpushed
 */
export async function refuseUnpushed(
  ledger: Pick<Ledger, "text">,
  { folder, name, found: { kind: state, base } }: LedgerBase,
): Promise<string | undefined> {
  if (!base)
    return state === "known"
      ? undefined
      : `Nothing checked whether ${name} has every line of the ledger: ${reasons[state]}`;
  const settled = await readLedgerBlob(folder, base.blob);
  const { kind, common } = compareGrowth({ text: () => settled }, ledger.text());
  if (kind === "grown") return undefined;
  const count = linesOf(ledger.text()) - common;
  throw failure(
    "ledger-unpushed",
    `${name} does not have the last ${count === 1 ? "line" : `${count} lines`} of the ledger, so ${count === 1 ? "its id" : "their ids"} may still change`,
    kind === "behind"
      ? "Commit the ledger and git push (git fetch, where it is merged already), then publish. To publish anyway: --allow-unpushed REASON"
      : `It has other lines there: git merge ${name}, relcat ledger rebase, git push, then build and publish again.`,
  );
}
