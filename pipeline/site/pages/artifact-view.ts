import { architectureOf } from "../../documents/feeds/package-metadata.ts";
import type { WireRecord } from "../../documents/package-record.ts";
import type { PublishedPackage, PublishedRelease, SiteConfig } from "../../documents/published.ts";
import type { RetractedRecord } from "../../documents/site.ts";
import { installView } from "./install-view.ts";
import type { ArtifactView, WithdrawnView } from "./page-models.ts";
import { provenanceOf } from "./provenance.ts";
import { verifyCommands } from "./verify-commands.ts";

/**
 * The page model of an artifact.
 * @param releasePath the path from the page to the release's page; empty on that page itself
 */
export function artifactView(entry: PublishedPackage, releasePath: string, config: SiteConfig): ArtifactView {
  const { record, file, url, size } = entry;
  const platform = platformName(record.platform, config);
  const system = systemText(record);
  const variant = variantText(record);
  const arch = architectureText(entry);
  return {
    id: record.id,
    name: record.name,
    version: record.version,
    description: record.description,
    type: record.package_type,
    platform,
    operatingSystem: systemName(record),
    facts: [...new Set([platform, system, variant, arch])].filter(Boolean),
    arch,
    system,
    variant,
    size: size === null ? "" : sizeText(size),
    bytes: size === null ? "" : `${grouped(size)} bytes`,
    created: momentView(record.created_date),
    modified: record.modified_date === record.created_date ? null : momentView(record.modified_date),
    checksum: record.checksum,
    ...provenanceOf(record, config),
    url,
    page: `${releasePath}#p${record.id}`,
    commands: verifyCommands(file, record.checksum),
    install: installView(entry, config),
  };
}

/** A retracted record on its release's page. */
export function withdrawnView(record: RetractedRecord, release: PublishedRelease): WithdrawnView {
  const { id, name, package_type, reason, checksum, at, replaced_by } = record;
  const by = replaced_by === null ? undefined : release.replacements.get(replaced_by);
  const folder = by?.version === release.version ? "" : `../${by?.version}/`;
  const replacement = by ? { ...by, href: `${folder}#p${replaced_by}` } : null;
  return { id, name, type: package_type, reason, checksum, at: momentView(at), replacement };
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

const systemName = ({ operating_system }: WireRecord): string =>
  systemNames.get(operating_system) ?? operating_system;

function variantText({ headless, gui_only }: WireRecord): string {
  if (headless) return "Core, without graphical interface";
  return gui_only ? "Graphical component" : "";
}

function systemText(record: WireRecord): string {
  const { min_os_version: min, max_os_version: max } = record;
  const name = systemName(record);
  if (min !== null && max !== null) return `${name}, ${min} to ${max}`;
  if (min !== null) return `${name}, ${min} and later`;
  if (max !== null) return `${name}, ${max} and earlier`;
  return name;
}

function architectureText({ metadata }: PublishedPackage): string {
  const arch = architectureOf(metadata) ?? "";
  return arch === "all" ? "all architectures" : arch;
}

const units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** Readable size in units of 1,024. */
export function sizeText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  // Without this, 1,023.95 KiB would be shown as 1024.0 KiB.
  for (; value >= (unit === 0 ? 1024 : 1023.95) && unit < units.length - 1; unit++) value /= 1024;
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

const grouped = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ",");

const momentView = (timestamp: string) => ({
  datetime: timestamp,
  date: timestamp.slice(0, 10),
  text: `${timestamp.slice(0, 10)} ${timestamp.slice(11, 16)} UTC`,
});
