import { join } from "node:path";
import { type Plan, type PlanRequest, planCatalog } from "../../pipeline/index.ts";
import {
  artifact,
  copyOfProject,
  type Files,
  type Project,
  project,
  release,
  smallCatalog,
} from "../support/project.ts";

const clock = Date.parse("2026-10-01T12:00:00.000Z");
export const at = "2026-10-01T12:00:00.000000Z";

/** smallCatalog, with local `main` as the settled revision. */
export const settledCatalog: Files = {
  ...smallCatalog,
  ".gitignore": ".relcat-*\n",
  "releases/catalog.yaml": { product: "Example", require: {}, ledger: { base: "main" } },
};

/** A project that is cut and committed on main, with a branch for the test. */
export const settledProject = (files: Files = settledCatalog): Promise<Project> =>
  copyOfProject(`planning ${JSON.stringify(files)}`, async () => {
    const made = project(files);
    await made.succeed("cut", "--all", "--yes", "--now", "2026-09-20T10:00:00Z");
    await made.git("init", "--quiet", "--initial-branch=main");
    await commitAll(made);
    await made.git("switch", "--quiet", "--create", "work");
    return made;
  });

export async function commitAll(made: Project): Promise<void> {
  await made.git("add", ".");
  await made.git("commit", "--quiet", "--message", "State");
}

/** A plan through the library; paths in it are absolute. */
export async function planOf(made: Project, request: Partial<PlanRequest> = {}): Promise<Plan> {
  const { plan } = await planCatalog(
    join(made.folder, "releases"),
    { documents: false, ...request },
    { clock },
  );
  return plan;
}

/** The non-empty parts of a plan, except those of every plan. */
export function essence(plan: Plan): Partial<Plan> {
  const {
    schema_version: _,
    at: date,
    versions,
    baseline,
    ledger,
    content,
    digest,
    documents,
    ...rest
  } = plan;
  void [date, versions, baseline, ledger, content, digest, documents];
  const entries = Object.entries(rest).filter(
    ([key, value]) =>
      !(Array.isArray(value) && value.length === 0) && (key !== "private" || hidden(plan) > 0),
  );
  return Object.fromEntries(entries);
}

const hidden = ({ private: { added, changed, removed, lines } }: Plan): number =>
  added + changed + removed + lines.add + lines.revise;

/** A third release with two public packages and a private one. */
export const october: Files = release("26.10.001", [
  artifact("tool-26.10.001.msi", "msi", "6"),
  artifact("tool-26.10.001.rpm", "rpm", "7"),
  artifact("inside-26.10.001.rpm", "rpm", "8", { exclude_from_api: true }),
]);

export function writeAll(made: Project, files: Files): void {
  for (const [path, content] of Object.entries(files)) made.write(path, content);
}

/** 26.08.001 with one field of its installer changed. */
export const edited = (rest: object): Files =>
  release("26.08.001", [
    artifact("tool-26.08.001.msi", "msi", "1", rest),
    artifact("tool-26.08.001.rpm", "rpm", "2"),
  ]);

export const row = (id: number, version: string, package_type: string, file: string) => ({
  id,
  version,
  package_type,
  name: file,
  file,
});
