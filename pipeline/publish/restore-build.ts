import { z } from "zod";
import { type Code, failure, type RelcatError } from "../../shared/errors.ts";
import { relativePath } from "../documents/relative-path.ts";
import { type BuildDocument, buildSchema, type ChannelsDocument, channelsSchema } from "../documents/site.ts";
import { channelsPath } from "../documents/site-paths.ts";
import type { HistoryEntry } from "../documents/site-state.ts";
import type { KeptPublish, SiteStore } from "../documents/site-store.ts";
import type { SiteSettings } from "../documents/sites.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { contentHashOf } from "../records/normalize.ts";
import { readIfPresent } from "../system/files.ts";
import { rootFolder } from "../system/root-folder.ts";
import { type SignedRoot, type SignedSnapshot, sha256 } from "../trust/metadata.ts";
import { parsedAs } from "../trust/parsed-state.ts";
import { type ProvedBuild, proveBuild, Unproved } from "../trust/prove-build.ts";
import { isHosting, listPath, timestampPath } from "../trust/site-files.ts";
import { shortId } from "./refusals.ts";
import { placeKeptFiles, readKeptFile } from "./stores/kept-build.ts";

interface RestoreRequest {
  site: SiteSettings;
  store: SiteStore;
  entry: HistoryEntry;
  ledger: Ledger;
  /** Newest root of `releases/trust/`; undefined: not signed, so only the ledger confirms the content. */
  root: SignedRoot | undefined;
  /** Live snapshot, if the publish must be the live one; otherwise any of our snapshots is accepted. */
  live?: SignedSnapshot | undefined;
  /** Hint: how to get the same content without the stored build. */
  hint: string;
}

interface StoredOffers {
  list: ListedRecord[];
  /** undefined: it has no channels, so that the default one offers each release. */
  channels: ChannelsDocument | undefined;
}

export interface RestoredBuild {
  /** SHA-256 of build.json. */
  id: string;
  document: BuildDocument;
  offers: StoredOffers;
}

/**
 * Restores an earlier publish into an empty folder. Storage is not trusted: on a signed site our signatures
 * must cover every byte, and on every site the local ledger must confirm each record.
 * @throws RelcatError build-unproved (signed) or build-changed (unsigned), naming the file; build-unknown
 */
export async function restoreBuild(request: RestoreRequest, folder: string): Promise<RestoredBuild> {
  const { store, site, entry } = request;
  const kept = await store.openKept(entry.files);
  if (!kept) throw unknownBuild(shortId(entry.build), "is no longer kept");
  const { id, document, bytes } = await identified(request, kept);
  const inPlace = site.place.kind === "dir" ? () => true : (path: string) => !isHosting(path);
  const files = Object.fromEntries(Object.entries(document.files).filter(([path]) => inPlace(path)));
  const wanted = { ...files, "build.json": { sha256: id, size: bytes.length } };
  const missing = await placeKeptFiles(kept, wanted, folder);
  if (missing[0] !== undefined) throw refused(request, missing[0], `is missing or changed${more(missing)}`);
  const place = (path: string) => `${store.place}: ${path} of the kept build ${shortId(id)}`;
  const offers = offersIn(folder, document, place);
  refuseUnconfirmed(request, offers.list, document);
  return { id, document, offers };
}

/** A file with other bytes counts as missing: signing and publishing compare all files and report it. */
export function offersIn(
  folder: string,
  { files }: BuildDocument,
  place = (path: string) => `${folder}/${path}`,
): StoredOffers {
  const read = <T>(path: string, schema: z.ZodType<T>) => {
    const bytes = readIfPresent(rootFolder(folder)(relativePath(path)));
    const isBuilt = bytes !== undefined && sha256(bytes) === files[path]?.sha256;
    return isBuilt ? parsedAs(schema, () => bytes, place(path)) : undefined;
  };
  return { list: read(listPath, listSchema) ?? [], channels: read(channelsPath, channelsSchema) };
}

const more = ({ length }: readonly unknown[]) => (length > 1 ? `, and so are ${length - 1} more files` : "");

type NamedBuild = Pick<ProvedBuild, "id" | "document" | "bytes">;

