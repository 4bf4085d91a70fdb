import type { BuildDocument } from "../../pipeline/documents/site.ts";
import { channelsPath } from "../../pipeline/documents/site-paths.ts";
import type { RecordIndex } from "../../pipeline/selection/record-index.ts";
import type { Encoding } from "../http/negotiate.ts";
import type { RecordTexts } from "./record-texts.ts";

/** A built site; all answers come from the same build. */
export interface CatalogSite {
  build: BuildDocument;
  /** SHA-256 of build.json. */
  id: string;
  /** Every file of the build, including build.json. */
  files: BuildDocument["files"];
  /** Path of the base URL, without a final slash: "" or such as "/some/base". */
  base: string;
  /** Bytes of a file, decoded or in the given encoding; undefined: not available. */
  read(path: string, encoding?: Encoding): Promise<Uint8Array | undefined>;
  /** The whole list; undefined: too large for this host. */
  list(): Promise<PackageList | undefined>;
  /** The list if it is already in memory, which saves reading prebuilt orders from disk. */
  packages?: PackageList;
  /** A smaller list that contains the query's results; undefined: none. */
  part?(query: URLSearchParams): Promise<PackageList | undefined>;
}

export interface PackageList {
  index: RecordIndex;
  /** Answers repeat these bytes unchanged. */
  texts: RecordTexts;
  /** Identifies the bytes of the list, and of the index of channels, on which `latest` depends. */
  digest: string;
}

export const bytesOf = ({ texts }: PackageList, positions: readonly number[]): Uint8Array =>
  texts.pieces(positions, Number.POSITIVE_INFINITY).next().value ?? new Uint8Array();

export const basePath = (baseUrl: string): string => new URL(baseUrl).pathname.replace(/\/$/, "");

export const places = {
  list: "api/v1/package/index.json",
  newestFirst: "api/v1/package/ordering=-id.json",
  listPage: "api/v1/package/index.html",
  record: (id: number | string) => `api/v1/package/${id}/index.json`,
  gone: (id: number | string) => `api/v1/package/${id}/gone.json`,
  release: (version: string) => `api/v1/release/${version}/index.json`,
  channels: channelsPath,
  notFound: "404.html",
} as const;
