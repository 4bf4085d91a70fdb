import { failure, type Problem, type RelcatError, throwErrors } from "../../shared/errors.ts";
import type { Settings } from "../documents/config.ts";
import { lease } from "../documents/publish-turn.ts";
import { type BuildDocument, type NotesDocument, notesDocumentSchema } from "../documents/site.ts";
import type { SiteIndex, SiteState } from "../documents/site-state.ts";
import type { PublicFile, SiteStore } from "../documents/site-store.ts";
import { isOwnMachine, type SiteSettings } from "../documents/sites.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { beginsWith } from "../ledger/ledger-mark.ts";
import { shellWord } from "../project/display.ts";
import { changedOrigin } from "../site/feeds/apt.ts";
import { inParallel } from "../system/in-parallel.ts";
import { dateText } from "../trust/feeds/certificates.ts";
import { suiteEnds } from "../trust/feeds/release-file.ts";
import { refuseUnsignedFeeds } from "../trust/feeds/sign-feeds.ts";
import { verified } from "../trust/live-metadata.ts";
import {
  metadataPath,
  readRoot,
  readSnapshot,
  readTargets,
  readTimestamp,
  type SignedRoot,
  type SignedSnapshot,
  type SignedTimestamp,
  sha256,
  signingDate,
} from "../trust/metadata.ts";
import { notSigned, proveBuild, Unproved } from "../trust/prove-build.ts";
import { clockTolerance, dateOf, renewal } from "../trust/roles.ts";
import { isSigned, sourceOf, timestampPath } from "../trust/site-files.ts";
import type { LocalBuild } from "./local-build.ts";
import { hasDied, type Publisher } from "./stores/publishers.ts";

/** Refuses a build for another address, and a provisional one for a permanent site. @throws RelcatError */
export function refuseUnfitBuild(build: BuildDocument, site: SiteSettings): void {
  if (build.base_url !== site.baseUrl) {
    throw failure(
      "build-other-site",
      `the build is for ${build.base_url}, and ${site.name} is at ${site.baseUrl}`,
      `Build it for that site: relcat build --released --site ${site.name}`,
    );
  }
  if (!site.settles) return;
  if (build.provisional.length > 0) {
    throw failure(
      "build-provisional",
      `the build has content that is not cut: ${build.provisional.join(", ")}`,
      "Build only cut releases: relcat build --released",
    );
  }
  refuseUnsignedFeeds(build);
  refuseOwnMachine(site);
}

/** Refuses a permanent site whose address no reader can reach. @throws RelcatError build-other-site */
export function refuseOwnMachine({ name, baseUrl }: SiteSettings): void {
  if (!isOwnMachine(baseUrl)) return;
  throw failure(
    "build-other-site",
    `${name} would send its readers to ${baseUrl}, which is their own machine`,
    "Set base_url in catalog.yaml to the address of the site.",
  );
}

/** Refuses a checkout that lacks published ledger lines. @throws RelcatError site-newer */
export function refuseOlderLedger(ledger: Ledger, state: SiteState, site: SiteSettings): void {
  if (beginsWith(ledger, state.ledger_high)) return;
  throw failure(
    "site-newer",
    `${site.name} has a ledger of ${state.ledger_high.lines} public lines that the one here does not begin with`,
    "This checkout is older than the published state, or on another branch: publish from the newest main.",
  );
}

/** Refuses a checkout older than the live commit: a late approval or repeated job. @throws RelcatError site-newer */
export async function refuseOvertaken(
  isOvertaken: (commit: string) => Promise<boolean>,
  { commit }: SiteState,
  { name }: SiteSettings,
): Promise<void> {
  if (commit === null || !(await isOvertaken(commit))) return;
  throw failure(
    "site-newer",
    `${name} has the build of commit ${shortId(commit)}, which is newer than the commit here`,
    `Publish from the newest main. To go back on purpose: relcat rollback ${name} --reason TEXT`,
  );
}

/** Refuses a held site, and a build older than the live one. @throws RelcatError site-held, build-stale */
export function refuseHeld(
  { document: build, folder }: { document: BuildDocument; folder: string },
  state: SiteState,
  site: SiteSettings,
): void {
  if (build.at !== undefined && build.at !== state.hold?.commit) {
    throw failure(
      "build-stale",
      `the build is of an earlier commit, ${build.at.slice(0, 12)}, and ${site.name} has another commit`,
      `To go back to it: relcat rollback ${site.name} --out ${shellWord(folder)} --reason TEXT`,
    );
  }
  refuseHold(holdOn(build, state), site);
}

