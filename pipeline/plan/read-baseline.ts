import { type Problem, RelcatError } from "../../shared/errors.ts";
import type { Catalog } from "../ledger/catalog.ts";
import type { Cut } from "../ledger/cut.ts";
import { loadCatalog } from "../ledger/load-catalog.ts";
import { filesOf } from "../project/authored-files.ts";
import type { Sources } from "../site/emit.ts";
import { whyNotYet } from "../system/git/git-revision.ts";
import { readTree, withoutGit } from "../system/git/git-tree.ts";
import { afterCut, hashDocuments } from "./after-cut.ts";
import type { Baseline } from "./baseline.ts";
import { liveBaseline } from "./live.ts";
import { nothing, snapshotOf } from "./snapshot.ts";

export interface BaselineRequest {
  /** A built folder, a site's address or a file with its list; undefined: the settled revision. */
  against?: string | undefined;
  /** Git revision with the settled ledger lines, or "none" for an empty baseline; default: ledger.base. */
  ledgerBase?: string | undefined;
  /** When to use the local ledger: if git fails, or always. */
  ledger?: "instead-of-failing" | "only" | undefined;
}

/**
 * Reads the baseline of a plan.
 * @param sources undefined: documents are not compared
 * @throws RelcatError git-revision, input-missing, network, and errors of reading a live list
 */
export async function readBaseline(
  catalog: Catalog,
  request: BaselineRequest,
  sources: Sources | undefined,
): Promise<Baseline> {
  if (request.against !== undefined) return liveBaseline(request.against, catalog.config.wire);
  if (request.ledger === "only") return ledgerBaseline(catalog, sources);
  if (request.ledger !== "instead-of-failing") return revisionBaseline(catalog, request.ledgerBase, sources);
  try {
    const baseline = await revisionBaseline(catalog, request.ledgerBase, sources);
    return baseline.kind === "nothing" ? ledgerBaseline(catalog, sources) : baseline;
  } catch (error) {
    if (error instanceof RelcatError) return ledgerBaseline(catalog, sources);
    throw error;
  }
}

/**
 * Reads the catalog of a git revision by today's rules.
 * @param named on the command line; undefined: ledger.base, which a new repository may lack
 */
async function revisionBaseline(
  catalog: Catalog,
  named: string | undefined,
  sources: Sources | undefined,
): Promise<Baseline> {
  const revision = named ?? catalog.config.ledgerBase;
  if (revision === "none") return emptyBaseline(catalog, "none", sources);
  const reason =
    (await withoutGit(catalog.folder)) ??
    (named === undefined ? await whyNotYet(catalog.folder, revision) : undefined);
  if (reason) return emptyBaseline(catalog, reason, sources);
  const { commit, files } = await readTree(catalog.folder, revision);
  const base = await loadCatalog(catalog.folder, { released: true }, filesOf(files));
  const { ledger, config } = base;
  const { releases } = base.identified;
  return {
    kind: "revision",
    name: revision,
    commit,
    snapshot: snapshotOf(releases, ledger, config),
    wire: config.wire,
    config,
    ledger: ledger.text,
    provisional: new Set(),
    documents: sources && hashDocuments({ releases, ledger, config }, sources),
    problems: base.problems.filter((problem) => hidesRecords(problem, base)).length,
  };
}

/** Rule violations of old records hide nothing; unreadable files do. */
function hidesRecords({ code, severity, at }: Problem, { folder, releases }: Catalog): boolean {
  const unread = releases.filter(({ complete }) => !complete).map(({ version }) => `${folder}/${version}/`);
  return (
    severity === "error" && (code.startsWith("ledger-") || unread.some((path) => at?.file.startsWith(path)))
  );
}

/** Used if nothing is published, or the published state is unknown. */
const emptyBaseline = ({ config }: Catalog, name: string, sources: Sources | undefined): Baseline => ({
  kind: "nothing",
  name,
  commit: null,
  snapshot: nothing,
  wire: config.wire,
  provisional: new Set(),
  documents: sources && new Map(),
  problems: 0,
});

/** Everything in the ledger, so that the plan shows what a cut adds. */
function ledgerBaseline(catalog: Catalog, sources: Sources | undefined): Baseline {
  const { ledger, config } = catalog;
  const present = afterCut(catalog, {
    events: [],
    before: ledger.text,
    after: ledger.text,
    at: "",
  } satisfies Cut);
  return {
    kind: "ledger",
    name: ledger.file,
    commit: null,
    snapshot: snapshotOf(present.releases, ledger, config),
    wire: config.wire,
    config,
    provisional: new Set(),
    documents: sources && hashDocuments(present, sources),
    problems: 0,
  };
}
