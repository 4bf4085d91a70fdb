import type { OutputFile } from "../documents/published.ts";
import { joinedFile, jsonFile } from "./output.ts";

/** A record's id and its wire JSON. */
export interface RecordText {
  id: number;
  json: string;
}

/**
 * The whole list, one bare array: versions descending, then ids descending (source: section 4.1), and the
 * same ordered by id alone.
 * @param records in list order
 */
export function listFiles(records: readonly RecordText[], baseUrl: string): OutputFile[] {
  const list = () => array(records);
  return [
    joinedFile("api/v1/package/ordering=-id.json", () => array([...records].sort((a, b) => b.id - a.id))),
    joinedFile("api/v1/package.json", list),
    joinedFile("api/v1/package/index.json", list),
    jsonFile("api/v1/index.json", { package: `${baseUrl}/api/v1/package/` }),
  ];
}

/** A JSON array from its elements' texts. */
export function* array(records: readonly RecordText[]): Generator<string> {
  yield "[";
  for (const [index, { json }] of records.entries()) yield index === 0 ? json : `,${json}`;
  yield "]";
}
