/**
 * relcat as a library: the functions the command line itself is made of. Everything takes what it needs
 * as arguments (folder, clock, process id) and throws RelcatError for what a user can mend.
 */
export { buildCatalog, type Catalog, loadCatalog, type Selection, type Site } from "./build.ts";
export { ledgerGrowthProblems } from "./check-ledger.ts";
export {
  type Cut,
  type CutOptions,
  decideCut,
  decideReinstate,
  decideRetract,
  decideUncut,
  eventTime,
  type LedgerChange,
  type RetractOptions,
} from "./cut.ts";
export {
  addNote,
  build,
  type CutRequest,
  cut,
  type Delivery,
  init,
  openRelease,
  readLedgerNow,
  reinstate,
  retract,
  type Surroundings,
  uncut,
} from "./deliver.ts";
export { type Import, type ImportRequest, importCatalog } from "./deliver-import.ts";
export { type Delivered, type Destination, ingest } from "./deliver-manifest.ts";
export { type RebasedLedger, rebaseLedger } from "./deliver-rebase.ts";
export type { Config, Expectation } from "./documents/config.ts";
export type { LedgerEvent } from "./documents/ledger.ts";
export type { Manifest, WrittenArtifact } from "./documents/manifest.ts";
export type { Note } from "./documents/note.ts";
export type { PackageRecord, WireRecord } from "./documents/package-record.ts";
export type { FieldChange, Plan, PlanRow } from "./documents/plan.ts";
export type { OutputFile, PublishedPackage, PublishedRelease } from "./documents/published.ts";
export type { BuildDocument, LatestDocument, ReleaseDocument, ReleaseIndex } from "./documents/site.ts";
export { notesDocument, notesHtml, notesMarkdown, notesText } from "./emitters/release-notes.ts";
export { type Code, codes, exitStatus, type Place, type Problem, RelcatError } from "./errors.ts";
export { decideImport, type ImportOptions, type ImportPlan } from "./import/import.ts";
export { countByRule, type Violation } from "./import/violations.ts";
export type { Ingested, IngestRequest, IngestSurroundings } from "./ingest/ingest.ts";
export type { NewNote } from "./note-fragment.ts";
export type { Opening, OpenReleaseOptions } from "./open-release.ts";
export { writeText } from "./outside/folders.ts";
export { readPlan } from "./plan/read-plan.ts";
export { type Decided, hasChanges, type PlanRequest, planCatalog } from "./plan.ts";
export { type ChosenRecords, type RecordChoice, selectRecords } from "./select-records.ts";
export { loadConfig, noteProblems, requireVersions, showRelease } from "./show-release.ts";
export type { Entry, Ledger } from "./stages/ledger.ts";
export {
  type CatalogStatus,
  catalogStatus,
  countCatalog,
  type NextStep,
  type ReleaseStatus,
} from "./status.ts";
