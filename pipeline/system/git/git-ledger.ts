import { RelcatError } from "../../errors.ts";
import { git } from "./git.ts";

/** A ledger that git has, by what git calls its bytes. */
export interface LedgerBlob {
  /** SHA-1 or SHA-256 of `blob SIZE`, a NUL and the bytes. */
  id: string;
  /** In bytes. */
  size: number;
}

/** A commit's ledger. */
export interface CommittedLedger {
  /** As git takes it: HEAD, HEAD^ or the beginning of an id. */
  revision: string;
  /** undefined: the commit has no ledger. */
  blob: LedgerBlob | undefined;
  /** Of a merge's first parent: the ledger of the second one, after whose lines those of the first may follow. */
  joinedTo?: LedgerBlob | undefined;
}

/** What git knows of a folder's ledger. */
export interface CommittedLedgers {
  /** Why there may be nothing to compare with; "known": there is. */
  kind: "known" | "no-git" | "no-repository" | "no-commit" | "no-base" | "unrelated" | "shallow";
  /**
   * The ledger must go on from each of these: those of the merge bases, or, where HEAD is in the base itself, those of HEAD
   * and its first parent. Empty unless known.
   */
  earlier: CommittedLedger[];
  /** Of the base itself; undefined where git does not know that. */
  base: CommittedLedger | undefined;
}

const nothing = (kind: CommittedLedgers["kind"]): CommittedLedgers => ({
  kind,
  earlier: [],
  base: undefined,
});

/**
 * Looks up in git what the ledger of a folder must go on from. It takes two calls of git and no network.
 * @param base git revision whose lines are settled
 */
export async function findLedgers(folder: string, base: string): Promise<CommittedLedgers> {
  const history = await readHistory(folder, base);
  if (typeof history === "string") return nothing(history);
  const { head, tip, parted, isShallow } = history;
  const isContained = parted.includes(head);
  const commits = isContained ? [head, `${head}^1`] : parted;
  const names = isContained ? ["HEAD", "HEAD^"] : parted.map((commit) => commit.slice(0, 12));
  const [ofTip, parent, joinedTo, ...blobs] = await lookUp(folder, [
    ledgerOf(tip),
    `${head}^1`,
    ledgerOf(`${head}^2`),
    ...commits.map(ledgerOf),
  ]);
  const settled = { revision: base, blob: ofTip };
  if (parted.length === 0) return { ...nothing(isShallow ? "shallow" : "unrelated"), base: settled };
  // A clone that is shallow lacks the parents of its oldest commits.
  if (isContained && isShallow && !parent) return { ...nothing("shallow"), base: settled };
  const earlier = names.map((revision, index) => ({
    revision,
    blob: blobs[index],
    joinedTo: revision === "HEAD^" ? joinedTo : undefined,
  }));
  return { kind: "known", earlier, base: settled };
}

/** The text of a ledger that `findLedgers` found. */
export async function readLedgerBlob(folder: string, blob: LedgerBlob | undefined): Promise<string> {
  return blob === undefined ? "" : (await git(folder, ["show", blob.id])).stdout;
}

const ledgerOf = (commit: string) => `${commit}:./ledger.jsonl`;

interface History {
  head: string;
  tip: string;
  /** The newest commits that HEAD and the base have in common. */
  parted: string[];
  isShallow: boolean;
}

async function readHistory(folder: string, base: string): Promise<History | CommittedLedgers["kind"]> {
  const asked = ["--is-shallow-repository", "HEAD", `HEAD...${base}`];
  const answer = await git(folder, ["rev-parse", ...asked]).catch((error: unknown) => {
    if (error instanceof RelcatError && error.code === "git-missing") return undefined;
    throw error;
  });
  if (!answer) return "no-git";
  // Where git fails, it has printed what it could resolve before.
  const [shallow, head, tip, , ...parted] = answer.stdout.split("\n").filter((line) => line !== "");
  if (shallow === undefined) return "no-repository";
  if (head === undefined || head === "HEAD") return "no-commit";
  const isShallow = shallow === "true";
  if (answer.exitCode !== 0 || tip === undefined) return isShallow ? "shallow" : "no-base";
  return { head, tip, parted: parted.map((line) => line.replace(/^\^/, "")), isShallow };
}

/** @returns for each name what it is; undefined where there is nothing of that name */
async function lookUp(folder: string, names: readonly string[]): Promise<(LedgerBlob | undefined)[]> {
  const input = names.map((name) => `${name}\n`).join("");
  const { stdout } = await git(folder, ["cat-file", "--batch-check=%(objectname) %(objectsize)"], input);
  const lines = stdout.split("\n");
  return names.map((_, index) => {
    const [, id, size] = /^([0-9a-f]{40,64}) (\d+)$/.exec(lines[index] ?? "") ?? [];
    return id === undefined ? undefined : { id, size: Number(size) };
  });
}
