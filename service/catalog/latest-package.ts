import { readListQuery } from "../../pipeline/selection/query.ts";
import { chooseLatest, type LatestChoice } from "../../pipeline/selection/select.ts";
import { detail, json, notFound, redirect } from "../http/answers.ts";
import type { ServerAnswer } from "../http/request.ts";
import type { Exchange } from "./exchange.ts";
import { unknownParameters } from "./list-packages.ts";
import { urlOf } from "./read-package.ts";
import type { PackageList } from "./site.ts";

const mostCandidates = 50;

/**
 * `GET /api/v1/package/latest/`: redirects to the matching file of the highest version. Unknown parameters
 * are rejected, because a misspelt one could select the wrong file.
 */
export async function latestPackage({ site, parameters, headers }: Exchange): Promise<ServerAnswer> {
  const query = readListQuery(parameters);
  if (query.unknown.length > 0) return unknownParameters(query, headers);
  const list = (await site.list()) ?? (await site.part?.(parameters));
  if (!list) return detail(501, "The list is too large to be searched here: name a package_type.", headers);
  const choice = chooseLatest(list.index, query);
  if (choice.kind === "none") return notFound(headers);
  if (choice.kind === "many") return json(400, ambiguous(choice, list), headers);
  const [version, id] = [
    list.index.value("version", choice.position),
    list.index.value("id", choice.position),
  ];
  const url = await urlOf(site, String(version), Number(id));
  return url === undefined ? notFound(headers) : redirect(302, url, headers);
}

function ambiguous({ positions, distinguishing }: LatestChoice & { kind: "many" }, { index }: PackageList) {
  const shown = ["id", "version", ...distinguishing.filter((field) => field !== "id")] as const;
  return {
    detail: `${positions.length} packages match; tell them apart by one of: ${distinguishing.join(", ")}.`,
    parameters: distinguishing,
    candidates: positions
      .slice(0, mostCandidates)
      .map((position) => Object.fromEntries(shown.map((field) => [field, index.value(field, position)]))),
  };
}
