import type { z } from "zod";
import { object, timestamp } from "../../shared/fields.ts";
import {
  attestationSchema,
  cryptolibPostSchema,
  storeSchema,
  vendorSchema,
} from "../documents/attestation.ts";
import type { Settings } from "../documents/config.ts";
import { isObject } from "../documents/is-object.ts";
import type { WrittenArtifact } from "../documents/manifest.ts";
import { packageRecordSchema } from "../documents/package-record.ts";

type Wire = Settings["wire"];
type Fields = Readonly<Record<string, unknown>>;

/** Fields of an imported record that its manifest entry cannot express. */
export interface Verbatim {
  /** In published form. */
  fields: Fields;
  /** Fields that the record lacks. */
  absent: readonly string[];
}

/** Dates are in the ledger; imported ones are kept until a later event changes them. */
export const dateFields = ["created_date", "modified_date"] as const;
export type DateField = (typeof dateFields)[number];

/** Dates that the ledger cannot express, because its lines only go forward. */
export const outOfOrder = (created: unknown, modified: unknown): boolean =>
  [created, modified].every((date) => timestamp.safeParse(date).success) &&
  String(modified) < String(created);

export function verbatimOf({ verbatim, absent }: WrittenArtifact): Verbatim | undefined {
  return verbatim || absent ? { fields: verbatim ?? {}, absent: absent ?? [] } : undefined;
}

/** The record in its imported form. @param dates date fields that still have their imported values */
export function asImported(
  record: object,
  verbatim: Verbatim | undefined,
  dates: readonly DateField[],
): Fields {
  if (!verbatim) return record as Fields;
  const held: readonly string[] = ["id", "version", ...dateFields.filter((field) => !dates.includes(field))];
  const kept = Object.entries(verbatim.fields).filter(([field]) => !held.includes(field));
  const entries = Object.entries({ ...record, ...Object.fromEntries(kept) });
  return Object.fromEntries(
    entries.filter(([field]) => held.includes(field) || !verbatim.absent.includes(field)),
  );
}

const shapes = new WeakMap<Wire, ReturnType<typeof wireRecordShape>>();

/** Schema of a record's fields with published key names, all optional. */
export function recordShape(wire: Wire): ReturnType<typeof wireRecordShape> {
  const shape = shapes.get(wire) ?? wireRecordShape(wire);
  shapes.set(wire, shape);
  return shape;
}

function wireRecordShape(wire: Wire) {
  const { cryptolib_post: _, ...attestation } = attestationSchema.shape;
  const data = object({
    store: storeSchema.optional(),
    [wire.vendor]: vendorSchema.optional(),
    attestation: object({ ...attestation, [wire.cryptolib_post]: cryptolibPostSchema.optional() }).optional(),
  });
  return packageRecordSchema.extend({ data }).partial();
}

/** `data` with neutral key names, without parts that are not objects. */
export function neutralData(data: unknown, wire: Wire): Record<string, unknown> {
  if (!isObject(data)) return {};
  const { store, attestation, [wire.vendor]: vendor } = data;
  const parts = {
    store,
    vendor,
    attestation: isObject(attestation) ? neutralAttestation(attestation, wire) : undefined,
  };
  return Object.fromEntries(Object.entries(parts).filter(([, part]) => isObject(part)));
}

function neutralAttestation(attestation: Fields, wire: Wire): Fields {
  const { [wire.cryptolib_post]: cryptolib_post, ...rest } = attestation;
  return cryptolib_post === undefined ? rest : { ...rest, cryptolib_post };
}

/**
 * An imported entry with the verbatim values that fit their field. The rule about verbatim values reports the others.
 */
export function readable(artifact: WrittenArtifact, wire: Wire): WrittenArtifact {
  const { verbatim } = artifact;
  if (!verbatim) return artifact;
  const fitting = simpleFields.filter(
    (field) =>
      Object.hasOwn(verbatim, field) && packageRecordSchema.shape[field].safeParse(verbatim[field]).success,
  );
  return {
    ...artifact,
    ...Object.fromEntries(fitting.map((field) => [field, verbatim[field]])),
    ...visibility(verbatim),
    ...(Object.hasOwn(verbatim, "data") && readableData(verbatim.data, wire)),
  };
}

const simpleFields = [
  ...(["description", "operating_system", "platform"] as const),
  ...(["min_os_version", "max_os_version", "gui_only", "headless"] as const),
];

/** An unknown restriction makes the record private, because publishing it could be a leak. */
function visibility(verbatim: Fields): Partial<WrittenArtifact> {
  const { exclude_from_api: excluded, only_for_account: account } = verbatim;
  const asText = (value: unknown) =>
    typeof value === "string" || typeof value === "number" ? value : JSON.stringify(value);
  return {
    ...(excluded !== undefined && { exclude_from_api: Boolean(excluded) }),
    ...(account !== undefined && { only_for_account: account === null ? null : asText(account) }),
  };
}

function readableData(data: unknown, wire: Wire): Partial<WrittenArtifact> {
  const { store, vendor, attestation } = neutralData(data, wire);
  return {
    store: salvage(store, storeSchema),
    vendor: salvage(vendor, vendorSchema),
    attestation: salvage(attestation, attestationSchema),
  };
}

/** Removes the parts of a value that do not fit its schema; undefined if nothing remains. */
function salvage<T extends z.ZodType>(value: unknown, schema: T): z.infer<T> | undefined {
  const copy = structuredClone(value);
  for (let result = schema.safeParse(copy); ; result = schema.safeParse(copy)) {
    if (result.success) return result.data;
    const [issue] = result.error.issues;
    if (!issue || !discard(copy, issue)) return undefined;
  }
}

/** Removes the part that an issue refers to; false if that is the whole value. */
function discard(root: unknown, issue: z.core.$ZodIssue): boolean {
  const keys =
    issue.code === "unrecognized_keys" ? issue.keys.map((key) => [...issue.path, key]) : [issue.path];
  return keys.every((path) => discardAt(root, path));
}

function discardAt(root: unknown, path: readonly PropertyKey[]): boolean {
  for (let length = path.length; length > 0; length--) {
    const parent = path
      .slice(0, length - 1)
      .reduce<unknown>((value, key) => (value as Fields)?.[String(key)], root);
    const key = path[length - 1] ?? "";
    if (Array.isArray(parent) && typeof key === "number" && key in parent)
      return parent.splice(key, 1).length > 0;
    if (isObject(parent) && Object.hasOwn(parent, key)) return Reflect.deleteProperty(parent, key);
    // A missing value cannot be removed, so its parent is.
  }
  return false;
}
