import {
  architecturesOf,
  chooseLatestOfArchitecture,
  type ReleaseArchitectures,
  splitArchitecture,
} from "../../pipeline/selection/latest-of-architecture.ts";
import { readListQuery } from "../../pipeline/selection/query.ts";
import type { LatestChoice } from "../../pipeline/selection/select.ts";
import { detail, json, notFound, redirect } from "../http/answers.ts";
import type { ServerAnswer } from "../http/request.ts";
import type { Exchange } from "./exchange.ts";
import { unknownParameters } from "./list-packages.ts";
import { urlOf } from "./read-package.ts";
import { type CatalogSite, type PackageList, places } from "./site.ts";

const maxCandidates = 50;

/** Rejects unknown parameters, because a misspelt one could select the wrong file. */
export async function latestPackage({ site, parameters, headers }: Exchange): Promise<ServerAnswer> {
  const { others } = splitArchitecture(parameters);
  const query = readListQuery(others);
  if (query.unknown.length > 0) return unknownParameters(query, headers);
  const list = (await site.list()) ?? (await site.part?.(parameters));
  if (!list) return detail(501, "The list is too large to be searched here: name a package_type.", headers);
  const read = (version: string) => architecturesIn(site, version);
  const { choice, architectures: found } = await chooseLatestOfArchitecture(list.index, parameters, read);
  if (choice.kind === "none") return notFound(headers);
  if (choice.kind === "many") return json(400, ambiguous(choice, list, found), headers);
  const [version, id] = [
    list.index.value("version", choice.position),
    list.index.value("id", choice.position),
  ];
  const url = await urlOf(site, String(version), Number(id));
  return url === undefined ? notFound(headers) : redirect(302, url, headers);
}

const known = new WeakMap<CatalogSite, Map<string, Promise<ReleaseArchitectures>>>();

/** Cached, because a query may need many release documents. */
function architecturesIn(site: CatalogSite, version: string): Promise<ReleaseArchitectures> {
  const ofSite = known.get(site) ?? new Map<string, Promise<ReleaseArchitectures>>();
  known.set(site, ofSite);
  const kept = ofSite.get(version) ?? readArchitectures(site, version);
  ofSite.set(version, kept);
  kept.catch(() => ofSite.delete(version));
  return kept;
}

async function readArchitectures(site: CatalogSite, version: string): Promise<ReleaseArchitectures> {
  const bytes = await site.read(places.release(version));
  if (!bytes) return new Map();
  return architecturesOf(JSON.parse(new TextDecoder().decode(bytes)));
}

function ambiguous(
  { positions, distinguishing }: LatestChoice & { kind: "many" },
  { index }: PackageList,
  architectures: readonly (string | null)[] | undefined,
) {
  const parameters = [...distinguishing, ...(architectures ? ["arch"] : [])];
  const shown = ["id", "version", ...distinguishing.filter((field) => field !== "id")] as const;
  return {
    detail: `${positions.length} packages match; tell them apart by one of: ${parameters.join(", ")}.`,
    parameters,
    candidates: positions.slice(0, maxCandidates).map((position, at) => ({
      ...Object.fromEntries(shown.map((field) => [field, index.value(field, position)])),
      ...(architectures && { arch: architectures[at] }),
    })),
  };
}
