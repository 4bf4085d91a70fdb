import { posix } from "node:path";
import type { YumSettings } from "../documents/feeds.ts";
import type { RpmMetadata } from "../documents/package-metadata.ts";

/** Names of the repositories that take an rpm. */
export const yumReposOf = (file: string, { repos }: YumSettings): string[] =>
  repos.filter(({ match }) => match === undefined || posix.matchesGlob(file, match)).map(({ name }) => name);

/** Name, epoch, version, release and architecture; a repository lists only one rpm of each. */
export const nevra = ({ name, epoch, version, release, native_arch }: RpmMetadata): string =>
  `${name}-${epoch}:${version}-${release}.${native_arch}`;
