import { z } from "zod";
import { pathBelow } from "../../documents/relative-path.ts";
import type { Artifact } from "../artifact.ts";
import type { Finding, Listed } from "../finding.ts";
import { addressBelow, type FeedReport, type FeedSite, newReport, rebuild, textOf } from "./feed-site.ts";

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
  if (!read.success) return [{ path: indexPath, what: `is not an index of images${rebuild}` }];
  if (!described.success) return [{ path: imagesPath, what: `is not a list of images${rebuild}` }];
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
    findings.push({
      path: indexPath,
      what: `names other images than ${imagesPath}, expected the same${rebuild}`,
    });
  for (const item of itemsIn(described.data)) {
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
  if (!known)
    return `lists ${path}, expected only files ${isOwn ? "of the build" : "of live records"}${rebuild}`;
  if (known.sha256 !== digest)
    return `lists ${path} with the SHA-256 ${digest}, expected ${known.sha256}${rebuild}`;
  return known.size === size
    ? undefined
    : `lists ${path} with ${size} bytes, expected ${known.size}${rebuild}`;
}

/** Compares the lists of images with the records. */
export async function incusReport(site: FeedSite): Promise<FeedReport> {
  const report = newReport();
  const { listed, live, baseUrl } = site;
  if (!Object.hasOwn(listed, indexPath)) return report;
  const read = async (path: string): Promise<unknown> => {
    if (!Object.hasOwn(listed, path)) return null;
    const text = await textOf(site, path);
    return text === undefined ? undefined : parsed(text);
  };
  const [index, images] = [await read(indexPath), await read(imagesPath)];
  const artifacts = Array.from(live, ([url, { sha256, size }]) => ({ url, sha256, size }));
  report.findings.push(...imageServerFaults({ index, images, listed, artifacts, baseUrl }));
  for (const { path } of itemsIn(imagesSchema.safeParse(images).data)) {
    const known = live.get(addressBelow(baseUrl, path));
    if (known) report.ids.add(known.id);
  }
  return report;
}

/** @returns null, which no schema accepts, for a text that is not JSON */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const itemsIn = (images: z.infer<typeof imagesSchema> | undefined): z.infer<typeof itemSchema>[] =>
  Object.values(images?.products ?? {}).flatMap(({ versions }) =>
    Object.values(versions).flatMap(({ items }) => Object.values(items)),
  );