/** @throws RelcatError site-held */
export function refuseHold(hold: SiteState["hold"], site: SiteSettings): void {
  if (!hold) return;
  const at = hold.commit?.slice(0, 12) ?? "COMMIT";
  throw failure(
    "site-held",
    `${site.name} has been held since ${hold.since} by ${hold.by}: ${hold.reason}`,
    `When that is repaired: relcat ${site.settles ? "release" : "publish"} ${site.name} --release-hold. To withdraw a package in the meantime: relcat build --released --at ${at} --site ${site.name} --out earlier, then, if the site is signed, relcat sign --site ${site.name} --out earlier, then relcat publish ${site.name} --out earlier`,
  );
}

/** The hold that keeps a build back; null: none. A build of an earlier commit goes live for a withdrawal. */
export const holdOn = ({ at }: BuildDocument, { hold }: SiteState): SiteState["hold"] =>
  at === undefined ? hold : null;

/** Refuses a site that another run is publishing to. @throws RelcatError site-taken */
export function refuseTaken(state: SiteState, { now, publisher }: { now: number; publisher: Publisher }) {
  const left = Date.parse(state.lease_until) - now;
  // A lease that lasts longer was dated by a clock that was ahead.
  if (state.state === "done" || left <= 0 || left > lease + clockTolerance) return;
  if (hasDied({ name: state.publisher, run: state.run }, publisher)) return;
  throw failure(
    "site-taken",
    `${state.publisher} is publishing ${shortId(state.build)} there, until ${state.lease_until} at the latest`,
    "Nothing was changed. Run the command again after that.",
  );
}

/** @throws RelcatError build-unsigned */
export function refuseUnsigned({ signed, folder }: LocalBuild, site: string): void {
  if (signed !== null) return;
  throw failure(
    "build-unsigned",
    `${folder} is not signed, or was built again since, and catalog.yaml requires signatures`,
    `Sign it, continuing from the published metadata: relcat sign --site ${site}`,
  );
}

/** Refuses files added between `sign` and `publish`. @throws RelcatError build-unproved, naming the first file */
export async function refuseForged(local: LocalBuild, root: SignedRoot, site: string): Promise<void> {
  try {
    await proveLocal(local, root);
  } catch (error) {
    if (!(error instanceof Unproved)) throw error;
    throw failure(
      "build-unproved",
      `${local.folder}/${error.path} ${error.reason}`,
      `Nothing was published. Build and sign it again: relcat build --released, then relcat sign --site ${site}`,
    );
  }
}

async function proveLocal(local: LocalBuild, root: SignedRoot): Promise<void> {
  const known = new Set(local.files.map(({ path }) => sourceOf(path)));
  const read = async (path: string) => (known.has(path) ? local.read(path) : undefined);
  const bytes = await read(timestampPath);
  const timestamp = bytes && verified(bytes, readTimestamp, root, "timestamp");
  if (!timestamp) throw new Unproved(timestampPath, notSigned);
  const { version } = timestamp.metadata.signed.snapshotMeta;
  const proved = await proveBuild(read, metadataPath("snapshot", version), root);
  if (proved.id !== local.id) throw new Unproved("build.json", "is not the one that was signed");
  for (const { path, sha256, from } of local.files) {
    const source = sourceOf(path);
    // The proved build.json has the digests of copies.
    const isCovered = from !== undefined || proved.files.get(source)?.sha256 === sha256;
    if (!isCovered && !isSigned(source) && source !== timestampPath)
      throw new Unproved(source, "is not covered by a signature");
  }
}

/** A signed site must stay signed, because its readers check signatures. */
export const unsigned = (what: string, site: string, { trust }: Settings): RelcatError =>
  failure(
    "build-unsigned",
    `${site} is signed, and ${what} is not`,
    trust.profile === "none"
      ? "Its readers check signatures: set trust: simple or full in catalog.yaml again."
      : `Sign it, continuing from the published metadata: relcat sign --site ${site}`,
  );

interface Signatures {
  timestamp: SignedTimestamp;
  snapshot: SignedSnapshot;
}

