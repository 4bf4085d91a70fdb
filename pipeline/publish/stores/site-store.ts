import type { SiteStore } from "../../documents/site-store.ts";
import type { SiteSettings } from "../../documents/sites.ts";
import { dirSite } from "./dir-site.ts";

/** Opens a site for reading and publishing. @throws RelcatError for a bucket that cannot be accessed */
export async function openSite(
  { place }: SiteSettings,
  environment: Readonly<Record<string, string | undefined>>,
  pid: number,
): Promise<SiteStore> {
  if (place.kind === "dir") return dirSite(place.folder, pid);
  // Imported lazily: half of the start-up time, needed only for buckets.
  const { openS3Store } = await import("./s3-store.ts");
  const { objectSite } = await import("./object-site.ts");
  return objectSite(await openS3Store(place, environment));
}
