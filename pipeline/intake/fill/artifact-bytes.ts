import { join } from "node:path";
import { failure } from "../../../shared/errors.ts";
import type { Settings } from "../../documents/config.ts";
import { pathBelow } from "../../documents/relative-path.ts";
import type { Artifact } from "../../records/artifact.ts";
import { exists } from "../../system/files.ts";
import { artifactAtHand, requireArtifacts } from "../../system/local-artifacts.ts";
import { measureArtifact } from "../../system/network/download-stream.ts";
import { rootFolder } from "../../system/root-folder.ts";
import { withWorkFolder } from "../../system/work-folder.ts";

/** An artifact, with its address in the catalog; undefined if it has none. */
export interface Addressed {
  artifact: Artifact;
  url: string | undefined;
}

/** Where the bytes of artifacts are. */
export interface ArtifactBytes {
  /** As messages name it. */
  place: string;
  /** Calls `work` with the path of an artifact's file. @returns undefined if the file is not there */
  use<T>(addressed: Addressed, work: (path: string) => Promise<T>): Promise<T | undefined>;
}

/** @param folder that holds artifacts as FILE or VERSION/FILE @throws RelcatError folder-missing */
export function inFolder(folder: string): ArtifactBytes {
  requireArtifacts(folder);
  return {
    place: folder,
    async use({ artifact: { content, file } }, work) {
      const path = artifactAtHand(folder, content.version, file);
      return path === undefined ? undefined : work(path);
    },
  };
}

/**
 * Downloads artifacts into a temporary folder, one after the other. The site need not be trusted, because the
 * caller compares the bytes with the checksum in the ledger.
 * @param site name in catalog.yaml, address, or folder
 * @throws RelcatError site-unknown
 */
export function atSite(site: string, config: Settings): ArtifactBytes {
  const place = config.sites.get(site)?.baseUrl ?? site.replace(/\/+$/, "");
  const isRemote = /^https?:\/\//.test(place);
  if (!isRemote && !exists(place)) throw unknownSite(site, config);
  const addressOf = (url: string) => {
    const path = pathBelow(config.baseUrl, url);
    if (path === undefined) return url;
    return isRemote ? place + url.slice(config.baseUrl.length) : rootFolder(place)(path);
  };
  return {
    place,
    async use({ artifact, url }, work) {
      if (url === undefined) return undefined;
      return withWorkFolder(async (folder) => {
        const address = addressOf(url);
        // biome-ignore lint/plugin: the schema of manifests accepts only names of files.
        const path = join(folder, artifact.file);
        if (!(await fetchInto(address, path, artifact.size ?? maxArtifactBytes))) return undefined;
        if (artifact.content.package_type === "helm")
          await fetchInto(`${address}.prov`, `${path}.prov`, maxProvenanceBytes);
        return work(path);
      });
    },
  };
}

/** Larger than any image. */
const maxArtifactBytes = 2 ** 40;
const maxProvenanceBytes = 2 ** 20;

/** @returns false if there is no such file @throws RelcatError network */
async function fetchInto(address: string, path: string, limit: number): Promise<boolean> {
  const { status } = await measureArtifact(address, limit, () => {}, path);
  if (status === 200) return true;
  if (status === 404 || status === 410) return false;
  throw failure(
    "network",
    `${address} answered ${status}, expected 200`,
    "Try again when the host serves it.",
  );
}

function unknownSite(site: string, { sites }: Settings) {
  const known =
    sites.size === 0 ? "catalog.yaml names no site" : `catalog.yaml has ${[...sites.keys()].join(", ")}`;
  return failure(
    "site-unknown",
    `${JSON.stringify(site)} is not a site of catalog.yaml, an address or a folder`,
    `Give https://…, a folder, or the name of a site: ${known}.`,
  );
}