function signaturesOf({ read }: LocalBuild): Signatures {
  const timestamp = readTimestamp(read(timestampPath));
  const { version } = timestamp.metadata.signed.snapshotMeta;
  return { timestamp, snapshot: readSnapshot(read(metadataPath("snapshot", version))) };
}

const rolesIn = ({ snapshot }: Signatures): [string, number][] =>
  Object.entries(snapshot.metadata.signed.meta).map(([file, { version }]) => [
    file.slice(0, -".json".length),
    version,
  ]);

/** Signatures may have expired between signing and publishing. @throws RelcatError build-unsigned, clock */
export function refuseEndedSignatures(local: LocalBuild, site: string, now: number): void {
  const signatures = signaturesOf(local);
  const { signed } = signatures.timestamp.metadata;
  const date = signingDate(signed) ?? 0;
  if (date > now + clockTolerance)
    throw failure(
      "clock",
      `${local.folder} was signed on ${dateOf(date)}, and the clock gives ${dateOf(now)}`,
      `Set the clock of this machine. If it is right, the other one was ahead, so sign again: relcat sign --site ${site}`,
    );
  const ends = [
    ["root", newestRoot(local).expires],
    ["timestamp", signed.expires],
    ["snapshot", signatures.snapshot.metadata.signed.expires],
    ...rolesIn(signatures).map(([role, version]) => {
      const part = readTargets(local.read(metadataPath(role, version)));
      return [role, part.metadata.signed.expires] as const;
    }),
    ...suiteEnds(local.files, local.read),
  ] as const;
  const ended = ends.find(([, expires]) => Date.parse(expires) <= now);
  if (!ended) return;
  const [role, expires] = ended;
  throw failure(
    "build-unsigned",
    `${local.folder} has expired: its ${role} ended on ${expires}`,
    role === "root" || role === "targets"
      ? `${renewal(role)}. Then sign again: relcat sign --site ${site}`
      : `Sign it again: relcat sign --site ${site}`,
  );
}

function newestRoot({ files, read }: LocalBuild) {
  const versions = files.flatMap(({ path }) => /^metadata\/(\d+)\.root\.json$/.exec(path)?.[1] ?? []);
  return readRoot(read(metadataPath("root", Math.max(...versions.map(Number))))).metadata.signed;
}

/** Clients remember the highest versions and reject lower ones. @throws RelcatError site-newer */
export function refuseOlderSignatures(local: LocalBuild, live: Signatures, site: string): void {
  const own = signaturesOf(local);
  if (sha256(own.timestamp.bytes) === sha256(live.timestamp.bytes)) return;
  const here = new Map(versionsOf(own));
  for (const [role, theirs] of versionsOf(live)) {
    const ours = here.get(role) ?? 0;
    // Another timestamp needs a higher version.
    if (ours > theirs || (ours === theirs && role !== "timestamp")) continue;
    throw failure(
      "site-newer",
      `${local.folder} was signed before the live build at ${site}: its ${role} has version ${ours}, and there is ${theirs}`,
      `Sign it again, continuing from the published metadata: relcat sign --site ${site}`,
    );
  }
}

function versionsOf(signatures: Signatures): [string, number][] {
  const { version, snapshotMeta } = signatures.timestamp.metadata.signed;
  return [["timestamp", version], ["snapshot", snapshotMeta.version], ...rolesIn(signatures)];
}

export const shortId = (build: string | null): string => build?.slice(0, 12) ?? "nothing";

/**
 * Another Origin or Label of apt stops updates until an administrator accepts it, and `.repo` files name the address of
 * the certificate. @param live paths of the site's files @throws RelcatError origin-changed
 */
