import { z } from "zod";
import { plainJson, withPortablePatterns } from "../../shared/portable-patterns.ts";
import { configSchema } from "./config.ts";
import { exceptionsSchema } from "./exceptions.ts";
import { ledgerEventSchema } from "./ledger.ts";
import { manifestSchema } from "./manifest.ts";
import { noteSchema } from "./note.ts";
import { publishedRecordSchema } from "./package-record.ts";
import { planSchema } from "./plan.ts";
import { releaseSchema } from "./release.ts";
import {
  buildSchema,
  channelSchema,
  channelsSchema,
  feedsDocumentSchema,
  goneSchema,
  latestSchema,
  linesSchema,
  notesDocumentSchema,
  releaseDocumentSchema,
  releaseIndexSchema,
  versionsSchema,
} from "./site.ts";

/** All documents, by the names that `relcat schema NAME` and schemas/ use. */
export const documentSchemas = {
  catalog: configSchema,
  release: releaseSchema,
  note: noteSchema,
  manifest: manifestSchema,
  exceptions: exceptionsSchema,
  "ledger-event": ledgerEventSchema,
  plan: planSchema,
  "package-record": publishedRecordSchema,
  "package-list": z.array(publishedRecordSchema).meta({ title: "Package list" }),
  "release-document": releaseDocumentSchema,
  "release-index": releaseIndexSchema,
  "release-notes": notesDocumentSchema,
  latest: latestSchema,
  versions: versionsSchema,
  lines: linesSchema,
  channels: channelsSchema,
  channel: channelSchema,
  gone: goneSchema,
  build: buildSchema,
  feeds: feedsDocumentSchema,
} as const satisfies Record<string, z.ZodType>;

export type SchemaName = keyof typeof documentSchemas;

/** The JSON Schema (draft 2020-12) of a document, as text with a final newline. */
export function jsonSchemaText(name: SchemaName): string {
  const { $schema, ...schema } = z.toJSONSchema(documentSchemas[name]);
  return plainJson(withPortablePatterns({ $schema, $id: `urn:relcat:schema:${name}:1`, ...schema }));
}
