/** CloudFront's store takes 5 MB; there is still time to choose another host. */
const large = 4_000_000;

interface Table {
  path: string;
  size: number;
}

/** The tables of hosting/ that hosts may soon refuse. */
export const largeTables = (files: readonly Table[]): Table[] =>
  files
    .filter(
      ({ path, size }) => path.startsWith("hosting/") && /\.(?:json|map|caddy)$/.test(path) && size > large,
    )
    .map(({ path, size }) => ({ path, size }));
