import type { Config } from "../documents/config.ts";
import { isObject } from "../documents/is-object.ts";
import type { LiveRecord } from "../intake/import/read-records.ts";
import { wireNames } from "../intake/import/wire-names.ts";

type Wire = Config["wire"];
type Fields = Readonly<Record<string, unknown>>;

/** Key names inside `data` of a live catalog; ours if it has none or they cannot be determined. */
export function liveWire(records: readonly LiveRecord[], ours: Wire): Wire {
  const { names, problems } = wireNames(records, { given: {}, kept: {} });
  if (problems.length > 0) return ours;
  const found = (key: keyof Wire) => (names[key].from === "found" ? names[key].name : ours[key]);
  return { vendor: found("vendor"), cryptolib_post: found("cryptolib_post") };
}

export function inWireNames(record: Fields, from: Wire, to: Wire): Fields {
  const { data } = record;
  if (!isObject(data)) return record;
  const renamed = rename(data, from.vendor, to.vendor);
  const { attestation } = renamed;
  if (!isObject(attestation)) return { ...record, data: renamed };
  return {
    ...record,
    data: { ...renamed, attestation: rename(attestation, from.cryptolib_post, to.cryptolib_post) },
  };
}

const rename = (object: Fields, from: string, to: string): Record<string, unknown> =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key === from ? to : key, value]));

export const sameWire = (a: Wire, b: Wire): boolean =>
  a.vendor === b.vendor && a.cryptolib_post === b.cryptolib_post;
