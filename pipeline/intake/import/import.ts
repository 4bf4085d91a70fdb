import { type Document, isMap, parseDocument } from "yaml";
import { failure, type Problem, RelcatError, throwErrors } from "../../../shared/errors.ts";
import type { Settings } from "../../documents/config.ts";
import type { Exception } from "../../documents/exceptions.ts";
import type { WireName } from "../../documents/outputs/intake.ts";
import { assignIds, type Package, recordPrivate } from "../../ledger/assign-ids.ts";
import { append, type LedgerChange, readLedger } from "../../ledger/ledger.ts";
import { publishedRecord } from "../../ledger/publish-records.ts";
import { takenWireNames } from "../../project/config-rules.ts";
import { isPrivate } from "../../records/normalize.ts";
import { type CatalogRows, catalogRows } from "./catalog-rows.ts";
import { linesOf } from "./dates.ts";
import { type Existing, settingsOf } from "./existing.ts";
import { isImported } from "./manifests.ts";
import { differingFields, type Match, matchRecords } from "./match-records.ts";
import { type Downloads, planReleases } from "./plan-releases.ts";
import { type LiveRecord, recordName } from "./read-records.ts";
import { type RebuiltCatalog, rebuildCatalog } from "./rebuild-catalog.ts";
import {
  asViolation,
  extendExceptions,
  sameExceptions,
  unaccepted,
  type Violation,
  violationProblems,
} from "./violations.ts";
import { hasName, type WireKey, wireKeys, wireNames } from "./wire-names.ts";

export interface ImportOptions extends Downloads {
  /** Known key names inside `data`; the others are detected. */
  wire: Partial<Settings["wire"]>;
  acceptViolations?: boolean;
  nextId?: number | undefined;
  /** Folder of the JSON Schemas, relative to the project. */
  schemas: string;
}

/** A complete import, not yet written. */
export interface ImportPlan {
  /** In writing order; the ledger follows them. Paths are relative to the releases folder. */
  files: { path: string; text: string }[];
  ledger: LedgerChange;
  match: Match;
  changes: CatalogChanges;
  wire: Record<WireKey, WireName>;
  /** Versions with new or changed records. */
  versions: string[];
  violations: Violation[];
  /** Number of records that are private here and missing from the public list. */
  hidden: number;
}

/**
 * Plans the files and ledger lines, and verifies them by a build in memory: every record must come out unchanged.
 * @param at date of a reservation
 * @throws RelcatError with every conflict and every violation that is not accepted
 */
export function decideImport(
  records: readonly LiveRecord[],
  existing: Existing,
  options: ImportOptions,
  at: string,
): ImportPlan {
  const { names, changes } = planCatalog(records, existing, options.wire);
  const configText = catalogYaml(existing.configText, changes, options.schemas);
  const { config, problems } = settingsOf(
    `${existing.folder}/catalog.yaml`,
    configText === undefined ? undefined : Buffer.from(configText),
  );
  throwErrors(problems);

  const match = matchRecords(records, existing);
  throwErrors(match.problems);
  const releases = planReleases(records, match, { ...options, existing, config });
  const rebuilt = rebuildCatalog(releases, records, existing, config, configText !== existing.configText);
  throwErrors(rebuilt.problems);
  const { exceptions, violations } = planExceptions(rebuilt, existing, options.acceptViolations === true);
  throwErrors(becomePrivate(match, rebuilt, existing));
  const ledger = planLedger(match, rebuilt, existing, options.nextId, at);
  prove(records, match, rebuilt, ledger);

  const files = [
    { path: "catalog.yaml", text: configText === existing.configText ? undefined : configText },
    {
      path: "exceptions.yaml",
      text: sameExceptions(exceptions, existing.exceptions)
        ? undefined
        : exceptionsYaml(existing.exceptionsText, exceptions, options.schemas),
    },
    ...releases.flatMap(({ version, releaseYaml, manifests }) => [
      { path: `${version}/release.yaml`, text: releaseYaml },
      ...manifests.map(({ name, text }) => ({ path: `${version}/manifests/${name}`, text })),
    ]),
  ];
  return {
    files: files.flatMap(({ path, text }) => (text === undefined ? [] : [{ path, text }])),
    ledger,
    match,
    changes,
    wire: names,
    versions: releases.map(({ version }) => version),
    violations,
    hidden: [...match.added, ...match.revised].filter((record) => isHidden(record, rebuilt)).length,
  };
}

