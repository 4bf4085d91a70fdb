import { RelcatError } from "../../errors.ts";
import { git } from "./git.ts";
import { lacksRemote } from "./git-revision.ts";

/** A ledger in git, identified by its blob id. */
export interface LedgerBlob {
  /** SHA-1 or SHA-256 of `blob SIZE`, a NUL and the bytes. */
  id: string;
  /** In bytes. */
  size: number;
}

export interface CommittedLedger {
  /** A git revision: HEAD, HEAD^ or an abbreviated id. */
  revision: string;
  /** undefined: the commit has no ledger. */
  blob: LedgerBlob | undefined;
  /**
   * For a merge's first parent: the ledger of the second parent, after whose lines those of the first may
   * follow.
   */
  joinedTo?: LedgerBlob | undefined;
}

/** Earlier versions of a folder's ledger. */
export interface CommittedLedgers {
  /** Reason why nothing can be compared; "known": ledgers were found. */
  kind:
    | "known"
    | "no-git"
    | "no-repository"
    | "no-commit"
    | "no-remote"
    | "no-base"
    | "unrelated"
    | "shallow";
  /**
   * Each of these must be a prefix of the current ledger: those of the merge bases or, if HEAD is in the
   * base, those of HEAD and its first parent. Empty unless "known".
   */
  earlier: CommittedLedger[];
  /** Ledger of the base itself; undefined if git does not have it. */
  base: CommittedLedger | undefined;
}

const nothing = (kind: CommittedLedgers["kind"]): CommittedLedgers => ({
  kind,
  earlier: [],
  base: undefined,
});

/**
 * Finds the ledgers that the current one must extend, with two git calls and no network.
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
  // A shallow clone lacks the parents of its oldest commits.
  if (isContained && isShallow && !parent) return { ...nothing("shallow"), base: settled };
  const earlier = names.map((revision, index) => ({
    revision,
    blob: blobs[index],
    joinedTo: revision === "HEAD^" ? joinedTo : undefined,
  }));
  return { kind: "known", earlier, base: settled };
}

export async function readLedgerBlob(folder: string, blob: LedgerBlob | undefined): Promise<string> {
  return blob === undefined ? "" : (await git(folder, ["show", blob.id])).stdout;
}

const ledgerOf = (commit: string) => `${commit}:./ledger.jsonl`;

interface History {
  head: string;
  tip: string;
  /** The merge bases of HEAD and the base. */
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
  // If git fails, it has already printed what it could resolve.
  const [shallow, head, tip, , ...parted] = answer.stdout.split("\n").filter((line) => line !== "");
  if (shallow === undefined) return "no-repository";
  if (head === undefined || head === "HEAD") return "no-commit";
  const isShallow = shallow === "true";
  if (answer.exitCode !== 0 || tip === undefined) {
    if (isShallow) return "shallow";
    return (await lacksRemote(folder, base)) ? "no-remote" : "no-base";
  }
  return { head, tip, parted: parted.map((line) => line.replace(/^\^/, "")), isShallow };
}

/** @returns the blob of each name; undefined if it does not exist */
async function lookUp(folder: string, names: readonly string[]): Promise<(LedgerBlob | undefined)[]> {
  const input = names.map((name) => `${name}\n`).join("");
  const { stdout } = await git(folder, ["cat-file", "--batch-check=%(objectname) %(objectsize)"], input);
  const lines = stdout.split("\n");
  return names.map((_, index) => {
    const [, id, size] = /^([0-9a-f]{40,64}) (\d+)$/.exec(lines[index] ?? "") ?? [];
    return id === undefined ? undefined : { id, size: Number(size) };
  });
}
