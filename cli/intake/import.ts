import { countByRule, type Import, type ImportRequest, importCatalog } from "../../pipeline/index.ts";
import { type LedgerGuardOptions, ledgerGuard } from "../catalog/ledger-guard.ts";
import { table } from "../terminal/cells.ts";
import { afterDryRun, answer, commandContext, type Host, say, sayNext } from "../terminal/host.ts";
import { showCount, showCountAtTerminal } from "../terminal/progress.ts";
import { problemRows, renderProblems } from "../terminal/render.ts";
import { UsageError } from "../terminal/usage.ts";
import { amounts, count, listed } from "../terminal/words.ts";

interface ImportOptions extends LedgerGuardOptions, Omit<ImportRequest, "source" | "wire"> {
  wire?: string[];
  dryRun?: true;
  now?: string;
}

export async function importRecords(source: string, options: ImportOptions, host: Host): Promise<void> {
  const { dryRun } = options;
  const guard = ledgerGuard(options, host);
  const looking = showCount(host, "Looking up", "addresses");
  let writing: ReturnType<typeof showCount> | undefined;
  const done = await importCatalog(
    host.releases,
    requestOf(source, options),
    { ...commandContext(host, options.now), proveLedger: guard.prove, dryRun },
    {
      onLookup(lookup) {
        if (lookup.done === 0)
          say(host, `Looking up ${count(lookup.total, "download address", "download addresses")}…`);
        looking.onProgress(lookup);
      },
      onWrite(progress) {
        // The rate counts from the first file, not from the plan before it.
        writing ??= showCountAtTerminal(host, "Writing", "files");
        writing.onProgress(progress);
      },
    },
  ).finally(() => {
    looking.end();
    writing?.end();
  });
  answer<"import">(host, { ...document(done, host), dry_run: dryRun ?? false }, () =>
    afterDryRun(describe(done, host), dryRun),
  );
  host.messages.write(renderProblems(done.warnings, host));
  await guard.report();
  const commit = isNothing(done) ? "" : `relcat check, commit ${host.releases}/, then `;
  sayNext(host, `${commit}relcat build --released`, dryRun);
}

function requestOf(source: string, options: ImportOptions): ImportRequest {
  const { wire = [], downloadUrl, resolveDownloads, resolveBase } = options;
  if (downloadUrl !== undefined && resolveDownloads) {
    const message = "--download-url and --resolve-downloads both say where the files are";
    throw new UsageError(message, "Give one of them.");
  }
  if (resolveBase !== undefined && !resolveDownloads) {
    throw new UsageError("--resolve-base needs --resolve-downloads", "Give both, or none.");
  }
  return { ...options, source, wire: Object.fromEntries(wire.map(wireName)) };
}

function wireName(text: string): [key: string, name: string] {
  const [, key, name] = /^(vendor|cryptolib_post)=([A-Za-z_][A-Za-z0-9_-]*)$/.exec(text) ?? [];
  if (key !== undefined && name !== undefined) return [key, name];
  const message = `--wire is ${JSON.stringify(text)}, expected vendor=NAME or cryptolib_post=NAME`;
  throw new UsageError(message, "NAME is the key inside data of the live catalog.");
}

const isNothing = ({ plan }: Import) => plan.files.length === 0 && plan.ledger.events.length === 0;

function document({ plan, records, warnings }: Import, host: Host) {
  const { match, ledger, changes, wire, versions, violations, hidden, files } = plan;
  return {
    records: records.length,
    added: match.added.length,
    revised: match.revised.length,
    restored: match.restored.length,
    unchanged: match.unchanged.length,
    kept: match.kept.map(({ id }) => id),
    gone: match.gone.map(({ add }) => ({ id: add.id, version: add.version, name: add.name })),
    private: hidden,
    releases: versions,
    wire,
    catalog: changes,
    accepted: Object.fromEntries(countByRule(violations)),
    ledger_lines: ledger.events.length,
    files: files.map(({ path }) => `${host.releases}/${path}`),
    warnings: problemRows(warnings, host),
  };
}

function keptLines({ kept }: Import["plan"]["match"]): string[] {
  if (kept.length === 0) return [];
  const ids = kept.map(({ id }) => String(id));
  return [`Kept as changed or withdrawn here: ${listed(ids, 20)}.`];
}

function describe(done: Import, { releases }: Host): string {
  const { plan, records } = done;
  const { match, versions, violations, hidden } = plan;
  if (isNothing(done)) {
    if (records.length === 0) return "Nothing to import: the list is empty.";
    const upToDate = `Nothing to import: all ${count(records.length, "record")} are already here, unchanged.`;
    return [upToDate, ...keptLines(match)].join("\n");
  }
  const parts = [
    count(match.added.length, "new record"),
    ...amounts([
      [match.revised.length, "revised"],
      [match.restored.length, "restored"],
      [match.unchanged.length, "unchanged"],
    ]),
  ];
  const lines = [
    `Imported ${parts.join(", ")} into ${count(versions.length, "release")}; each builds to the same record.`,
  ];
  lines.push(...catalogLines(plan, releases));
  lines.push(...keptLines(match));
  if (hidden > 0) lines.push(`${count(hidden, "record")} private: in the ledger, but in nothing public.`);
  if (violations.length > 0) {
    lines.push(`Accepted as they are, in ${releases}/exceptions.yaml:`);
    lines.push(table(countByRule(violations).map(([rule, amount]) => [`  ${amount}`, rule])));
  }
  return lines.join("\n");
}

function catalogLines({ changes, wire }: Import["plan"], releases: string): string[] {
  const named = Object.entries(wire).flatMap(([key, { name, from, records }]) =>
    from === "found" || from === "given"
      ? [`  wire.${key}: ${name} (${from}, in ${count(records, "record")})`]
      : [],
  );
  const types = Object.entries(changes.package_types).map(
    ([type, row]) => `  package_types.${type}: ${JSON.stringify(row)}`,
  );
  const platforms = Object.entries(changes.platforms).map(([id, name]) => `  platforms.${id}: ${name}`);
  const lines = [...named, ...types, ...platforms];
  return lines.length > 0 ? [`Written to ${releases}/catalog.yaml:`, ...lines] : [];
}
