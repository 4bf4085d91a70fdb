/**
 * relcat as a library: the functions behind the command line. Everything takes its inputs as arguments
 * (folder, clock, process id) and throws RelcatError for errors that the user can correct.
 */

export {
  type Code,
  codes,
  exitStatus,
  type Place,
  type Problem,
  RelcatError,
  throwErrors,
} from "../shared/errors.ts";
export { parseJson } from "../shared/json.ts";
export { packageFolder } from "../shared/package-folder.ts";
export { SyntaxProblem } from "../shared/source.ts";
export type { BuildProgress } from "./build.ts";
export { type ChannelRequest, changeChannel, unknownChannel } from "./channels/change-channel.ts";
export { channelStates, versionsInNoChannel } from "./channels/channel-states.ts";
export { type BuildContext as BuildSurroundings, build } from "./deliver.ts";
export type { Config, Expectation } from "./documents/config.ts";
export type { FeedKeyState } from "./documents/feeds/keys.ts";
export type { LedgerEvent } from "./documents/ledger.ts";
export type { Manifest, WrittenArtifact } from "./documents/manifest.ts";
export type { Note } from "./documents/note.ts";
export type {
  Affected,
  FeedGap,
  ReleaseStatus,
  RoleEnd,
  SiteStatus,
  SupportEnd,
} from "./documents/outputs/catalog.ts";
export type { ChannelState } from "./documents/outputs/ledger.ts";
export type { ChangedFile, DownloadDelivery, PublishDelivery } from "./documents/outputs/sites.ts";
export type { FeedKeyDelivery, FeedKeyEnd, SignDelivery, TrustDelivery } from "./documents/outputs/trust.ts";
export type { PackageRecord, WireRecord } from "./documents/package-record.ts";
export { pageTemplates } from "./documents/pages/page-templates.ts";
export type { FieldChange, Plan, PlanRow } from "./documents/plan.ts";
export type { OutputFile, PublishedPackage, PublishedRelease } from "./documents/published.ts";
export type { BuildDocument, LatestDocument, ReleaseDocument, ReleaseIndex } from "./documents/site.ts";
export { ejectTemplate, replacedTemplates } from "./intake/authoring/eject-template.ts";
export { addNote, type NewNote, openRelease } from "./intake/authoring/new-files.ts";
export { init, type NewProject, type StartedProject } from "./intake/authoring/new-project.ts";
export type { Opening, OpenReleaseOptions } from "./intake/authoring/open-release.ts";
export { type Filled, type FillRequest, fillManifests } from "./intake/fill/fill.ts";
export { decideImport, type ImportOptions, type ImportPlan } from "./intake/import/import.ts";
export {
  type Import,
  type ImportProgress,
  type ImportRequest,
  importCatalog,
} from "./intake/import/import-catalog.ts";
export { countByRule, type Violation } from "./intake/import/violations.ts";
export type { IngestContext as IngestSurroundings, Ingested, IngestRequest } from "./intake/ingest/ingest.ts";
export { type Delivered, type Destination, ingest } from "./intake/ingest/store-manifest.ts";
export { type PostedManifest, postManifest, runAfterPost } from "./intake/post/post-manifest.ts";
export { maxPostedBytes, PostRefused } from "./intake/post/read-posted.ts";
export type { Catalog } from "./ledger/catalog.ts";
export { ledgerGrowthProblems, unresolvedMergeProblems } from "./ledger/check-ledger.ts";
export { type Cut, type CutOptions, decideCut } from "./ledger/cut.ts";
export type { Ledger, LedgerChange } from "./ledger/ledger.ts";
export {
  findLedgerBase,
  isShallowInCi,
  type LedgerBase,
  lostLines,
  shallowWarning,
  whyNotCompared,
} from "./ledger/ledger-base.ts";
export { type LedgerContext as LedgerSurroundings, readLedgerNow } from "./ledger/ledger-file.ts";
export type { Entry } from "./ledger/ledger-records.ts";
export { loadCatalog, type Selection } from "./ledger/load-catalog.ts";
export { type RebasedLedger, rebaseLedger } from "./ledger/rebase.ts";
export { decideReinstate, decideRetract, type RetractOptions, reinstate, retract } from "./ledger/retract.ts";
export {
  type ChangedMetadata,
  changedMetadata,
  settledMetadata,
  unmergedMetadata,
} from "./ledger/settled-metadata.ts";
export { decideUncut, uncut } from "./ledger/uncut.ts";
export { affectedBy } from "./plan/affected.ts";
export { type CutRequest, cut } from "./plan/cut.ts";
export { type ListedCatalog, type ListedRecord, listRecords, readCutRelease } from "./plan/list-records.ts";
export { type Decided, hasChanges, type PlanRequest, planCatalog } from "./plan/plan.ts";
export { readPlan } from "./plan/read-plan.ts";
export { type ChosenRecords, type RecordChoice, selectRecords } from "./plan/select-records.ts";
export { noteProblems, showNotes } from "./plan/show-notes.ts";
export {
  type CatalogStatus,
  catalogStatus,
  countCatalog,
  type NextStep,
  supportEnds,
} from "./plan/status.ts";
export { artifactProblems, unprovedMetadata } from "./policy/check-artifacts.ts";
export { type InspectedFile, type InspectRequest, inspectFiles } from "./policy/inspect-files.ts";
export { missingPurges } from "./project/config-rules.ts";
export { eventTime, timeGiven } from "./project/event-time.ts";
export { requireVersions } from "./project/known-versions.ts";
export { loadSettings, openSettings, type ProjectSettings } from "./project/settings.ts";
export { provePushed } from "./publish/guards.ts";
export {
  holdAgainst,
  metadataAtSite,
  type PublishOptions,
  readSiteState,
} from "./publish/open-publishing.ts";
export { preflight } from "./publish/preflight.ts";
export { type PublishNotes, publishSite } from "./publish/publish.ts";
export { refreshSite } from "./publish/refresh.ts";
export {
  commandsToPush,
  needsPush,
  pushBranch,
  type ReleaseSteps,
  releaseSteps,
} from "./publish/release.ts";
export { type RollbackOptions, rollbackSite } from "./publish/rollback.ts";
export { siteStatuses } from "./publish/site-status.ts";
export { type UploadDelivery, type UploadRequest, upload } from "./publish/upload-artifacts.ts";
export type { BuiltSite, Delivery } from "./site/built-site.ts";
export { feedGapProblems, feedGaps, newFeedGaps } from "./site/feeds/feed-gaps.ts";
export { hostFiles } from "./site/host-files.ts";
export { notesDocument, notesHtml, notesMarkdown, notesText } from "./site/release-notes.ts";
export { buildCatalog, type Site } from "./site/whole-site.ts";
export { accessFailure } from "./system/access-failure.ts";
export { requireFolder } from "./system/files.ts";
export { requireTarget, writeText } from "./system/folders.ts";
export { isBelowRoot } from "./system/git/git.ts";
export type { CommandContext as Surroundings } from "./system/lock.ts";
export { watchFolder } from "./system/watch-folder.ts";
export { withWorkFolder } from "./system/work-folder.ts";
export { feedKeyEnds } from "./trust/feeds/certificates.ts";
export { endingTrust, signSite } from "./trust/sign-site.ts";
export {
  beginFeedKeys,
  type NewFeedKey,
  type RotationStep,
  rotateFeedKey,
} from "./trust/site-feed-keys.ts";
export { timestampPath } from "./trust/site-files.ts";
export { beginPackslipKey, pinnedPackslipKey } from "./trust/site-packslip-key.ts";
export {
  beginSiteTrust,
  describeTrust,
  type RotatedRole,
  rotateKey,
  signTrust,
  undelegatedYears,
} from "./trust/site-trust.ts";
export { downloadArtifact } from "./verify/download-artifact.ts";
export { awaitBuild } from "./verify/expect-build.ts";
export { type FileAnswer, identifyFiles } from "./verify/identify.ts";
export { findPlace, type TrustedPlace } from "./verify/place.ts";
export { type Finding, usualGrace, type Verdict, verifySite } from "./verify/verify.ts";
