import type { Architecture, PackageMetadata } from "../../../shared/package-metadata.ts";
import type { Settings } from "../../documents/config.ts";
import { feedOf } from "../../documents/feeds/settings.ts";
import type { IncusStatement } from "../../records/incus-tarball.ts";

interface IncusRequest {
  version: string;
  packageType: string;
  /** Known without the bytes; undefined: the image is in no feed of Incus. */
  arch: Architecture | undefined;
  /** Metadata in a finished manifest. */
  stated: PackageMetadata | undefined;
  config: Pick<Settings, "feeds">;
}

/**
 * Text for the metadata tarball of an image. A finished manifest that has it keeps it, because the digests of an image
 * must not change with the configuration.
 * @returns undefined if no feed needs it
 */
export function incusStatement(request: IncusRequest): IncusStatement | undefined {
  const { version: release, packageType: variant, arch, stated, config } = request;
  if (arch === undefined || arch === "all" || feedOf("image", variant) !== "incus") return undefined;
  if (stated?.type === "image" && stated.incus) return { ...stated.incus, arch };
  const os = config.feeds.incus?.os;
  if (os === undefined) return undefined;
  return { arch, os, release, variant, description: `${os} ${release} ${arch} (${variant})` };
}
