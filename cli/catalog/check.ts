import {
  artifactProblems,
  type Catalog,
  countCatalog,
  exitStatus,
  feedGapProblems,
  ledgerGrowthProblems,
  loadCatalog,
  missingPurges,
  type Problem,
  undelegatedYears,
  unprovedMetadata,
  unresolvedMergeProblems,
} from "../../pipeline/index.ts";
import {
  annotate,
  annotations,
  type RepositoryPath,
  repositoryPaths,
  summarizeProblems,
} from "../terminal/github.ts";
import { documentText, type Host, print, printDocument, say, sayNext } from "../terminal/host.ts";
import { showCountAtTerminal, showReading } from "../terminal/progress.ts";
import { countProblems, problemRows, renderProblems, sortedAsGiven, tally } from "../terminal/render.ts";
import { UsageError } from "../terminal/usage.ts";
import { count } from "../terminal/words.ts";
import { type LedgerGuard, type LedgerGuardOptions, ledgerGuard } from "./ledger-guard.ts";

interface CheckOptions extends LedgerGuardOptions {
  ledgerBase?: string;
  artifacts?: string;
  jobs?: number;
  format: "text" | "json" | "github" | "sarif";
}

export async function check(options: CheckOptions, host: Host): Promise<number> {
  const { ledgerBase, artifacts, jobs, format } = options;
  if (host.json && format !== "text" && format !== "json")
    throw new UsageError(`--json and --format ${format} request two formats`, "Give one of them.");
  const progress = showCountAtTerminal(host, "Checking", "releases");
  const catalog = await loadCatalog(host.releases, {}, undefined, progress.onProgress).finally(progress.end);
  const revision = ledgerBase ?? catalog.config.ledgerBase;
  const guard = ledgerGuard({ base: ledgerBase === "none" ? false : options.base, revision }, host);
  const history = await historyProblems(catalog, ledgerBase, guard, host);
  const { onProgress, end } = showReading(host, "Checking");
  const reading = { clock: host.clock, jobs, onProgress };
  const refused =
    artifacts === undefined ? [] : await artifactProblems(catalog, artifacts, reading).finally(end);
  const unproved = unprovedMetadata(await guard.changedMetadata(catalog), artifacts);
  const versions =
    catalog.config.trust.profile === "none" ? [] : catalog.releases.map(({ version }) => version);
  const unsignable = undelegatedYears(host.releases, versions);
  const purges = missingPurges(catalog.config, catalog.configPlace);
  const others = [...history, ...refused, ...unproved, ...unsignable, ...purges];
  const problems = [...catalog.problems, ...feedGapProblems(catalog), ...others];
  const found = tally(problems);
  const counts = countCatalog(catalog);
  const { nextNotes: next_notes, ...contents } = counts;
  if (format === "sarif") print(host, documentText(sarif(problems, host)));
  else if (format === "github") host.data.write(annotations(problems, host));
  else if (host.json)
    printDocument<"check">(host, {
      ...found,
      ...contents,
      next_notes,
      ledger_base: ledgerBase ?? null,
      problems: problemRows(problems, host),
    });
  else {
    host.data.write(renderProblems(problems, host, host.data));
    print(host, `${countProblems(found)}${checkedContent(counts)}`);
    const isProved = ledgerBase !== undefined && ledgerBase !== "none" && history.length === 0;
    if (isProved) print(host, `the ledger only grew since ${ledgerBase}`);
  }
  const { unproved: why } = await guard.findings(catalog.ledger);
  if (ledgerBase === undefined && why !== undefined) say(host, why);
  if (format !== "github") annotate(problems, host);
  summarizeProblems(problems, checkedContent(counts), host);
  sayNext(host, found.errors > 0 ? "correct the files named above, then relcat check" : "relcat build");
  return found.errors > 0 ? exitStatus.problems : exitStatus.done;
}

/** Problems that need git's copy of the ledger. */
async function historyProblems(
  catalog: Catalog,
  ledgerBase: string | undefined,
  guard: LedgerGuard,
  { releases }: Host,
): Promise<Problem[]> {
  const unresolved = await unresolvedMergeProblems(catalog);
  const grown =
    ledgerBase === undefined ? [] : await ledgerGrowthProblems(releases, catalog.ledger, ledgerBase);
  const found = [...unresolved, ...grown];
  const isConflict = catalog.problems.some(({ code }) => code === "ledger-conflict-marker");
  if (found.length > 0 || isConflict) return found;
  const lost = await guard.lostLines(catalog.ledger);
  return ledgerBase === undefined ? [...lost, ...(await guard.findings()).warnings] : lost;
}

function checkedContent(counts: ReturnType<typeof countCatalog>): string {
  const { releases, artifacts, private: hidden, nextNotes } = counts;
  const checked = [
    count(releases, "release"),
    `${count(artifacts, "artifact")}${hidden > 0 ? ` (${hidden} private)` : ""}`,
    `${count(nextNotes, "note")} for the next release`,
  ];
  return ` in ${checked.join(", ")}`;
}

/** Problems as SARIF 2.1.0, for code scanning and editors. */
function sarif(
  problems: readonly Problem[],
  host: Pick<Host, "environment" | "given" | "own" | "releases">,
): object {
  const path = repositoryPaths(host);
  const rules = [...new Set(problems.map(({ code }) => code))].sort();
  return {
    $schema: "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: {
            name: "relcat",
            version: host.own.version,
            rules: rules.map((id) => ({ id, shortDescription: { text: id.replaceAll("-", " ") } })),
          },
        },
        columnKind: "utf16CodeUnits",
        results: sortedAsGiven(problems, host.given).map((problem) => result(problem, rules, path)),
      },
    ],
  };
}

function result(
  { code, severity, message, hint, at }: Problem,
  rules: readonly string[],
  path: RepositoryPath,
): object {
  const file = at && path(at.file);
  const location = at && {
    physicalLocation: {
      artifactLocation:
        file === undefined ? { uri: uri(at.file) } : { uri: uri(file), uriBaseId: "%SRCROOT%" },
      region: { startLine: at.line, startColumn: at.column },
    },
  };
  return {
    ruleId: code,
    ruleIndex: rules.indexOf(code),
    level: severity,
    message: { text: hint === undefined ? message : `${message}\n${hint}` },
    ...(location && { locations: [location] }),
  };
}

const uri = (path: string): string => path.toWellFormed().split("/").map(encodeURIComponent).join("/");
