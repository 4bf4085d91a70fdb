import type { Settings } from "../documents/config.ts";
import type { WireRecord } from "../documents/package-record.ts";
import type {
  PublishedPackage,
  PublishedRelease,
  RecordEvent,
  ReleaseSummary,
} from "../documents/published.ts";
import { inOrder } from "../documents/record-fields.ts";
import type { RetractedRecord } from "../documents/site.ts";
import { type ArtifactOutline, isPrivate } from "../records/normalize.ts";
import { asImported } from "../records/verbatim.ts";
import type { IdentifiedOutline, IdentifiedRelease, Package } from "./assign-ids.ts";
import type { Ledger } from "./ledger.ts";
import { channelsOf } from "./ledger-channels.ts";
import type { Change } from "./ledger-records.ts";

/** The public view of a release; private records are dropped here. */
export function publishRelease(
  release: IdentifiedRelease,
  ledger: Ledger,
  config: Settings,
): PublishedRelease {
  const address = addressing(config);
  return {
    ...headOf(release, ledger, config),
    notes: release.release.notes,
    replacements: replacements(publicOf(release), ledger),
    histories: new Map(publicOf(release).map((entry) => [entry.id, recordHistory(entry, ledger)])),
    packages: listed(release).map((entry) => publishPackage(entry, address)),
    withdrawn: publicOf(release).flatMap((entry) =>
      entry.retraction ? [publishPackage(entry, address)] : [],
    ),
  };
}

/** Public packages of a release, id descending, including withdrawn ones. */
export function publicPackages(release: IdentifiedRelease, config: Settings) {
  const address = addressing(config);
  return publicOf(release).map((entry) => ({ entry, published: publishPackage(entry, address) }));
}

/** The part of a release that stays in memory, because pages and lists across releases need it. */
export function summarizeRelease(
  identified: IdentifiedOutline,
  ledger: Ledger,
  config: Pick<Settings, "channels">,
): ReleaseSummary {
  const { securityNotes } = identified.release;
  return {
    ...headOf(identified, ledger, config),
    ...(securityNotes && { securityNotes }),
    packages: listed(identified).map(({ id, artifact: { content } }) => {
      return { id, platform: content.platform, packageType: content.package_type };
    }),
  };
}

function headOf(identified: IdentifiedOutline, ledger: Ledger, config: Pick<Settings, "channels">) {
  const { version, date, summary, corrected } = identified.release;
  return {
    version,
    date,
    releasedAt: cutTime(version, ledger),
    summary,
    corrected,
    provisional: isProvisional(identified, ledger),
    retracted: publicOf(identified).flatMap((entry) => retracted(entry)),
    channels: channelsOf(version, ledger.channels, config.channels),
  };
}

/** The time of a release's first cut, which no later line changes; undefined before. */
export function cutTime(version: string, ledger: Ledger): string | undefined {
  const times = ledger.ofVersion(version).map(({ add }) => add.at);
  return times.length === 0 ? undefined : times.reduce((a, b) => (a < b ? a : b));
}

interface Packages<A extends ArtifactOutline> {
  packages: readonly Package<A>[];
}

/** Id descending. */
const publicOf = <A extends ArtifactOutline>({ packages }: Packages<A>): Package<A>[] =>
  packages.filter((entry) => !isPrivate(entry.artifact.content)).sort((a, b) => b.id - a.id);

const listed = <A extends ArtifactOutline>(release: Packages<A>): Package<A>[] =>
  publicOf(release).filter((entry) => !entry.retraction);

const isProvisional = ({ release, packages }: IdentifiedOutline, ledger: Ledger) =>
  !ledger.versions.has(release.version) || packages.some((entry) => entry.ledgerState !== "cut");

function publishPackage(entry: Package, address: Address): PublishedPackage {
  const { artifact } = entry;
  const record = wireRecord(entry);
  const published = asImported(record, artifact.verbatim, entry.importedDates);
  return {
    record,
    ...(artifact.verbatim && { published }),
    json: JSON.stringify(published),
    file: artifact.file,
    url: artifact.url ?? address(record, artifact.file),
    size: artifact.size,
    ...(artifact.metadata && { metadata: artifact.metadata }),
    ...(artifact.documents && { documents: artifact.documents }),
  };
}

/** The published record; an imported one keeps its original form. */
export const publishedRecord = (entry: Package): Readonly<Record<string, unknown>> =>
  asImported(wireRecord(entry), entry.artifact.verbatim, entry.importedDates);

/** The 17 fields of a record in published order. */
const wireRecord = ({ id, created, modified, artifact }: Package): WireRecord =>
  inOrder({
    id,
    ...artifact.content,
    created_date: created,
    modified_date: modified,
    data: artifact.data,
  });

type AddressParts = Pick<WireRecord, "version" | "name" | "package_type" | "id" | "checksum">;
type Address = (record: AddressParts, file: string) => string;

export const artifactUrl = (
  record: AddressParts,
  file: string,
  config: Pick<Settings, "artifactUrl" | "baseUrl">,
): string => addressing(config)(record, file);

/** Parses artifact_url only once, because a catalog has many files. */
function addressing({ artifactUrl: template, baseUrl }: Pick<Settings, "artifactUrl" | "baseUrl">): Address {
  // Even indexes are text, odd ones placeholders.
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

function retracted({ id, artifact, retraction }: Package<ArtifactOutline>): RetractedRecord[] {
  if (!retraction) return [];
  const { name, package_type, checksum } = artifact.content;
  return [{ id, name, file: artifact.file, package_type, checksum, ...retraction }];
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

const kinds = { revise: "revised", retract: "withdrawn", reinstate: "reinstated" } as const;

/**
 * Events of a public record, oldest first: when it was added, and each later change. Changes from the time in
 * which a record was private are left out, because their reasons were not written for the public.
 */
function recordHistory({ id, created }: Pick<Package, "id" | "created">, ledger: Ledger): RecordEvent[] {
  const history: RecordEvent[] = [{ kind: "added", at: created, reason: "" }];
  let isHidden = ledger.byId.get(id)?.add.private ?? false;
  for (const change of ledger.changesOf(id)) {
    if (change.event === "revise") isHidden = change.private ?? false;
    if (!isHidden) history.push(eventOf(change));
  }
  return history;
}

const eventOf = (change: Change): RecordEvent => ({
  kind: kinds[change.event],
  at: change.at,
  reason: change.event === "retract" ? change.reason : "",
});
