import { failure } from "../../shared/errors.ts";
import type { Config } from "../documents/config.ts";
import type { SiteSettings } from "../documents/sites.ts";

/** @throws RelcatError site-unknown if catalog.yaml has no site of that name */
export function siteNamed({ sites }: Config, name: string): SiteSettings {
  const site = sites.get(name);
  if (site) return site;
  const known = [...sites.keys()];
  throw failure(
    "site-unknown",
    `catalog.yaml has no site ${JSON.stringify(name)}`,
    known.length > 0
      ? `It has ${known.join(", ")}.`
      : 'Name one there: sites: { prod: { url: "dir:/srv/catalog" } }',
  );
}
