import { indexStream, type Row } from "../../pipeline/selection/record-index.ts";
import { RecordTexts } from "./record-texts.ts";
import type { PackageList } from "./site.ts";

/**
 * Parses a list. Record texts stay as bytes, so that answers only copy the published bytes; in addition, only
 * the distinct values of each field are stored.
 * @param bytes a JSON array of records, compact as relcat emits it
 * @param digest of the bytes
 */
export function readPackageList(bytes: Uint8Array, digest: string): PackageList {
  const texts = new RecordTexts(bytes);
  const decoder = new TextDecoder();
  const read = (position: number): Row => JSON.parse(decoder.decode(texts.text(position)));
  const rows = Iterator.from(Array(texts.count).keys()).map(read);
  return {
    index: indexStream(texts.count, rows, (position) => read(position).data),
    texts,
    digest,
  };
}
