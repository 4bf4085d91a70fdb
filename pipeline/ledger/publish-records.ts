import type { Config } from "../documents/config.ts";
import type { WireRecord } from "../documents/package-record.ts";
import type { PublishedPackage, PublishedRelease, ReleaseOutline } from "../documents/published.ts";
import type { RetractedRecord } from "../documents/site.ts";
import { isPrivate } from "../records/normalize.ts";
import { asImported } from "../records/verbatim.ts";
import { digestOf } from "../site/output.ts";
import type { IdentifiedRelease, Package } from "./assign-ids.ts";
import type { Ledger } from "./ledger.ts";

/** The public view of a release; private records end here. */
export function publishRelease(release: IdentifiedRelease, ledger: Ledger, config: Config): PublishedRelease {
  const address = addressing(config);
  return {
    ...headOf(release, ledger),
    packages: listed(release).map((entry) => publishPackage(entry, address)),
  };
}

/** The public packages of a release, id descending, withdrawn ones included. */
export function publicPackages(
  release: IdentifiedRelease,
  config: Config,
): { entry: Package; published: PublishedPackage }[] {
  const address = addressing(config);
  return publicOf(release).map((entry) => ({ entry, published: publishPackage(entry, address) }));
}

/** What is public of a release besides its records' data and its notes. */
export type ReleaseSummary = Omit<ReleaseOutline, "open">;

/** A release as it is told from others; its `key` says what it is made of. */
export function summarizeRelease(release: IdentifiedRelease, ledger: Ledger): ReleaseSummary {
  const head = headOf(release, ledger);
  const { version, date, summary, provisional, retracted } = head;
  const entries = listed(release);
  return {
    // As text, for a digest looks for maps in every value of what is not.
    key: digestOf(head, JSON.stringify(entries.map(madeOf))),
    version,
    date,
    summary,
    provisional,
    packages: entries.map(({ id, artifact: { content } }) => {
      return { id, platform: content.platform, packageType: content.package_type };
    }),
    retracted,
  };
}

/**
 * A summary that can be opened.
 * @param basis digest of everything else that the release's files are made of
 */
export const outlineOf = (
  summary: ReleaseSummary,
  basis: string,
  open: () => PublishedRelease,
): ReleaseOutline => ({ ...summary, key: digestOf(basis, summary.key), open });

/** What decides everything that is published of a package. */
function madeOf({ id, created, modified, importedDates, artifact }: Package): unknown[] {
  const { file, url, size, contentHash, content, details, isVerbatim } = artifact;
  // The hash of an imported record is over what it says, and pages tell what was understood of it.
  const imported = isVerbatim && [content, details(), importedDates];
  return [id, created, modified, file, url, size, contentHash, imported];
}

function headOf(identified: IdentifiedRelease, ledger: Ledger): Omit<PublishedRelease, "packages"> {
  const { version, date, summary, notes } = identified.release;
  const open = publicOf(identified);
  return {
    version,
    date,
    summary,
    notes,
    provisional: isProvisional(identified, ledger),
    retracted: open.flatMap((entry) => retracted(entry)),
    replacements: replacements(open, ledger),
  };
}

/** Id descending. */
const publicOf = ({ packages }: IdentifiedRelease): Package[] =>
  packages.filter((entry) => !isPrivate(entry.artifact.content)).sort((a, b) => b.id - a.id);

const listed = (release: IdentifiedRelease): Package[] =>
  publicOf(release).filter((entry) => !entry.retraction);

/** Without a ledger line of its own, or with content the ledger does not have. */
export const isProvisional = ({ release, packages }: IdentifiedRelease, ledger: Ledger) =>
  !ledger.versions.has(release.version) || packages.some((entry) => entry.standing !== "cut");

function publishPackage(entry: Package, address: Address): PublishedPackage {
  const { artifact } = entry;
  const record = wireRecord(entry);
  const published = asImported(record, artifact.details().verbatim, entry.importedDates);
  return {
    record,
    ...(artifact.isVerbatim && { published }),
    json: JSON.stringify(published),
    file: artifact.file,
    url: artifact.url ?? address(record, artifact.file),
    size: artifact.size,
  };
}

/** The record as everybody reads it: an imported one says what it always said. */
export const publishedRecord = (entry: Package): Readonly<Record<string, unknown>> =>
  asImported(wireRecord(entry), entry.artifact.details().verbatim, entry.importedDates);

/** The 17 fields in the order of section 2.1. */
export function wireRecord({ id, created, modified, artifact }: Package): WireRecord {
  const { content } = artifact;
  return {
    id,
    name: content.name,
    version: content.version,
    description: content.description,
    checksum: content.checksum,
    operating_system: content.operating_system,
    min_os_version: content.min_os_version,
    max_os_version: content.max_os_version,
    package_type: content.package_type,
    created_date: created,
    modified_date: modified,
    data: artifact.details().data,
    exclude_from_api: content.exclude_from_api,
    gui_only: content.gui_only,
    headless: content.headless,
    platform: content.platform,
    only_for_account: content.only_for_account,
  };
}

type AddressParts = Pick<WireRecord, "version" | "name" | "package_type" | "id" | "checksum">;
type Address = (record: AddressParts, file: string) => string;

/** Where artifact_url says that a file lies. */
export const artifactUrl = (
  record: AddressParts,
  file: string,
  config: Pick<Config, "artifactUrl" | "baseUrl">,
): string => addressing(config)(record, file);

/** The same for many files: artifact_url is taken apart once. */
function addressing({ artifactUrl: template, baseUrl }: Pick<Config, "artifactUrl" | "baseUrl">): Address {
  // Text and placeholders in turn.
  const parts = template.split(/\{(\w+)\}/);
  return ({ version, name, package_type, id, checksum }, file) => {
    const values: Record<string, string> = { version, file, name, package_type, id: String(id), checksum };
    let url = "";
    for (const [index, part] of parts.entries()) {
      if (index % 2 === 0) url += part;
      else url += part === "base_url" ? baseUrl : encodeURIComponent(values[part] ?? "");
    }
    return url;
  };
}

function retracted({ id, artifact, retraction }: Package): RetractedRecord[] {
  if (!retraction) return [];
  const { name, package_type, checksum } = artifact.content;
  const { reason, replaced_by, at } = retraction;
  return [{ id, name, file: artifact.file, package_type, checksum, reason, replaced_by, at }];
}

function replacements(packages: readonly Package[], ledger: Ledger): PublishedRelease["replacements"] {
  const ids = packages.flatMap(({ retraction }) => retraction?.replaced_by ?? []);
  return new Map(
    ids.flatMap((id) => {
      const add = ledger.byId.get(id)?.add;
      return add ? [[id, { version: add.version, name: add.name }] as const] : [];
    }),
  );
}
