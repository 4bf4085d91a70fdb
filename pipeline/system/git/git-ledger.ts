import { failure } from "../../../shared/errors.ts";
import { git, gitIfNeeded, gitText, refused, revParse } from "./git.ts";
import { lacksRemote } from "./git-revision.ts";

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
  /** For a merge's first parent: the ledger of the second, after whose lines those of the first may follow. */
  joinedTo?: LedgerBlob | undefined;
}

/** Reason why nothing can be compared. */
type WithoutLedgers = "no-repository" | "no-commit" | "no-remote" | "no-base" | "unrelated" | "shallow";

export interface CommittedLedgers {
  /** "known": ledgers were found. */
  kind: "known" | WithoutLedgers;
  /**
   * Each of these must be a prefix of the current ledger: those of the merge bases or, if HEAD is in the
   * base, those of HEAD and its first parent. Empty unless "known".
   */
  earlier: CommittedLedger[];
  /** Ledger of the base itself; undefined if git does not have it. */
  base: CommittedLedger | undefined;
}

const noLedgers = (kind: WithoutLedgers): CommittedLedgers => ({ kind, earlier: [], base: undefined });

/** The ledgers that the current one must extend, by two calls of git. @param base the lines of its ledger are settled */
export async function findLedgers(folder: string, base: string): Promise<CommittedLedgers> {
  const history = await readHistory(folder, base);
  if (typeof history === "string") return noLedgers(history);
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
  if (!ofTip) await requireNoLedger(folder, tip);
  if (parted.length === 0) return { ...noLedgers(isShallow ? "shallow" : "unrelated"), base: settled };
  const isFirst = isContained && !parent;
  // A shallow clone lacks the parents of its oldest commits.
  if (isFirst && isShallow) return { ...noLedgers("shallow"), base: settled };
  if (isFirst) await requireNoParent(folder, head);
  for (const [index, commit] of (isFirst ? [head] : commits).entries())
    if (!blobs[index] && commit !== tip) await requireNoLedger(folder, commit);
  const earlier = names.map((revision, index) => ({
    revision,
    blob: blobs[index],
    joinedTo: revision === "HEAD^" ? joinedTo : undefined,
  }));
  return { kind: "known", earlier, base: settled };
}

/** @throws RelcatError git-refused if the repository lost it */
export const readLedgerBlob = async (folder: string, blob: LedgerBlob | undefined): Promise<string> =>
  blob === undefined ? "" : gitText(folder, ["show", blob.id]);

const ledgerOf = (commit: string) => `${commit}:./ledger.jsonl`;

interface History {
  head: string;
  tip: string;
  /** The merge bases of HEAD and the base. */
  parted: string[];
  isShallow: boolean;
}

async function readHistory(folder: string, base: string): Promise<History | WithoutLedgers> {
  const asked = ["--is-shallow-repository", "HEAD", `HEAD...${base}`];
  const answer = await gitIfNeeded(folder, ["rev-parse", ...asked]);
  if (!answer) return "no-repository";
  const [, twice] = /^warning: refname '(?!HEAD')(.+)' is ambiguous/m.exec(answer.stderr) ?? [];
  if (twice !== undefined)
    throw failure(
      "git-revision",
      `several branches or tags have the name ${twice}, so git may compare the ledger with the wrong one`,
      `git show-ref ${twice} lists them. Rename or delete the ones that are not meant.`,
    );
  // If git fails, it has already printed what it could resolve.
  const [shallow, head, tip, , ...parted] = answer.stdout.split("\n").filter((line) => line !== "");
  if (shallow === undefined) throw refused(folder, answer.stderr || "no answer");
  if (head === undefined || head === "HEAD") return "no-commit";
  const isShallow = shallow === "true";
  if (answer.exitCode !== 0 || tip === undefined) {
    await requireCommit(folder, "HEAD", head);
    const named = await revParse(folder, base);
    if (named.exitCode === 0) await requireCommit(folder, base, named.stdout);
    if (isShallow) return "shallow";
    return (await lacksRemote(folder, base)) ? "no-remote" : "no-base";
  }
  return { head, tip, parted: parted.map((line) => line.replace(/^\^/, "")), isShallow };
}

/** A name that git resolves, without the commit, is damage. @throws RelcatError git-refused */
async function requireCommit(folder: string, name: string, id: string): Promise<void> {
  const { exitCode } = await git(folder, ["cat-file", "-e", id]);
  if (exitCode !== 0) throw refused(folder, `the commit ${id} of ${name} is missing`);
}

/** A commit without a readable parent is the first one. @throws RelcatError git-refused if it names a parent */
async function requireNoParent(folder: string, commit: string): Promise<void> {
  const { stdout } = await git(folder, ["cat-file", "commit", commit]);
  const [, parent] = /^parent ([0-9a-f]+)$/m.exec(stdout.split("\n\n", 1).join("")) ?? [];
  if (parent !== undefined) throw refused(folder, `the commit ${parent} is missing`);
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

/** `cat-file` answers the same if a tree or the blob is missing. @throws RelcatError git-refused */
async function requireNoLedger(folder: string, commit: string): Promise<void> {
  const { exitCode, stdout, stderr } = await git(folder, ["ls-tree", commit, "--", "ledger.jsonl"]);
  const isLost = exitCode !== 0 || stdout !== "";
  if (isLost) throw refused(folder, stderr === "" ? `the ledger of ${commit} is missing` : stderr);
}
