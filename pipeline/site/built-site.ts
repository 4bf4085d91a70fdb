import type { Problem } from "../../shared/errors.ts";
import type { Config } from "../documents/config.ts";
import type { RenderedRelease } from "../documents/published.ts";
import type { FeedsDocument } from "../documents/site.ts";
import type { MadeFile } from "../journal/file-stats.ts";
import type { AssignedIds } from "../ledger/assign-ids.ts";
import type { CatalogHead } from "../ledger/catalog.ts";
import type { Placed } from "./stores/site-folder.ts";

export interface BuiltSite {
  catalog: CatalogHead & { identified: AssignedIds; problems: Problem[] };
  site: {
    config: Config;
    /** Versions that are not permanent, ascending. */
    provisional: string[];
    releaseCount: number;
    packageCount: number;
    /** Records that feeds leave out. */
    leftOut: FeedsDocument["feeds"];
  };
  delivery: Delivery;
}

export interface Delivery extends Pick<Placed, "written" | "unchanged" | "removed" | "bytes"> {
  /** Files of hosting/ that approach the size limit of their host. */
  largeTables: Table[];
}

interface Parts extends Pick<BuiltSite["site"], "leftOut"> {
  catalog: CatalogHead;
  ids: AssignedIds;
  problems: Problem[];
  releases: readonly RenderedRelease[];
  placed: Placed;
}

export function describeSite({ catalog, ids, problems, releases, leftOut, placed }: Parts): BuiltSite {
  const { written, unchanged, removed, bytes, groups } = placed;
  return {
    catalog: { ...catalog, identified: ids, problems },
    site: {
      config: catalog.config,
      provisional: releases.filter(({ provisional }) => provisional).map(({ version }) => version),
      releaseCount: releases.length,
      packageCount: releases.reduce((sum, release) => sum + release.packages.length, 0),
      leftOut,
    },
    delivery: {
      written,
      unchanged,
      removed,
      bytes,
      largeTables: groups.flatMap(({ files }) => largeTables(files)),
    },
  };
}

/** CloudFront's limit is 5 MB; the warning comes while there is time to choose another host. */
const maxTableBytes = 4_000_000;

type Table = Pick<MadeFile, "path" | "size">;

export const largeTables = (files: readonly Table[]): Table[] =>
  files
    .map(({ path, size }) => ({ path, size }))
    .filter(({ path, size }) => /^hosting\/.*\.(?:json|map|caddy)$/.test(path) && size > maxTableBytes);
