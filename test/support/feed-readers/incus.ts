import { z } from "zod";
import type { Listed } from "../../../pipeline/verify/finding.ts";
import { addressBelow, type BuiltFeeds, type FeedReport, newReport, textOf } from "./built-feeds.ts";

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

/** Compares the lists of images, which clients believe, with the records and with the tarballs of the build. */
export async function incusReport(site: BuiltFeeds): Promise<FeedReport> {
  const report = newReport();
  const { listed, live, baseUrl } = site;
  if (!Object.hasOwn(listed, indexPath)) return report;
  const say = (path: string, what: string) => void report.findings.push({ path, what });
  const index = indexSchema.safeParse(await json(indexPath, site)).data;
  const images = imagesSchema.safeParse(await json(imagesPath, site)).data;
  if (!index) say(indexPath, "is not an index of images");
  if (!images) say(imagesPath, "is not a list of images");
  if (!index || !images) return report;
  const named = Object.values(index.index).flatMap((entry) => entry.products);
  if (named.toSorted().join("\n") !== Object.keys(images.products).sort().join("\n"))
    say(indexPath, `names other images than ${imagesPath}, expected the same`);
  for (const item of itemsIn(images)) {
    const isOwn = item.path.startsWith("streams/");
    const known = isOwn ? undefined : live.get(addressBelow(baseUrl, item.path));
    if (known) report.ids.add(known.id);
    const fault = faultOf(item, isOwn ? own(listed, item.path) : known, isOwn);
    if (fault !== undefined) say(imagesPath, fault);
  }
  return report;
}

const own = (listed: Listed, path: string) => (Object.hasOwn(listed, path) ? listed[path] : undefined);

function faultOf(
  { path, sha256: digest, size }: z.infer<typeof itemSchema>,
  known: { sha256: string; size: number | null } | undefined,
  isOwn: boolean,
): string | undefined {
  if (!known) return `lists ${path}, expected only files ${isOwn ? "of the build" : "of live records"}`;
  if (known.sha256 !== digest) return `lists ${path} with the SHA-256 ${digest}, expected ${known.sha256}`;
  return known.size === size ? undefined : `lists ${path} with ${size} bytes, expected ${known.size}`;
}

/** undefined for a file that is missing or is not JSON. */
async function json(path: string, site: BuiltFeeds): Promise<unknown> {
  try {
    return JSON.parse((await textOf(site, path)) ?? "");
  } catch {
    return undefined;
  }
}

const itemsIn = ({ products }: z.infer<typeof imagesSchema>): z.infer<typeof itemSchema>[] =>
  Object.values(products).flatMap(({ versions }) =>
    Object.values(versions).flatMap(({ items }) => Object.values(items)),
  );
