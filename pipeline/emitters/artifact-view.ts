import { z } from "zod";
import type { WireRecord } from "../documents/package-record.ts";
import type { PublishedPackage, SiteConfig } from "../documents/published.ts";
import type { RetractedRecord } from "../documents/site.ts";
import type { ArtifactView, WithdrawnView } from "./page-models.ts";
import { verifyCommands } from "./verify-commands.ts";

/**
 * An artifact as pages show it.
 * @param releasePath the path from the page to the release's page; empty on that page itself
 */
export function artifactView(entry: PublishedPackage, releasePath: string, config: SiteConfig): ArtifactView {
  const { record, file, url, size } = entry;
  const { linux, macos, powershell } = verifyCommands(file, record.checksum);
  return {
    id: record.id,
    name: record.name,
    version: record.version,
    description: record.description,
    type: record.package_type,
    platform: platformName(record.platform, config),
    system: systemText(record),
    variant: record.headless
      ? "Core, without graphical interface"
      : record.gui_only
        ? "Graphical component"
        : "",
    size: size === null ? "" : sizeText(size),
    bytes: size === null ? "" : `${grouped(size)} bytes`,
    created: momentView(record.created_date),
    modified: momentView(record.modified_date),
    checksum: record.checksum,
    ...provenance(record, config),
    url,
    page: `${releasePath}#p${record.id}`,
    commands: [
      { system: "Linux", command: linux },
      { system: "macOS", command: macos },
      { system: "PowerShell", command: powershell },
    ],
  };
}

/**
 * A retracted record as its release's page shows it.
 * @param listed the ids that page has a section for
 * @param root the path from the page to the site's root
 */
export function withdrawnView(
  record: RetractedRecord,
  listed: ReadonlySet<number>,
  root: string,
): WithdrawnView {
  const { id, name, package_type, reason, at, replaced_by } = record;
  const href =
    replaced_by !== null && listed.has(replaced_by)
      ? `#p${replaced_by}`
      : `${root}api/v1/package/${replaced_by}/`;
  const replacement = replaced_by === null ? null : { id: replaced_by, href };
  return { id, name, type: package_type, reason, at: momentView(at), replacement };
}

/** The name behind a platform's number. */
export const platformName = (platform: number, config: SiteConfig): string =>
  config.platforms.get(platform) ?? `Platform ${platform}`;

const displayNames: Readonly<Record<string, string>> = {
  linux: "Linux",
  macos: "macOS",
  windows: "Windows",
  kubernetes: "Kubernetes",
};

function systemText({ operating_system, min_os_version: min, max_os_version: max }: WireRecord): string {
  const name = displayNames[operating_system] ?? operating_system;
  if (min !== null && max !== null) return `${name}, ${min} to ${max}`;
  if (min !== null) return `${name}, ${min} and later`;
  if (max !== null) return `${name}, ${max} and earlier`;
  return name;
}

const units = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** A size for people, in units of 1,024. */
export function sizeText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  // 1,023.95 KiB would read as 1024.0 KiB.
  for (; value >= (unit === 0 ? 1024 : 1023.95) && unit < units.length - 1; unit++) value /= 1024;
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

const grouped = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ",");

const momentView = (timestamp: string) => ({
  datetime: timestamp,
  date: timestamp.slice(0, 10),
  text: `${timestamp.slice(0, 10)} ${timestamp.slice(11, 16)} UTC`,
});

/** Imported records may carry data of any shape: what does not fit is not shown. */
const shown = z.object({
  key_id: z.string().optional().catch(undefined),
  signature: z
    .object({ signer: z.string().optional().catch(undefined) })
    .optional()
    .catch(undefined),
});
const revised = z.object({ rev: z.string() });

function provenance({ data }: WireRecord, config: SiteConfig) {
  const attestation = shown.safeParse(data["attestation"]).data;
  return {
    signer: attestation?.signature?.signer ?? "",
    keyId: attestation?.key_id ?? "",
    revision: revised.safeParse(data[config.wire.vendor]).data?.rev ?? "",
  };
}
