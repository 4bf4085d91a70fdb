import { createHash } from "node:crypto";
import { failure, type Problem, RelcatError } from "../../shared/errors.ts";
import { decode } from "../../shared/source.ts";
import type { Config } from "../documents/config.ts";
import type { Plan } from "../documents/plan.ts";
import { type BuildDocument, buildSchema } from "../documents/site.ts";
import { type LiveRecord, readRecords } from "../intake/import/read-records.ts";
import { wireNames } from "../intake/import/wire-names.ts";
import { assignIds, type IdentifiedRelease } from "../ledger/assign-ids.ts";
import type { Catalog } from "../ledger/catalog.ts";
import type { Cut } from "../ledger/cut.ts";
import { type Ledger, readLedger } from "../ledger/ledger.ts";
import { loadCatalog } from "../ledger/load-catalog.ts";
import { filesOf } from "../project/authored-files.ts";
import { emitSite, type Sources } from "../site/emit.ts";
import { readIfPresent } from "../system/files.ts";
import { isInRepository } from "../system/git/git.ts";
import { whyNotYet } from "../system/git/git-revision.ts";
import { readTree } from "../system/git/git-tree.ts";
import { pathInfo, readInput, refuseScheme } from "../system/input-files.ts";
import { fetchBytes } from "../system/network/fetch.ts";
import { emptySnapshot, type Snapshot, snapshotOf, snapshotOfList } from "./snapshot.ts";

export interface BaselineRequest {
  /** A built folder, a site's address or a file with its list; undefined: the settled revision. */
  against?: string | undefined;
  /** Git revision with the settled ledger lines, or "none" for an empty baseline; default: ledger.base. */
  ledgerBase?: string | undefined;
  /** When to use the local ledger: if git fails, or always. */
  ledger?: "instead-of-failing" | "only" | undefined;
}

/** SHA-256 of each file of a site, by path. */
export type DocumentHashes = ReadonlyMap<string, string>;

export interface Baseline {
  kind: Plan["baseline"]["kind"];
  /** Revision, URL, folder or file, as the user named it. */
  name: string;
  commit: string | null;
  snapshot: Snapshot;
  /** Its key names inside `data`. */
  wire: Config["wire"];
  /** Configuration and ledger, if it is a complete catalog. */
  config?: Config;
  ledger?: string;
  /** Provisional versions, whose content was not permanent. */
  provisional: ReadonlySet<string>;
  /** undefined: unknown. */
  documents: DocumentHashes | undefined;
  /** Number of errors that hide parts of it; these parts appear as added. */
  problems: number;
}

/**
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
  const reason = !isInRepository(catalog.folder)
    ? "no-repository"
    : named === undefined && (await whyNotYet(catalog.folder, revision));
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
    ledger: ledger.text(),
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

const withoutCommit = { commit: null, provisional: new Set<string>(), problems: 0 };

/** Used if nothing is published, or the published state is unknown. */
const emptyBaseline = ({ config }: Catalog, name: string, sources: Sources | undefined): Baseline => ({
  ...withoutCommit,
  kind: "nothing",
  name,
  snapshot: emptySnapshot,
  wire: config.wire,
  documents: sources && new Map(),
});

/** Everything in the ledger, so that the plan shows what a cut adds. */
function ledgerBaseline(catalog: Catalog, sources: Sources | undefined): Baseline {
  const { ledger, config } = catalog;
  const text = ledger.text();
  const present = afterCut(catalog, { events: [], before: text, after: text, at: "" } satisfies Cut);
  return {
    ...withoutCommit,
    kind: "ledger",
    name: ledger.file,
    snapshot: snapshotOf(present.releases, ledger, config),
    wire: config.wire,
    config,
    documents: sources && hashDocuments(present, sources),
  };
}

const listPath = "api/v1/package/";

const notComparable = "Nothing can be compared with it. Is it the complete, unchanged list of a catalog?";

/** Large enough for any catalog: 25,000 records have 22 MB. */
const maxListBytes = 256 * 1024 * 1024;

/**
 * @param against a built folder, a site's address, or a file with the list
 * @param ours our key names inside `data`, used if the live records contain none
 * @throws RelcatError input-missing, network, import-list, import-record …
 */
