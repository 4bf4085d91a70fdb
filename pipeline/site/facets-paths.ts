/** What a pre-rendered list is chosen by: a system, or a type with the bounds that narrow it. */
export interface FacetKey {
  system?: string | undefined;
  type?: string | undefined;
  min?: string | undefined;
  max?: string | undefined;
}

/** Values that may stand in a path and in every host's configuration. */
export const canBeFacet = (value: unknown): value is string =>
  typeof value === "string" && /^[0-9A-Za-z][0-9A-Za-z._-]{0,63}$/.test(value);

/**
 * A value as part of a path. Capitals are marked, because `linux` and `Linux` are two systems and, on many
 * computers, one file.
 */
export const facetSegment = (value: string): string =>
  value.replace(/[A-Z]/g, (capital) => `!${capital.toLowerCase()}`);

/** Where the list of a facet lies, from the site's root. */
export function facetPath({ system, type = "", min, max }: FacetKey): string {
  if (system !== undefined) return `facets/os/${facetSegment(system)}.json`;
  const bounds = [
    ...(min === undefined ? [] : [`min=${facetSegment(min)}`]),
    ...(max === undefined ? [] : [`max=${facetSegment(max)}`]),
  ];
  return `facets/type/${[facetSegment(type), ...bounds].join("/")}.json`;
}

/** The empty list, for questions whose answer is known to be nothing. */
export const emptyFacet = "facets/none.json";
