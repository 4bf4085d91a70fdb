import { loadSettings } from "../../pipeline/project/settings.ts";
import { filterFields } from "../../pipeline/selection/fields.ts";
import type { Candidate } from "./complete-ids.ts";

export async function configured(values: string, releases: string): Promise<Candidate[]> {
  if (values === "filters")
    return [...filterFields, "line", "ordering"].map((name) => ({ value: `${name}=`, about: "" }));
  const { sites, channels, components, kinds } = await loadSettings(releases, undefined);
  const tables: Readonly<Record<string, Iterable<readonly [name: string, about: string]>>> = {
    sites: [...sites].map(([name, { url }]) => [name, url]),
    channels: channels.map((name) => [name, ""]),
    components,
    kinds,
  };
  return words(tables[values] ?? []);
}

/** Removes special characters, because shells expand suggested words. */
const words = (named: Iterable<readonly [name: string, about: string]>): Candidate[] =>
  [...named]
    .filter(([name]) => /^[\w.-]+$/.test(name))
    .map(([value, about]) => ({ value, about: about.replace(/[^\p{L}\p{N} /:._-]/gu, "") }));
