import { versionsOfChannel } from "../../pipeline/selection/channels.ts";
import { indexRecords, type Row, withoutData } from "../../pipeline/selection/record-index.ts";
import { RecordTexts } from "./record-texts.ts";
import type { PackageList } from "./site.ts";

/** The index of channels in a site that has them. */
export interface ListedChannels {
  bytes: Uint8Array;
  sha256: string;
}

/**
 * Parses a list. Record texts stay as bytes, so that answers only copy the published bytes; parsed records are
 * stored without their nested part, which is most of them.
 * @param bytes a JSON array of records, compact as relcat emits it
 * @param digest of the bytes
 * @param channels the index of channels; undefined: the site has none
 */
export function readPackageList(bytes: Uint8Array, digest: string, channels?: ListedChannels): PackageList {
  const texts = new RecordTexts(bytes);
  const decoder = new TextDecoder();
  const read = (position: number): Row => JSON.parse(decoder.decode(texts.text(position)));
  const rows = Array.from({ length: texts.count }, (_, position) => withoutData(read(position)));
  const offered = channels && versionsOfChannel(JSON.parse(decoder.decode(channels.bytes)));
  return {
    index: indexRecords(rows, offered, (position) => read(position).data),
    texts,
    digest,
    channels: channels?.sha256,
  };
}
