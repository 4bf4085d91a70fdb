import type { OutputFile, PublishedRelease } from "../documents/published.ts";
import type { RetractedRecord } from "../documents/site.ts";
import { jsonFile, textFile } from "./output.ts";

/** `api/v1/package/{id}/`: a record as JSON, or the body of its 410 after a retraction. */
export function recordFiles(release: PublishedRelease): OutputFile[] {
  return [
    ...release.packages.map(({ record, json }) => textFile(`api/v1/package/${record.id}/index.json`, json)),
    ...release.retracted.map((record) => jsonFile(`api/v1/package/${record.id}/gone.json`, goneBody(record))),
  ];
}

/** Body of the answer for a retracted record. */
export function goneBody({ id, name, reason, replaced_by }: RetractedRecord) {
  return { detail: "This package was withdrawn.", id, name, reason, replaced_by };
}
