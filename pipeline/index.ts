/**
 * relcat as a library: the functions the command line itself is made of. Everything takes what it needs
 * as arguments (folder, clock, process id) and throws RelcatError for what a user can mend.
 */
export { buildCatalog, type Catalog, loadCatalog, type Selection, type Site } from "./build.ts";
export { artifactProblems } from "./check-artifacts.ts";
export { ledgerGrowthProblems, unresolvedMergeProblems } from "./check-ledger.ts";
export {
  type Cut,
  type CutOptions,
  decideCut,
  decideReinstate,
  decideRetract,
  decideUncut,
  type LedgerChange,
  type RetractOptions,
} from "./cut.ts";
export {
  build,
  type CutRequest,
  cut,
  readLedgerNow,
  reinstate,
  retract,
  type Surroundings,
  uncut,
} from "./deliver.ts";
export { addNote, init, openRelease } from "./deliver-authored.ts";
export { type DownloadDelivery, downloadArtifact } from "./deliver-download.ts";
export { type Import, type ImportRequest, importCatalog } from "./deliver-import.ts";
export { type InspectedFile, type InspectRequest, inspectFiles } from "./deliver-inspect.ts";
export { type Delivered, type Destination, ingest } from "./deliver-manifest.ts";
export { type PostedManifest, postManifest, runAfterPost } from "./deliver-post.ts";
export {
  type ChangedFile,
  type PublishDelivery,
  type PublishOptions,
  publishSite,
} from "./deliver-publish.ts";
export { type RebasedLedger, rebaseLedger } from "./deliver-rebase.ts";
export { refreshSite } from "./deliver-refresh.ts";
export {
  metadataAtSite,
  type RollbackOptions,
  readSiteState,
  rollbackSite,
} from "./deliver-rollback.ts";
export { type SignDelivery, signSite } from "./deliver-sign.ts";
export type { Delivery } from "./deliver-site.ts";
export {
  beginSiteTrust,
  describeTrust,
  type RotatedRole,
  rotateKey,
  signTrust,
  type TrustDelivery,
} from "./deliver-trust.ts";
export { type UploadDelivery, type UploadRequest, upload } from "./deliver-upload.ts";
export type { Config, Expectation } from "./documents/config.ts";
export type { LedgerEvent } from "./documents/ledger.ts";
export type { Manifest, WrittenArtifact } from "./documents/manifest.ts";
export type { Note } from "./documents/note.ts";
export type { PackageRecord, WireRecord } from "./documents/package-record.ts";
export type { FieldChange, Plan, PlanRow } from "./documents/plan.ts";
export type { OutputFile, PublishedPackage, PublishedRelease } from "./documents/published.ts";
export type { BuildDocument, LatestDocument, ReleaseDocument, ReleaseIndex } from "./documents/site.ts";
export { notesDocument, notesHtml, notesMarkdown, notesText } from "./emitters/release-notes.ts";
export {
  type Code,
  codes,
  exitStatus,
  type Place,
  type Problem,
  RelcatError,
  throwErrors,
} from "./errors.ts";
export { eventTime, timeGiven } from "./event-time.ts";
export {
  findLedgerBase,
  isShallowInCi,
  type LedgerBase,
  lostLines,
  shallowWarning,
  whyNotCompared,
} from "./guard-ledger.ts";
export { decideImport, type ImportOptions, type ImportPlan } from "./import/import.ts";
export { countByRule, type Violation } from "./import/violations.ts";
export { loadConfiguration } from "./ingest/configuration.ts";
export type { Ingested, IngestRequest, IngestSurroundings } from "./ingest/ingest.ts";
export { type ListedRecord, listRecords } from "./list-records.ts";
export type { NewNote } from "./note-fragment.ts";
export type { Opening, OpenReleaseOptions } from "./open-release.ts";
export { accessFailure } from "./outside/access-failure.ts";
export { requireFolder } from "./outside/files.ts";
export { requireTarget, writeText } from "./outside/folders.ts";
export { packageFolder } from "./outside/templates.ts";
export { watchFolder } from "./outside/watch-folder.ts";
export { readPlan } from "./plan/read-plan.ts";
export { type Decided, hasChanges, type PlanRequest, planCatalog } from "./plan.ts";
export { maxPostedBytes } from "./post/read-posted.ts";
export { PostRefused } from "./post/refused.ts";
export { type ChosenRecords, type RecordChoice, selectRecords } from "./select-records.ts";
export { showNotes } from "./show-notes.ts";
export { loadConfig, noteProblems, requireVersions } from "./show-release.ts";
export { type RoleEnd, type SiteStatus, siteStatuses } from "./site-status.ts";
export { parseJson } from "./stages/json.ts";
export type { Ledger } from "./stages/ledger.ts";
export type { Entry } from "./stages/ledger-records.ts";
export { SyntaxProblem } from "./stages/source.ts";
export {
  type CatalogStatus,
  catalogStatus,
  countCatalog,
  type NextStep,
  type ReleaseStatus,
} from "./status.ts";
export { awaitBuild } from "./verify/expect-build.ts";
export { type FileAnswer, identifyFiles } from "./verify/identify.ts";
export { findPlace, type KnownPlace } from "./verify/place.ts";
export { type Finding, usualGrace, type Verdict, verifySite } from "./verify.ts";