/** Identifies the build by its signatures or, unsigned, by the history. */
async function identified(request: RestoreRequest, kept: KeptPublish): Promise<NamedBuild> {
  const { root, entry, live } = request;
  const read = (path: string) => readKeptFile(kept, path);
  if (!root) return namedBuild(request, await read("build.json"));
  const snapshots = Object.keys(kept.files).filter((path) => /^metadata\/\d+\.snapshot\.json$/.test(path));
  const [snapshot = timestampPath] = snapshots;
  try {
    if (snapshots.length !== 1)
      throw new Unproved(snapshot, `does not name one snapshot, but ${snapshots.length}`);
    // current.json may name any earlier build, whose signatures are valid too.
    if (live && sha256((await read(snapshot)) ?? new Uint8Array()) !== sha256(live.bytes))
      throw new Unproved(snapshot, "is not the live snapshot: current.json names a build that is not live");
    const build = await proveBuild(read, snapshot, root);
    if (build.id === entry.build) return build;
    throw new Unproved("build.json", `is that of build ${shortId(build.id)}`);
  } catch (error) {
    if (error instanceof Unproved) throw refused(request, error.path, error.reason);
    throw error;
  }
}

function namedBuild(request: RestoreRequest, bytes: Uint8Array | undefined): NamedBuild {
  const { build } = request.entry;
  if (!bytes || sha256(bytes) !== build) throw refused(request, "build.json", "is missing or changed");
  const place = `${request.store.place}: build.json of the kept build ${shortId(build)}`;
  return { id: build, bytes, document: parsedAs(buildSchema, () => bytes, place) };
}

/** Provisional records have no ledger lines; a settling site has none of them. */
function refuseUnconfirmed(request: RestoreRequest, list: ListedRecord[], { provisional }: BuildDocument) {
  const settled = list.filter(({ version }) => !provisional.includes(version));
  const unconfirmed = unconfirmedRecords(settled, request.ledger);
  const [first] = unconfirmed;
  if (!first) return;
  const others = unconfirmed.length > 1 ? `, and ${unconfirmed.length - 1} more` : "";
  const reason = `lists package ${first.id} of ${first.version} differently from the ledger here${others}`;
  throw refused(request, listPath, reason);
}

function refused({ store, entry, root, hint }: RestoreRequest, path: string, reason: string): RelcatError {
  const code: Code = root ? "build-unproved" : "build-changed";
  return failure(
    code,
    `${store.place}: ${path} of the kept build ${shortId(entry.build)} ${reason}`,
    `Nothing was changed. ${hint}`,
  );
}

export const unknownBuild = (build: string, what: string): RelcatError =>
  failure("build-unknown", `the build ${build} ${what}`, "relcat history lists those that rollback can use.");

/** The fields of listed records that the ledger also has. */
const listSchema = z.array(
  z.looseObject({ id: z.int(), version: z.string(), created_date: z.string(), modified_date: z.string() }),
);
type ListedRecord = z.infer<typeof listSchema>[number];

/** Records that the ledger does not confirm. It may confirm earlier content, because the build may be old. */
function unconfirmedRecords(list: readonly ListedRecord[], { byId, changesOf }: Ledger): ListedRecord[] {
  return list.filter((record) => {
    const add = byId.get(record.id)?.add;
    if (add?.version !== record.version) return true;
    const events = [add, ...changesOf(add.id)];
    const content = contentHashOf({ ...record });
    if (!events.some((event) => "content" in event && event.content === content)) return true;
    const dates = events.map(({ at }) => at);
    return !add.imported && !(dates.includes(record.created_date) && dates.includes(record.modified_date));
  });
}

/** Offers of a stored build, and how to get it without those that must not be. */
export interface EarlierOffers {
  offers: StoredOffers;
  hint: string;
}

/** @throws RelcatError build-retracted */
export function refuseRetracted({ offers, hint }: EarlierOffers, ledger: Ledger): void {
  const gone = offers.list.filter(({ id }) => ledger.byId.get(id)?.retraction);
  if (gone.length === 0) return;
  const ids = gone.map(({ id }) => id).join(", ");
  throw failure(
    "build-retracted",
    `that build offers what was withdrawn since: ${gone.length === 1 ? "package" : "packages"} ${ids}`,
    hint,
  );
}

/** @param names channels of catalog.yaml, the default one first @throws RelcatError build-halted */
export function refuseHalted(
  { offers: { list, channels }, hint }: EarlierOffers,
  ledger: Ledger,
  [first = ""]: readonly string[],
): void {
  const offered = channels?.channels ?? [{ name: first, versions: list.map(({ version }) => version) }];
  const halted = offered.flatMap(({ name, versions }) =>
    [...new Set(versions)]
      .filter((version) => ledger.channels.byName.get(name)?.get(version)?.halt)
      .map((version) => `${version} in ${name}`),
  );
  if (halted.length === 0) return;
  throw failure("build-halted", `that build offers what was halted since: ${halted.join(", ")}`, hint);
}
