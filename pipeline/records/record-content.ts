import { packageRecordSchema } from "../documents/package-record.ts";
import { hashContent } from "./normalize.ts";

const contentFields = Object.keys(packageRecordSchema.shape);
const outsideContent = ["id", "created_date", "modified_date"];

/** `content` of a listed record, as in its ledger line. */
export function contentOf(record: Readonly<Record<string, unknown>>): string {
  const fields = [...contentFields, ...Object.keys(record).filter((field) => !contentFields.includes(field))];
  const present = fields.filter((field) => !outsideContent.includes(field) && Object.hasOwn(record, field));
  return hashContent(Object.fromEntries(present.map((field) => [field, record[field]])));
}
