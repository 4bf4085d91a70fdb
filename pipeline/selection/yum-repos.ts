import { posix } from "node:path";
import type { RpmMetadata } from "../../shared/package-metadata.ts";
import type { YumSettings } from "../documents/feeds/settings.ts";

/** The repositories that take an rpm, of all channels. */
export const yumReposOf = (file: string, { repos }: YumSettings): YumSettings["repos"] =>
  repos.filter(({ match }) => match === undefined || posix.matchesGlob(file, match));

/** Name, epoch, version, release and architecture; a repository lists only one rpm of each. */
export const nevra = ({ name, epoch, version, release, native_arch }: RpmMetadata): string =>
  `${name}-${epoch}:${version}-${release}.${native_arch}`;
