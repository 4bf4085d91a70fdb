import { readLedger } from "../../../pipeline/ledger/ledger.ts";
import {
  artifact,
  copyOfProject,
  type Files,
  type Project,
  project,
  release,
} from "../../support/project.ts";

/** A project in git: 26.08.001 is cut (ids 1 and 2) and settled on main. */
export const settledProject = (more: Files = {}): Promise<Project> =>
  copyOfProject(`settled ${JSON.stringify(more)}`, () => makeSettled(more));

async function makeSettled(more: Files): Promise<Project> {
  const made = project({
    "releases/catalog.yaml": { product: "Example", require: {}, ledger: { base: "main" } },
    ".gitignore": ".relcat-*\n",
    ".gitattributes": "releases/ledger.jsonl -merge\n",
    ...release("26.08.001", [
      artifact("tool-26.08.001.msi", "msi", "1"),
      artifact("tool-26.08.001.rpm", "rpm", "2"),
    ]),
    ...more,
  });
  await made.succeed("cut", "--all", "--now", "2026-09-01T10:00:00Z");
  await made.git("init", "--quiet", "--initial-branch=main");
  await made.git("config", "user.name", "Test");
  await made.git("config", "user.email", "test@example.com");
  await commitAll(made, "Start");
  return made;
}

export async function commitAll({ git }: Project, message: string): Promise<void> {
  await git("add", ".");
  await git("commit", "--quiet", "--allow-empty", "--message", message);
}

/** A branch from main with a cut release of two artifacts, whose checksums repeat `digit`. */
export async function cutBranch(made: Project, branch: string, version: string, digit: string, now: string) {
  await made.git("switch", "--quiet", "--create", branch, "main");
  await cutRelease(made, version, digit, now);
}

/** Cuts a release on the branch that is checked out. */
export async function cutRelease(made: Project, version: string, digit: string, now: string): Promise<void> {
  const files = release(version, [
    artifact(`tool-${version}.msi`, "msi", digit),
    artifact(`tool-${version}.rpm`, "rpm", digit),
  ]);
  for (const [path, content] of Object.entries(files)) made.write(path, content);
  await made.succeed("cut", version, "--now", now);
  await commitAll(made, `Cut ${version}`);
}

/** A git command that stops for a conflict. */
export async function conflicting({ git }: Project, ...args: string[]): Promise<void> {
  const failed = await git(...args).then(
    () => false,
    () => true,
  );
  if (!failed) throw new Error(`git ${args.join(" ")} found no conflict`);
}

export const ledgerText = ({ read }: Project): string => read("releases/ledger.jsonl");

/** The parsed ledger, which must be valid. */
export function soundLedger(made: Project) {
  const { ledger, problems } = readLedger({ file: "ledger", text: ledgerText(made) });
  if (problems.length > 0) throw new Error(problems.map(({ message }) => message).join("\n"));
  return ledger;
}

/** "id version file" of every record, in the ledger's order. */
export const records = (made: Project): string[] =>
  [...soundLedger(made).byId.values()].map(({ add }) => `${add.id} ${add.version} ${add.file}`);
