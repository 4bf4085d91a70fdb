import { indexStream, type Row } from "../../pipeline/selection/record-index.ts";
import { RecordTexts } from "./record-texts.ts";
import type { PackageList } from "./site.ts";

/**
 * Reads a list's bytes. The records' texts stay what they are, so an answer repeats the published bytes and
 * costs a copy; beside them only the distinct values of each field are kept.
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
