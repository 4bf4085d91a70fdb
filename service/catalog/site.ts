import type { BuildDocument } from "../../pipeline/documents/site.ts";
import type { RecordIndex } from "../../pipeline/selection/record-index.ts";
import type { Encoding } from "../http/negotiate.ts";
import type { RecordTexts } from "./record-texts.ts";

/** A built site that answers are taken from; all its answers are those of one build. */
export interface CatalogSite {
  build: BuildDocument;
  /** SHA-256 of build.json. */
  id: string;
  /** Every file of the build, build.json too. */
  files: BuildDocument["files"];
  /** Path of the base URL, without a final slash: "" or such as "/some/base". */
  base: string;
  /** The bytes of one of the build's files, decoded or as one of the encodings; undefined: there are none such. */
  read(path: string, encoding?: Encoding): Promise<Uint8Array | undefined>;
  /** The whole list, to select from; undefined where it is too large for this host. */
  list(): Promise<PackageList | undefined>;
  /** The same where it is in memory anyway: another order of it is not read, but put together. */
  packages?: PackageList;
  /** The positions' answer for a list that is too large, from smaller files; undefined: there is none. */
  part?(query: URLSearchParams): Promise<PackageList | undefined>;
}

/** The records of a list and their texts. */
export interface PackageList {
  index: RecordIndex;
  /** Answers have the very bytes that the whole list has for each record. */
  texts: RecordTexts;
  /** Says the same for the same bytes of the list. */
  digest: string;
}

/** The JSON array of some of a list's records. */
export const bytesOf = ({ texts }: PackageList, positions: readonly number[]): Uint8Array =>
  texts.pieces(positions, Number.POSITIVE_INFINITY).next().value ?? new Uint8Array();

/** Path of the base URL, without a final slash. */
export const basePath = (baseUrl: string): string => new URL(baseUrl).pathname.replace(/\/$/, "");

/** Where things lie in every site. */
export const places = {
  list: "api/v1/package/index.json",
  newestFirst: "api/v1/package/ordering=-id.json",
  listPage: "api/v1/package/index.html",
  record: (id: number | string) => `api/v1/package/${id}/index.json`,
  gone: (id: number | string) => `api/v1/package/${id}/gone.json`,
  release: (version: string) => `api/v1/release/${version}/index.json`,
  notFound: "404.html",
} as const;
