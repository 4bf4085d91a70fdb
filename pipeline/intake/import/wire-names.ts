import type { Problem } from "../../../shared/errors.ts";
import type { Settings } from "../../documents/config.ts";
import { isObject } from "../../documents/is-object.ts";
import type { WireName } from "../../documents/outputs/intake.ts";
import { takenWireNames } from "../../project/config-rules.ts";
import type { LiveRecord } from "./read-records.ts";

export const wireKeys = ["vendor", "cryptolib_post"] as const;
export type WireKey = (typeof wireKeys)[number];

type Names = Partial<Settings["wire"]>;

/** The most frequent name whose value has the structure wins. @param kept names that this catalog's records use */
export function wireNames(records: readonly LiveRecord[], given: Names, kept: Names) {
  const problems: Problem[] = [];
  const decide = (key: WireKey): WireName => {
    const counts = countCandidates(records, key);
    const fixed = kept[key] ?? given[key];
    if (kept[key] !== undefined && given[key] !== undefined && given[key] !== kept[key]) {
      problems.push(nameKept(key, kept[key], given[key]));
    }
    if (fixed !== undefined)
      return { name: fixed, from: kept[key] ? "kept" : "given", records: counts.get(fixed) ?? 0 };
    const [first, second] = [...counts].sort(([, a], [, b]) => b - a);
    if (!first) return { name: key, from: "default", records: 0 };
    if (first[1] === second?.[1]) problems.push(ambiguous(key, first[0], second[0], first[1]));
    return { name: first[0], from: "found", records: first[1] };
  };
  return { names: { vendor: decide("vendor"), cryptolib_post: decide("cryptolib_post") }, problems };
}

const marks: Record<WireKey, string[]> = {
  vendor: ["rev", "image"],
  cryptolib_post: ["expected_hash", "expected_hash_per_arch"],
};

/** The object of `data` that has a key of this kind. */
function parentOf(data: unknown, key: WireKey): Readonly<Record<string, unknown>> {
  const parent = key === "vendor" || !isObject(data) ? data : data.attestation;
  return isObject(parent) ? parent : {};
}

export const hasName = (data: unknown, key: WireKey, name: string): boolean =>
  Object.hasOwn(parentOf(data, key), name);

/** Names that the configuration can express. */
const writable = /^[A-Za-z_][A-Za-z0-9_-]*$/;

function countCandidates(records: readonly LiveRecord[], key: WireKey): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { data } of records) {
    for (const [name, part] of Object.entries(parentOf(data, key))) {
      const fits = isObject(part) && marks[key].some((mark) => Object.hasOwn(part, mark));
      if (fits && !takenWireNames[key].includes(name) && writable.test(name))
        counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return counts;
}

function ambiguous(key: WireKey, one: string, other: string, count: number): Problem {
  const message = `two keys look like ${key}: ${one} and ${other}, each in ${count === 1 ? "1 record" : `${count} records`}`;
  const hint = `Say which one it is: --wire ${key}=${one} or --wire ${key}=${other}.`;
  return { code: "import-wire", severity: "error", message, hint };
}

function nameKept(key: WireKey, kept: string, given: string): Problem {
  const message = `the key name of ${key} is ${kept} in this catalog, but --wire gives ${given}`;
  const hint =
    "A change would revise every record that has it: leave --wire out, or change catalog.yaml first.";
  return { code: "import-wire", severity: "error", message, hint };
}