/** An import never hides a public record, because people may have installed it. */
function becomePrivate({ revised }: Match, rebuilt: RebuiltCatalog, { ledger }: Existing): Problem[] {
  return revised.flatMap((record) => {
    const entry = ledger.byId.get(record.id);
    return entry && !entry.private && isHidden(record, rebuilt) ? [recordPrivate(entry.add)] : [];
  });
}

function isHidden(record: LiveRecord, { byId }: RebuiltCatalog): boolean {
  const artifact = byId.get(record.id);
  return artifact !== undefined && isPrivate(artifact.content);
}

function planCatalog(records: readonly LiveRecord[], existing: Existing, given: Partial<Settings["wire"]>) {
  refuseTaken(given);
  const { names, problems } = wireNames(records, given, namesInUse(existing));
  throwErrors(problems);
  const types = new Set([
    ...Object.keys(existing.written.package_types ?? {}),
    ...[...existing.ledger.byId.values()].map(({ add }) => add.package_type),
  ]);
  const rows = catalogRows(records, { config: existing.config, types, vendor: names.vendor.name });
  const { wire: current } = existing.config;
  const changed = wireKeys.filter((key) => names[key].name !== current[key]);
  const wire = Object.fromEntries(changed.map((key) => [key, names[key].name]));
  return { names, changes: { wire, ...rows } };
}

/** Reported for the option, because no file contains the conflicting value yet. */
function refuseTaken(given: Partial<Settings["wire"]>): void {
  for (const key of wireKeys) {
    const name = given[key];
    if (name === undefined || !takenWireNames[key].includes(name)) continue;
    const message = `--wire ${key}=${name}: ${name} is taken by another part of data`;
    throw failure("usage", message, "Give the key under which the live records have it.");
  }
}

/** Names written in catalog.yaml, or used by existing records. */
function namesInUse({ written, config: { wire }, packages }: Existing): Partial<Settings["wire"]> {
  const used = (key: WireKey) =>
    packages.values().some(({ artifact }) => hasName(artifact.data, key, wire[key]));
  const kept = wireKeys.filter((key) => written.wire?.[key] ?? used(key));
  return Object.fromEntries(kept.map((key) => [key, wire[key]]));
}

function planExceptions({ before, found }: RebuiltCatalog, { exceptions }: Existing, accept: boolean) {
  const violations = unaccepted(exceptions, before, found).map(asViolation);
  if (violations.length === 0) return { exceptions, violations };
  if (!accept) throwErrors(violationProblems(violations));
  return { exceptions: extendExceptions(exceptions, before, found), violations };
}

function planLedger(
  match: Match,
  { byId }: RebuiltCatalog,
  { ledger }: Existing,
  nextId: number | undefined,
  at: string,
): LedgerChange {
  const changed = [...match.added, ...match.revised].sort((a, b) => a.id - b.id);
  const events = changed.flatMap((record) => {
    const artifact = byId.get(record.id);
    return artifact ? linesOf(record, artifact, ledger.byId.get(record.id)) : [];
  });
  const next = Math.max(ledger.nextId, (match.added.at(-1)?.id ?? 0) + 1);
  // Ids below `nextId` that the list does not show stay reserved.
  const isReserved = nextId !== undefined && nextId > next;
  return append(ledger, isReserved ? [...events, { event: "reserve", next_id: nextId, at }] : events);
}

export function importWarnings({ match }: ImportPlan): Problem[] {
  return match.gone.map(({ add }) => ({
    code: "import-gone",
    severity: "warning",
    message: `${recordName(add)} is no longer in the live catalog`,
    hint: `It stays here. To withdraw it: relcat retract ${add.id} --reason TEXT`,
  }));
}

