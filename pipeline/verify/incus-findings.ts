import { z } from "zod";
import { pathBelow } from "../documents/relative-path.ts";
import { sha256 } from "../trust/metadata.ts";
import type { Artifact } from "./artifact.ts";
import type { SignedDocuments } from "./documents.ts";
import type { Finding, Listed } from "./finding.ts";
import type { SiteReader } from "./stores/site-reader.ts";

const indexPath = "streams/v1/index.json";
const imagesPath = "streams/v1/images.json";

const indexSchema = z.object({
  index: z.record(z.string(), z.object({ path: z.string(), products: z.array(z.string()) })),
});

const itemSchema = z.object({ ftype: z.string(), path: z.string(), sha256: z.string(), size: z.number() });

const imagesSchema = z.object({
  products: z.record(
    z.string(),
    z.object({
      versions: z.record(z.string(), z.object({ items: z.record(z.string(), itemSchema) })),
    }),
  ),
});

/** The server of images for Incus and LXD, as its lists describe it. */
export interface ImageServer {
  /** Content of both lists, undefined if it was not read: the comparison of files reports that. */
  index: unknown;
  images: unknown;
  /** Files of the build. */
  listed: Listed;
  /** Artifacts of live records. */
  artifacts: Iterable<Pick<Artifact, "url" | "sha256" | "size">>;
  baseUrl: string;
}

/** Clients believe the lists, so these must name live artifacts and tarballs of the build, with their digests. */
export function imageServerFaults({ index, images, listed, artifacts, baseUrl }: ImageServer): Finding[] {
  if (index === undefined || images === undefined) return [];
  const [read, described] = [indexSchema.safeParse(index), imagesSchema.safeParse(images)];
  if (!read.success) return [{ path: indexPath, what: "is not an index of images" }];
  if (!described.success) return [{ path: imagesPath, what: "is not a list of images" }];
  const live = new Map<string | undefined, { sha256: string; size: number }>(
    Array.from(artifacts, ({ url, sha256, size }) => [
      pathBelow(baseUrl, url),
      { sha256: sha256 ?? "", size: size ?? -1 },
    ]),
  );
  const { products } = described.data;
  const named = Object.values(read.data.index).flatMap((entry) => entry.products);
  const findings: Finding[] = [];
  if (named.toSorted().join("\n") !== Object.keys(products).sort().join("\n"))
    findings.push({ path: indexPath, what: `names other images than ${imagesPath}` });
  const items = Object.values(products).flatMap(({ versions }) =>
    Object.values(versions).flatMap((version) => Object.values(version.items)),
  );
  for (const item of items) {
    const isOwn = item.path.startsWith("streams/");
    const known = isOwn ? own(listed, item.path) : live.get(item.path);
    const fault = faultOf(item, known, isOwn);
    if (fault !== undefined) findings.push({ path: imagesPath, what: fault });
  }
  return findings;
}

const own = (listed: Listed, path: string) => (Object.hasOwn(listed, path) ? listed[path] : undefined);

function faultOf(
  { path, sha256: digest, size }: z.infer<typeof itemSchema>,
  known: { sha256: string; size: number } | undefined,
  isOwn: boolean,
): string | undefined {
  if (!known) return `lists ${path}, which is not ${isOwn ? "in the build" : "the file of a live record"}`;
  if (known.sha256 !== digest) return `lists ${path} with another SHA-256 than it has`;
  return known.size === size ? undefined : `lists ${path} with another size than it has`;
}

/** Faults in the lists of images. None for a site without them. */
export async function imageServerFindings(
  site: SiteReader,
  { listed }: SignedDocuments,
  artifacts: ImageServer["artifacts"],
  baseUrl: string | undefined,
): Promise<Finding[]> {
  if (baseUrl === undefined || !Object.hasOwn(listed, indexPath)) return [];
  const read = async (path: string): Promise<unknown> => {
    const known = own(listed, path);
    if (!known) return null;
    const { status, bytes } = await site.read(path, known.size + 1024 * 1024);
    if (status !== 200 || sha256(bytes) !== known.sha256) return undefined;
    return JSON.parse(new TextDecoder().decode(bytes));
  };
  const [index, images] = [await read(indexPath), await read(imagesPath)];
  return imageServerFaults({ index, images, listed, artifacts, baseUrl });
}
