import type { BuildDocument } from "../documents/site.ts";
import { compareFiles } from "./files.ts";
import type { Finding } from "./finding.ts";
import type { SiteReader } from "./stores/site-reader.ts";

/** Copies of artifacts, which publishing makes. A folder that `build` wrote has neither artifacts nor copies. */
export async function copyFindings(site: SiteReader, build: BuildDocument | undefined): Promise<Finding[]> {
  const copies = build?.copies ?? {};
  const paths: string[] = [];
  for (const [path, { from, size }] of Object.entries(copies))
    if (site.isRemote || (await isThere(site, path, size)) || (await isThere(site, from, size)))
      paths.push(path);
  return compareFiles(site, paths.sort(), copies, () => {});
}

const slack = 1024 * 1024;

const isThere = async (site: SiteReader, path: string, size: number): Promise<boolean> =>
  (await site.read(path, size + slack)).status !== 404;
