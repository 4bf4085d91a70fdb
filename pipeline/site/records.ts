import type { OutputFile, PublishedRelease } from "../documents/published.ts";
import type { RetractedRecord } from "../documents/site.ts";
import { jsonFile, textFile } from "./output.ts";

/** `api/v1/package/{id}/`: one record as JSON, or the body of its 410 once it is retracted. */
export function recordFiles(release: PublishedRelease): OutputFile[] {
  return [
    ...release.packages.map(({ record, json }) => textFile(`api/v1/package/${record.id}/index.json`, json)),
    ...release.retracted.map((record) => jsonFile(`api/v1/package/${record.id}/gone.json`, goneBody(record))),
  ];
}

/** What a retracted record's address answers. */
export function goneBody({ id, reason, replaced_by }: RetractedRecord) {
  return { detail: "This package was withdrawn.", id, reason, replaced_by };
}