/** Existing entries come first and change only their counts. @param text undefined: there is no file */
function exceptionsYaml(text: string | undefined, exceptions: readonly Exception[], schemas: string): string {
  if (text === undefined) return newFile(exceptions, schemas);
  const document = parseDocument(text);
  if (document.contents === null) return text.replace(/\n*$/, "\n") + lines(exceptions);
  for (const [index, exception] of exceptions.entries()) {
    if (document.hasIn([index])) document.setIn([index, "count"], exception.count);
    else document.addIn([], document.createNode(exception, { flow: true }));
  }
  return document.toString({ lineWidth: 0, flowCollectionPadding: true });
}

const newFile = (exceptions: readonly Exception[], schemas: string) =>
  `# yaml-language-server: $schema=../${schemas}/exceptions.schema.json
#
# What imported records break, accepted as history: so many problems of a rule in these versions, not one more.
${lines(exceptions)}`;

const lines = (exceptions: readonly Exception[]) =>
  exceptions
    .map(({ rule, versions, count }) => `- { rule: ${rule}, versions: "${versions}", count: ${count} }\n`)
    .join("");

interface CatalogChanges extends CatalogRows {
  wire: Partial<Settings["wire"]>;
}

/** Keeps comments and everything else. @param text undefined: there is no file */
function catalogYaml(text: string | undefined, changes: CatalogChanges, schemas: string): string | undefined {
  if (Object.values(changes).every((section) => Object.keys(section).length === 0)) return text;
  const document = parseDocument(text ?? newCatalog(schemas));
  if (!isMap(document.contents))
    document.contents = document.createNode({}) as unknown as typeof document.contents;
  for (const [key, name] of Object.entries(changes.wire)) put(document, ["wire", key], name);
  for (const [id, name] of Object.entries(changes.platforms)) put(document, ["platforms", id], name);
  for (const [type, row] of Object.entries(changes.package_types)) {
    if (document.hasIn(["package_types", type])) {
      for (const [key, value] of Object.entries(row)) put(document, ["package_types", type, key], value);
    } else put(document, ["package_types", type], document.createNode(row, { flow: true }));
  }
  return document.toString({ lineWidth: 0, flowCollectionPadding: true });
}

function put(document: Document, path: readonly string[], value: unknown): void {
  const [section = ""] = path;
  if (!document.has(section)) document.set(section, document.createNode({}));
  document.setIn(path, value);
}

const newCatalog = (schemas: string) => `# yaml-language-server: $schema=../${schemas}/catalog.schema.json
#
# Every field has a default. Key names, package types and platforms are those of the imported catalog: give the
# platforms their names, and the site its product, base_url and artifact_url.
`;

/** @throws RelcatError import-mismatch, and violations of the ledger's rules */
export function prove(
  records: readonly LiveRecord[],
  match: Match,
  { releases }: RebuiltCatalog,
  change: LedgerChange,
): void {
  const { ledger, problems } = readLedger({ file: "ledger.jsonl", text: change.after });
  const identified = assignIds(releases, ledger, () => true);
  const packages = new Map(
    identified.releases.flatMap((release) => release.packages.map((entry) => [entry.id, entry])),
  );
  const forbidden = identified.problems.filter(({ at }) => at !== undefined && isImported(at.file));
  const kept = new Set(match.kept.map(({ id }) => id));
  const wrong = records
    .filter(({ id }) => !kept.has(id))
    .flatMap((record) => mismatch(record, packages.get(record.id)));
  const all = [...problems, ...forbidden, ...wrong];
  if (all.length > 0) throw new RelcatError(all);
}

function mismatch(record: LiveRecord, built: Package | undefined): Problem[] {
  const fields = built ? differingFields(record, publishedRecord(built)) : ["the whole record"];
  if (built?.ledgerState !== "cut" && fields.length === 0) fields.push("content, by the ledger");
  if (fields.length === 0) return [];
  const message = `${recordName(record)} would come out differently: ${fields.join(", ")}`;
  const hint = "Nothing was written. This is a gap in relcat: please report it with the record.";
  return [{ code: "import-mismatch", severity: "error", message, hint }];
}
