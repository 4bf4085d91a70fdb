import {
  type ArtifactDocument,
  architectureOf,
  documentAddress,
  packageVersionOf,
} from "../../../shared/package-metadata.ts";
import type { WireRecord } from "../../documents/package-record.ts";
import type { PublishedPackage, PublishedRelease, SiteConfig } from "../../documents/published.ts";
import type { RetractedRecord } from "../../documents/site.ts";
import { bytesText, sizeText } from "./byte-count.ts";
import { installView } from "./install-view.ts";
import type { ArtifactView, RowView, WithdrawnView } from "./models/file-models.ts";
import { provenanceOf, signingKeyOf } from "./provenance.ts";
import { signatureCommand, verifyCommands } from "./verify-commands.ts";

/**
 * An artifact's row in a list.
 * @param releasePath the path from the page to the release's page
 */
export function rowView(entry: PublishedPackage, releasePath: string, config: SiteConfig): RowView {
  const { record, url, size } = entry;
  return {
    id: record.id,
    name: record.name,
    version: record.version,
    type: record.package_type,
    platform: platformName(record.platform, config),
    operatingSystem: systemName(record),
    facts: factsOf(record, config),
    arch: architectureText(entry),
    size: size === null ? "" : sizeText(size),
    url,
    page: `${releasePath}#p${record.id}`,
  };
}

/** An artifact on its release's page, with all details. */
export function artifactView(
  entry: PublishedPackage,
  release: PublishedRelease,
  config: SiteConfig,
): ArtifactView {
  const { record, file, url, size, documents = [] } = entry;
  return {
    id: record.id,
    name: record.name,
    version: record.version,
    file: file === record.name ? "" : file,
    description: record.description,
    type: record.package_type,
    platform: platformName(record.platform, config),
    facts: factsOf(record, config),
    arch: architectureText(entry),
    packageVersion: otherVersion(entry),
    system: systemText(record),
    variant: variantText(record),
    size: size === null ? "" : sizeText(size),
    bytes: size === null || size < 1024 ? "" : bytesText(size),
    history: historyView(record.id, release),
    checksum: record.checksum,
    brief: false,
    hasChecksum: record.checksum !== "unknown",
    provenance: provenanceOf(record, config),
    documents: documents.map((document) => documentView(entry, document)),
    url,
    commands: verifyCommands(file, record.checksum, clientSystem(record, config)),
    signature: signatureView(file, record),
    install: installView(entry, config),
  };
}

/** The version that a package states; empty if it is that of the release, apart from zeros, epoch and revision. */
function otherVersion({ record, metadata }: PublishedPackage): string {
  const stated = packageVersionOf(metadata) ?? record.version;
  const plain = (version: string) => version.replace(/^\d+:|\b0+(?=\d)|(?:\.0)?(?:-\d[\w.~+]*)?$/g, "");
  return plain(stated) === plain(record.version) ? "" : stated;
}

/** The operating system of a client; undefined for images and charts. */
const clientSystem = (
  { package_type, operating_system }: WireRecord,
  config: SiteConfig,
): string | undefined =>
  config.packageTypes.get(package_type)?.kind === "client" ? operating_system : undefined;

/** Only for records that state the key, because a signature by any other key proves nothing. */
function signatureView(file: string, record: WireRecord): ArtifactView["signature"] {
  const [command, key] = [signatureCommand(file), signingKeyOf(record)];
  return command && key ? { command, key } : null;
}

/** Target of a file, in short: platform, versions of the system, variant. The group's name has the system. */
function factsOf(record: WireRecord, config: SiteConfig): string[] {
  const platform = platformName(record.platform, config);
  const system = boundsText(record);
  const variant = record.headless ? "Core" : record.gui_only ? "Graphical" : "";
  return [...new Set([platform, system, variant])].filter(Boolean);
}

/** A retracted record on its release's page. */
export function withdrawnView(record: RetractedRecord, release: PublishedRelease): WithdrawnView {
  const { id, name, package_type, reason, checksum, at, replaced_by } = record;
  const by = replaced_by === null ? undefined : release.replacements.get(replaced_by);
  const folder = by?.version === release.version ? "" : `../${by?.version}/`;
  const replacement = by ? { ...by, href: `${folder}#p${replaced_by}` } : null;
  const history = historyView(id, release).map((event) =>
    // The page says the present reason first.
    event.reason === reason ? { ...event, reason: "" } : event,
  );
  return { id, name, type: package_type, reason, checksum, at: momentView(at), replacement, history };
}

const eventNames = { added: "Added", revised: "Revised", withdrawn: "Withdrawn", reinstated: "Reinstated" };

const historyView = (id: number, { histories }: PublishedRelease): ArtifactView["history"] =>
  (histories.get(id) ?? []).map(({ kind, at, reason }) => {
    return { words: eventNames[kind], at: momentView(at), reason };
  });

const documentNames = {
  sbom: "List of components (SBOM)",
  attestation: "Attestation",
  signature: "Signature",
  provenance: "Provenance",
};

function documentView(
  { url, file }: PublishedPackage,
  document: ArtifactDocument,
): ArtifactView["documents"][number] {
  const { kind, format, sha256, size } = document;
  const href = documentAddress(url, file, document);
  return { words: documentNames[kind], href, file: document.file, format, size: sizeText(size), sha256 };
}

export const artifactsUnit = (count: number): string => (count === 1 ? "artifact" : "artifacts");

export const platformName = (platform: number, config: SiteConfig): string =>
  config.platforms.get(platform) ?? `Platform ${platform}`;

const systemNames: ReadonlyMap<string, string> = new Map([
  ["linux", "Linux"],
  ["macos", "macOS"],
  ["windows", "Windows"],
  ["kubernetes", "Kubernetes"],
]);

export const systemName = ({ operating_system }: WireRecord): string =>
  systemNames.get(operating_system) ?? operating_system;

function variantText({ headless, gui_only }: WireRecord): string {
  if (headless) return "Core, without graphical interface";
  return gui_only ? "Graphical component" : "";
}

function boundsText({ min_os_version: min, max_os_version: max }: WireRecord): string {
  if (min !== null && max !== null) return `${min} to ${max}`;
  if (min !== null) return `${min} and later`;
  return max === null ? "" : `${max} and earlier`;
}

const systemText = (record: WireRecord): string =>
  [systemName(record), boundsText(record)].filter(Boolean).join(", ");

function architectureText({ metadata }: PublishedPackage): string {
  const arch = architectureOf(metadata) ?? "";
  return arch === "all" ? "all architectures" : arch;
}

const momentView = (timestamp: string) => ({
  datetime: timestamp,
  date: timestamp.slice(0, 10),
  text: `${timestamp.slice(0, 10)} ${timestamp.slice(11, 16)} UTC`,
});
