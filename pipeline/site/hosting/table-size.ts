/** CloudFront's limit is 5 MB; the warning comes while there is time to choose another host. */
const large = 4_000_000;

interface Table {
  path: string;
  size: number;
}

/** Tables of hosting/ that approach a host's limit. */
export const largeTables = (files: readonly Table[]): Table[] =>
  files
    .filter(
      ({ path, size }) => path.startsWith("hosting/") && /\.(?:json|map|caddy)$/.test(path) && size > large,
    )
    .map(({ path, size }) => ({ path, size }));
