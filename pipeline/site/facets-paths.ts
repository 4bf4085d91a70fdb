/** Key of a prebuilt list: a system, or a package type and a range of versions of the system. */
export interface FacetKey {
  system?: string | undefined;
  type?: string | undefined;
  min?: string | undefined;
  max?: string | undefined;
}

/** Only values that are valid in a path and in every host's configuration. */
export const canBeFacet = (value: unknown): value is string =>
  typeof value === "string" && /^[0-9A-Za-z][0-9A-Za-z._-]{0,63}$/.test(value);

/**
 * Marks capitals, because `linux` and `Linux` are two systems, but the same file on case-insensitive file
 * systems.
 */
export const facetSegment = (value: string): string =>
  value.replace(/[A-Z]/g, (capital) => `!${capital.toLowerCase()}`);

/** Path of a facet's list, relative to the site's root. */
export function facetPath({ system, type = "", min, max }: FacetKey): string {
  if (system !== undefined) return `facets/os/${facetSegment(system)}.json`;
  const bounds = [
    ...(min === undefined ? [] : [`min=${facetSegment(min)}`]),
    ...(max === undefined ? [] : [`max=${facetSegment(max)}`]),
  ];
  return `facets/type/${[facetSegment(type), ...bounds].join("/")}.json`;
}

/** The empty list, for queries that match nothing. */
export const emptyFacet = "facets/none.json";