export async function requireSameOrigins(
  store: Pick<SiteStore, "read">,
  live: Readonly<Record<string, unknown>>,
  { files, read }: { files: readonly { path: string }[]; read: LocalBuild["read"] },
  site: string,
): Promise<void> {
  const changed: string[] = [];
  for (const { path } of files) {
    if (!/^dists\/[^/]+\/Release$/.test(path) || !Object.hasOwn(live, path)) continue;
    const bytes = await store.read(path);
    for (const { field, live, next } of bytes ? changedOrigin(text(bytes), text(read(path))) : [])
      changed.push(`${field} of apt is ${next}, and was ${live}`);
  }
  const [before, after] = [Object.keys(live), files.map(({ path }) => path)].map((paths) =>
    paths.find((path) => certificateOfProduct.test(path)),
  );
  if (before && after && before !== after) changed.push(`the certificate is ${after}, and was ${before}`);
  if (changed.length === 0) return;
  throw failure(
    "origin-changed",
    `${site} has other names for package managers: ${[...new Set(changed)].join("; ")}`,
    "apt-get update stops on every machine until its administrator accepts another Origin or Label, and unattended upgrades and pins no longer match. " +
      "dnf and zypper get the certificate only from the earlier address. Set product, feeds.apt.origin and feeds.apt.label in catalog.yaml to the earlier values; " +
      "brand.name is the name on pages. To change them on purpose, build and sign, then: " +
      `relcat publish ${site} --allow-changed-origin`,
  );
}

/** Others in keys/ are named by their fingerprint, or certify those who sign rpms, and end with a key id. */
const certificateOfProduct = /^keys\/(?![0-9A-F]{40}\.|.*-rpm-[0-9a-f]{16}\.)[^/]+\.asc$/;

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

interface Notes {
  files: readonly Pick<PublicFile, "path" | "sha256">[];
  read: (path: string) => Uint8Array | undefined;
}

/** Changed notes need the day of the correction in release.yaml. @throws RelcatError notes-changed, for each release */
export async function requireCorrections(
  store: Pick<SiteStore, "read">,
  published: SiteIndex | undefined,
  { files, read }: Notes,
  { site, now }: { site: string; now: number },
): Promise<void> {
  const changed = files.filter(({ path, sha256 }) => {
    const before = /^releases\/[^/]+\/notes\.json$/.test(path) && published?.files[path]?.sha256;
    return before && before !== sha256;
  });
  const problems = await inParallel(changed, 8, async ({ path }): Promise<Problem[]> => {
    const ours = parsed(read(path));
    const live = parsedLive(await store.read(path));
    const refused = (message: string, hint: string): Problem[] => [
      { code: "notes-changed", severity: "error", message, hint },
    ];
    const gone = live ? advisoriesOf(live).filter((id) => !advisoriesOf(ours).includes(id)) : [];
    if (gone.length > 0)
      return refused(
        `the notes of ${ours.version} at ${site} describe ${gone.join(", ")}, which the notes here do not`,
        "Restore the id: it is permanent. Change the text of its note, and add corrected: with the day.",
      );
    if (isCorrected(ours, live, now)) return [];
    return refused(
      `the notes of ${ours.version} differ from those at ${site}, and its release.yaml does not have the day of this correction`,
      `Add corrected: ${dateText(now)} there, which the page of the release will show, or restore the notes. Then build and sign again.`,
    );
  });
  throwErrors(problems.flat());
}

const advisoriesOf = ({ sections }: NotesDocument): string[] =>
  sections.flatMap(({ kinds }) =>
    kinds.flatMap(({ notes }) => notes.flatMap(({ advisory }) => advisory?.id ?? [])),
  );

const parsed = (bytes: Uint8Array | undefined): NotesDocument =>
  notesDocumentSchema.parse(JSON.parse(new TextDecoder().decode(bytes)));

/** undefined: the document was damaged at the site, so the notes may differ. */
function parsedLive(bytes: Uint8Array | undefined): NotesDocument | undefined {
  try {
    return parsed(bytes);
  } catch {
    return undefined;
  }
}

function isCorrected(ours: NotesDocument, live: NotesDocument | undefined, now: number): boolean {
  const [day = "", before = ""] = [ours.corrected, live?.corrected];
  if (live && day === before && textsOf(ours) === textsOf(live)) return true;
  // Two corrections of one day have the same date. The author's day may be that before or after the one in UTC.
  const [yesterday, tomorrow] = [dateText(now - 86_400_000), dateText(now + 86_400_000)];
  // Notes may be corrected before the day of their release.
  return day <= tomorrow && (day >= yesterday || (day >= ours.date && day > before));
}

/** In any order, because settings decide it. */
const textsOf = ({ summary, sections }: NotesDocument): string =>
  sections
    .flatMap(({ component, kinds }) =>
      kinds.flatMap(({ kind, notes }) => notes.map((note) => JSON.stringify([component, kind, note]))),
    )
    .concat(JSON.stringify(summary))
    .sort()
    .join();