async function liveBaseline(against: string, ours: Config["wire"]): Promise<Baseline> {
  const { name, list, listName, build } = await readLive(against);
  const records = readRecords(decode(listName, list, maxListBytes), notComparable);
  const site = build && readBuild(build);
  return {
    ...withoutCommit,
    kind: "live",
    name,
    snapshot: snapshotOfList(records),
    wire: liveWire(records, ours),
    provisional: new Set(site?.provisional),
    documents: site && new Map(Object.entries(site.files).map(([path, { sha256 }]) => [path, sha256])),
  };
}

/** The list of a published catalog and its source as bytes, and build.json if there is one. */
async function readLive(against: string) {
  if (/^https?:\/\//i.test(against)) return readSite(siteAddress(against));
  refuseScheme(against);
  const { kind } = pathInfo(against);
  if (kind === "missing") {
    const hint = "Give --against a built folder, an address starting with https://, or a file with the list.";
    throw failure("input-missing", `there is no ${against} here`, hint);
  }
  if (kind === "folder") return readFolder(against.replace(/(.)\/+$/, "$1"));
  return { name: against, list: await readInput(against, maxListBytes), listName: against, build: undefined };
}

function readFolder(folder: string) {
  const listName = `${folder}/${listPath}index.json`;
  const list = readIfPresent(listName);
  if (list) return { name: folder, list, listName, build: readIfPresent(`${folder}/build.json`) };
  const message = `${folder} has no ${listPath}index.json, expected a folder that relcat build made`;
  throw failure("input-missing", message, "Build into it first, or give the address of the site.");
}

/** Strips query and fragment, and ends with a slash. */
function siteAddress(against: string): URL {
  const url = URL.canParse(against) ? new URL(against) : undefined;
  if (url?.username !== "" || url.password !== "") {
    throw failure(
      "usage",
      url ? "the address given with --against has credentials in it" : `${against} is not an address`,
      "Give a plain address such as https://downloads.example.com; a list that needs a login can be saved and given as a file.",
    );
  }
  const path = url.pathname.replace(/\/*$/, "/").replace(new RegExp(`/${listPath}$`), "/");
  return new URL(path, url.origin);
}

async function readSite(site: URL) {
  const address = new URL(listPath, site).href;
  const answer = await fetchBytes(address, maxListBytes);
  // A plain file host ignores Accept and returns a page, so the list's file is requested.
  const isPage = /^\s*</.test(new TextDecoder().decode(answer.subarray(0, 100)));
  const list = isPage ? await fetchBytes(`${address}index.json`, maxListBytes) : answer;
  const build = await fetchBytes(new URL("build.json", site).href, maxListBytes).catch(ifRefused);
  return { name: site.href, list, listName: address, build };
}

/** Catalogs of other tools have no build.json. */
function ifRefused(error: unknown): undefined {
  if (error instanceof RelcatError) return undefined;
  throw error;
}

/** Some servers return a page for every path, so an invalid build document counts as missing. */
function readBuild(bytes: Uint8Array): BuildDocument | undefined {
  try {
    return buildSchema.parse(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    return undefined;
  }
}

/** Key names inside `data` of a live catalog; ours if it has none or they cannot be determined. */
function liveWire(records: readonly LiveRecord[], ours: Config["wire"]): Config["wire"] {
  const { names, problems } = wireNames(records, {}, {});
  if (problems.length > 0) return ours;
  const found = (key: keyof Config["wire"]) => (names[key].from === "found" ? names[key].name : ours[key]);
  return { vendor: found("vendor"), cryptolib_post: found("cryptolib_post") };
}

/** Releases with ledger lines, and the resulting ids and dates. */
export interface CutReleases {
  releases: IdentifiedRelease[];
  ledger: Ledger;
  config: Config;
}

/** The catalog as `build --released` would see it after the cut. */
export function afterCut({ releases, ledger, config }: Catalog, cut: Cut): CutReleases {
  const after = readLedger({ file: ledger.file, text: cut.after }).ledger;
  const released = releases.filter(({ version }) => after.versions.has(version));
  return { releases: assignIds(released, after, () => false).releases, ledger: after, config };
}

export function hashDocuments({ releases, ledger, config }: CutReleases, sources: Sources): DocumentHashes {
  const hashes = new Map<string, string>();
  for (const { path, chunks } of emitSite(releases, ledger, config, sources)) {
    const hash = createHash("sha256");
    for (const chunk of chunks) hash.update(chunk);
    hashes.set(path, hash.digest("hex"));
  }
  return hashes;
}
