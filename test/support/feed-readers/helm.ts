import { z } from "zod";
import { sha256 } from "../../../pipeline/trust/metadata.ts";
import type { Finding } from "../../../pipeline/verify/finding.ts";
import {
  addressBelow,
  type BuiltFeeds,
  chainFindings,
  type FeedReport,
  newReport,
  noteListed,
  sameAddress,
} from "./built-feeds.ts";

const indexPath = "charts/index.yaml";

const indexSchema = z.object({
  entries: z.record(
    z.string(),
    z.array(z.object({ version: z.string(), urls: z.array(z.string()), digest: z.string() })),
  ),
});

/** Compares the index of charts, and the registry if there is one, with the records. */
export async function helmReport(site: BuiltFeeds): Promise<FeedReport> {
  const report = newReport();
  const index = await parsed(indexPath, indexSchema, site, report.findings);
  for (const [name, versions] of Object.entries(index?.entries ?? {}))
    for (const { version, urls, digest } of versions)
      for (const url of urls) {
        const indexed = { url: sameAddress(site.baseUrl, url), sha256: digest, size: null };
        noteListed(report, indexPath, `${name} ${version} at ${url}`, indexed, site);
      }
  for (const path of Object.keys(site.listed)) {
    const [, repository = "", tag] = /^v2\/(.+)\/manifests\/([^/:]+)$/.exec(path) ?? [];
    if (tag !== undefined) await readManifest(path, repository, site, report);
    if (/^v2\/.+\/tags\/list$/.test(path)) report.findings.push(...(await tagFindings(path, site)));
  }
  return report;
}

const descriptor = z.object({
  mediaType: z.string(),
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  size: z.number(),
});

const manifestSchema = z.object({ config: descriptor, layers: z.array(descriptor) });

async function readManifest(
  path: string,
  repository: string,
  site: BuiltFeeds,
  { findings, ids }: FeedReport,
): Promise<void> {
  const manifest = await parsed(path, manifestSchema, site, findings);
  const bytes = await site.read(path);
  if (!manifest || !bytes) return;
  const own = { sha256: sha256(bytes), size: bytes.length };
  findings.push(...chainFindings(path, `v2/${repository}/manifests/sha256:${own.sha256}`, own, site));
  const blob = ({ digest }: z.infer<typeof descriptor>) => `v2/${repository}/blobs/${digest}`;
  const digestOf = ({ digest }: z.infer<typeof descriptor>) => digest.slice("sha256:".length);
  const { config, layers } = manifest;
  findings.push(...chainFindings(path, blob(config), { sha256: digestOf(config), size: config.size }, site));
  for (const layer of layers) {
    const copy = Object.hasOwn(site.copies, blob(layer)) ? site.copies[blob(layer)] : undefined;
    if (!copy || copy.sha256 !== digestOf(layer) || copy.size !== layer.size) {
      const what = `has the layer ${layer.digest} of ${layer.size} bytes, expected a copy of an artifact with both`;
      findings.push({ path, what });
    } else if (layer.mediaType.endsWith(".tar+gzip")) {
      const known = site.live.get(addressBelow(site.baseUrl, copy.from));
      if (known?.sha256 === copy.sha256) ids.add(known.id);
      else findings.push({ path, what: `lists ${copy.from}, expected only files of live records` });
    }
  }
}

const tagsSchema = z.object({ tags: z.array(z.string()) });

async function tagFindings(path: string, site: BuiltFeeds): Promise<Finding[]> {
  const findings: Finding[] = [];
  const list = await parsed(path, tagsSchema, site, findings);
  if (!list) return findings;
  const folder = path.replace(/tags\/list$/, "manifests/");
  const tags = Object.keys(site.listed)
    .filter((name) => name.startsWith(folder) && !name.includes(":"))
    .map((name) => name.slice(folder.length))
    .sort();
  if (list.tags.toSorted().join() === tags.join()) return findings;
  return [{ path, what: `names the tags ${list.tags.join(", ")}, expected ${tags.join(", ")}` }];
}

/** undefined for a file that cannot be read, and with a finding for another form. */
async function parsed<T>(
  path: string,
  schema: z.ZodType<T>,
  site: BuiltFeeds,
  findings: Finding[],
): Promise<T | undefined> {
  const bytes = await site.read(path);
  if (!bytes) return undefined;
  try {
    return schema.parse(JSON.parse(new TextDecoder().decode(bytes)));
  } catch {
    findings.push({ path, what: `is not a document as relcat writes it` });
    return undefined;
  }
}
