import { posix } from "node:path";
import type { RpmMetadata } from "../../shared/package-metadata.ts";
import type { YumSettings } from "../documents/feeds/settings.ts";

/** Names of the repositories that list an rpm. */
export const yumReposOf = (file: string, { repos }: YumSettings): string[] =>
  repos.filter(({ match }) => match === undefined || posix.matchesGlob(file, match)).map(({ name }) => name);

/** Name, epoch, version, release and architecture; a repository lists only one rpm of each. */
export const nevra = ({ name, epoch, version, release, native_arch }: RpmMetadata): string =>
  `${name}-${epoch}:${version}-${release}.${native_arch}`;
