/** Fields in published order. They are apart from the schema, because the edge worker reads them without zod. */
export const recordFields = [
  "id",
  "name",
  "version",
  "description",
  "checksum",
  "operating_system",
  "min_os_version",
  "max_os_version",
  "package_type",
  "created_date",
  "modified_date",
  "data",
  "exclude_from_api",
  "gui_only",
  "headless",
  "platform",
  "only_for_account",
] as const;

export type RecordField = (typeof recordFields)[number];

/** A record, or a part of one, with its fields in order. */
export function inOrder<T extends { readonly [Field in RecordField]?: unknown }>(record: T): T {
  const ordered: { [Field in RecordField]?: unknown } = {};
  for (const field of recordFields) if (field in record) ordered[field] = record[field];
  return ordered as T;
}
