import { architectureInName } from "../../../inspect/architecture.ts";
import type { Problem } from "../../../shared/errors.ts";
import {
  type Architecture,
  architectureOf,
  expectedFormats,
  type PackageMetadata,
} from "../../../shared/package-metadata.ts";
import type { Kind } from "../../../shared/package-types.ts";
import type { Settings } from "../../documents/config.ts";
import { feedOf } from "../../documents/feeds/settings.ts";
import { metadataDifferences } from "../../policy/prove-metadata.ts";
import type { IncusStatement } from "../../records/incus-tarball.ts";
import { type Claimed, problem } from "./evidence.ts";

export interface PackageClaims {
  packageType: string;
  kind: Kind;
  /** Read from the bytes. */
  read: PackageMetadata | undefined;
  /** unread: not read yet; absent: not available here; unreadable: the metadata cannot be read. */
  bytes: "unread" | "absent" | "read" | "unreadable";
  /** Stated by a finished manifest. */
  stated: PackageMetadata | undefined;
  /** Stated by a rule, a sidecar or --set. */
  arch: Architecture | undefined;
}

/** The bytes decide the architecture if they state one; otherwise rules and --set, the finished manifest, the name. */
export function packageOf(file: Claimed, claims: PackageClaims) {
  const { read, stated, arch: named, bytes } = claims;
  const arch = architectureOf(read) ?? named ?? architectureOf(stated) ?? architectureInName(file.name);
  const isPlain =
    bytes !== "unreadable" && expectedFormats(claims.packageType, claims.kind).includes("archive");
  const metadata = withArchitecture(read ?? stated, arch, isPlain);
  const problems = read && stated ? contradictions(file, stated, read) : [];
  if (bytes !== "unread" && named !== undefined && architectureOf(metadata) !== named)
    problems.push(otherArchitecture(file, named, metadata));
  return { metadata, problems };
}

/** @param isPlain whether a file that states nothing can have an architecture */
function withArchitecture(
  metadata: PackageMetadata | undefined,
  arch: Architecture | undefined,
  isPlain: boolean,
): PackageMetadata | undefined {
  if (arch === undefined) return metadata;
  if (!metadata) return isPlain ? { type: "archive", arch } : undefined;
  const isStated = metadata.type === "pkg" || metadata.type === "image" || metadata.type === "archive";
  return isStated ? { ...metadata, arch } : metadata;
}

function contradictions(file: Claimed, stated: PackageMetadata, read: PackageMetadata): Problem[] {
  const differences = metadataDifferences(stated, read);
  if (differences === undefined) return [];
  const message = `package of ${file.name} is stated differently than in its bytes: ${differences}`;
  const at = file.finished ? () => file.finished?.place(["package"]) ?? file.at() : file.at;
  return [problem("ingest-conflict", at, message, "Correct or leave out what the manifest states.")];
}

function otherArchitecture(
  file: Claimed,
  named: Architecture,
  metadata: PackageMetadata | undefined,
): Problem {
  const actual = architectureOf(metadata);
  const none = metadata?.type === "helm" ? "a chart has no architecture" : "its metadata was not read";
  const message = `arch of ${file.name} is stated as ${named}, but ${actual === undefined ? none : `is ${actual}`}`;
  const hint = "Leave out arch in --set, in the sidecar or in the rule of ingest:.";
  return problem("ingest-conflict", file.at, message, hint);
}

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
 * A finished manifest that has the statement keeps it: digests of an image must not change with the configuration.
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
