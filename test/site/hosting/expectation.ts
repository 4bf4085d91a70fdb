import type { ServedSite } from "./catalog.ts";
import { idsOf } from "./catalog.ts";
import { type Answer, decoded } from "./exchange.ts";

/** Requirements for an answer; everything else is ignored. */
export interface Expected {
  status: number;
  /** By lower-case name; null: must not be there. */
  headers?: Readonly<Record<string, string | RegExp | null>>;
  /** The bytes of this file of the site. */
  file?: string;
  /** The records of a list, by id, in this order. */
  ids?: readonly number[];
  /** Members that the JSON body has. */
  json?: object;
  /** Expected body text. */
  text?: string | RegExp;
}

/** The differences of an answer from the expectation, as sentences. */
export function differences(answer: Answer, expected: Expected, site: ServedSite): string[] {
  const found: string[] = [];
  const compare = (what: string, actual: unknown, wanted: unknown) => {
    const same = wanted instanceof RegExp ? wanted.test(String(actual)) : isSame(actual, wanted);
    if (!same) found.push(`${what}: ${show(actual)}, expected ${show(wanted)}`);
  };
  compare("status", answer.status, expected.status);
  for (const [name, value] of Object.entries(expected.headers ?? {})) {
    compare(name, answer.headers[name] ?? null, value);
  }
  if (found.length > 0) return found;
  const body = decoded(answer);
  if (expected.text !== undefined) compare("body", String(body), expected.text);
  if (expected.file !== undefined) compare("body", String(body), String(site.tree.get(expected.file)));
  if (expected.ids) compare("ids", idsOf(body), expected.ids);
  if (expected.json) {
    const value = JSON.parse(String(body));
    for (const [key, wanted] of Object.entries(expected.json)) compare(key, value[key], wanted);
  }
  return found;
}

const isSame = (a: unknown, b: unknown) => a === b || JSON.stringify(a) === JSON.stringify(b);

const show = (value: unknown) =>
  value instanceof RegExp ? String(value) : JSON.stringify(value)?.slice(0, 300);
