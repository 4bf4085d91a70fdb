import { versionsOfChannel } from "../../pipeline/selection/channels.ts";
import { indexRecords, type Row, withoutData } from "../../pipeline/selection/record-index.ts";
import { RecordTexts } from "./record-texts.ts";
import { type CatalogSite, type PackageList, places } from "./site.ts";

/**
 * The list in a file of a site; undefined: the site does not have it.
 * @throws Error if the site has channels and their index cannot be read: `latest` would choose among all releases
 */
export async function listIn(
  { files, read }: Pick<CatalogSite, "files" | "read">,
  path: string,
): Promise<PackageList | undefined> {
  const paths = Object.hasOwn(files, places.channels) ? [path, places.channels] : [path];
  const [list, channels] = await Promise.all(paths.map((each) => read(each)));
  if (paths.length > 1 && !channels) throw new Error(`${places.channels} cannot be read`);
  const digests = paths.map((each) => (files[each]?.sha256 ?? "").slice(0, digestLength));
  return list && readPackageList(list, digests.join("-"), channels);
}

export const digestLength = 16;

/**
 * Parses a list. Record texts stay as bytes, so that answers only copy the published bytes; parsed records are
 * stored without their nested part, which is most of them.
 * @param bytes a JSON array of records, compact as relcat emits it
 * @param digest identifies the bytes, and those of the index of channels
 * @param channels the index of channels; undefined: the site has none
 */
export function readPackageList(bytes: Uint8Array, digest: string, channels?: Uint8Array): PackageList {
  const texts = new RecordTexts(bytes);
  const decoder = new TextDecoder();
  const read = (position: number): Row => JSON.parse(decoder.decode(texts.text(position)));
  const rows = Array.from({ length: texts.count }, (_, position) => withoutData(read(position)));
  const offered = channels && versionsOfChannel(JSON.parse(decoder.decode(channels)));
  return { index: indexRecords(rows, offered, (position) => read(position).data), texts, digest };
}
