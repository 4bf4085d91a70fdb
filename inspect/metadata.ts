import {
  type ImageMetadata,
  maxMetadataBytes,
  type PackageMetadata,
  packageMetadataSchema,
} from "../shared/package-metadata.ts";
import type { Kind } from "../shared/package-types.ts";
import { architectureNamed } from "./architecture.ts";
import type { ByteSource } from "./bytes/byte-source.ts";
import { formatOf, limits, type MetadataOptions } from "./inspect.ts";
import type { Inspection } from "./inspection.ts";
import { Fault, malformed, refused, type Verdict } from "./verdict.ts";

/** The format of a file's metadata; undefined if it states nothing. */
export const metadataFormat = (source: ByteSource, kind: Kind): PackageMetadata["type"] | undefined =>
  kind === "image" ? "image" : formatOf(source)?.states;

interface MetadataRequest extends Omit<MetadataOptions, "limit"> {
  /** Files of kind image are read as disks and archives of disks. */
  kind: Kind;
  /** An inspection of the same bytes; without it, images are inspected now. */
  inspection?: Inspection | undefined;
}

/**
 * Reads what a package states about itself; its signatures are not checked.
 * @returns undefined for files that state nothing, such as archives and source packages
 * @throws Fault, also for metadata that a manifest cannot hold
 */
export async function readMetadata(
  source: ByteSource,
  { kind, filelists, changelogs, inspection }: MetadataRequest,
): Promise<PackageMetadata | undefined> {
  if (kind === "image") return storable(await readImage(source, inspection));
  const read = await formatOf(source)?.metadata?.();
  const metadata = await read?.(source, { limit: limits.package, filelists, changelogs });
  const settings = [...(filelists ? ["filelists"] : []), ...(changelogs ? ["changelogs"] : [])];
  return metadata && storable(metadata, metadata.type === "rpm" ? settings : []);
}

async function readImage(source: ByteSource, known: Inspection | undefined): Promise<PackageMetadata> {
  // A policy inspects by the file's format, which a name may hide.
  if (known && !formatOf(source)) return imageMetadata(known);
  const { inspectImage } = await import("./images/image.ts");
  const keys = { openpgp: [], x509: [] };
  return imageMetadata(await inspectImage(source, { keys, now: 0, limit: limits.image }));
}

/** Applies the rules of manifests, so that what is kept can be read. @param settings of the yum feed @throws Fault */
function storable(metadata: PackageMetadata, settings: readonly string[] = []): PackageMetadata {
  const size = Buffer.byteLength(JSON.stringify(metadata));
  if (size > maxMetadataBytes) {
    const added = settings.length > 0 ? `, with ${settings.join(" and ")} of feeds.yum` : "";
    const expected = `expected ${maxMetadataBytes} at most`;
    throw refused(`its metadata has ${size} bytes as JSON${added}, ${expected}`);
  }
  const [issue] = packageMetadataSchema.safeParse(metadata).error?.issues ?? [];
  if (issue)
    throw malformed(
      `its ${issue.path.join(".")} is not ${issue.message.slice(issue.message.indexOf("|") + 1)}`,
    );
  return metadata;
}

/** After these verdicts, the facts of the image may be wrong. */
const unreadable: readonly Verdict[] = ["malformed", "bad-digest", "refuse", "unsupported-format"];

const boots: Readonly<Record<string, ImageMetadata["boot"]>> = { bios: "bios", efi: "uefi", both: "both" };

const contents = ["container", "virtual-machine", "metadata"] as const;

/** The facts of an image; whether its signature is valid does not matter. @throws Fault */
function imageMetadata({ type, verdict, reason, facts }: Inspection): ImageMetadata {
  if (unreadable.includes(verdict)) throw new Fault(verdict, reason);
  const { architecture, compression, virtual_size: size, inner_sha256: inner } = facts;
  const boot = typeof facts.boot === "string" ? boots[facts.boot] : undefined;
  const content = type === "incus" ? contents.find((name) => name === facts.content) : undefined;
  return {
    type: "image",
    ...(typeof architecture === "string" && { arch: architectureNamed(architecture) }),
    format: type,
    ...(typeof compression === "string" && { compression }),
    ...(typeof size === "number" && { virtual_size: size }),
    ...(typeof inner === "string" && { inner_sha256: inner }),
    ...(boot && { boot }),
    ...(content && { content }),
  };
}
