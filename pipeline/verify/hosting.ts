import type { BuildDocument } from "../documents/site.ts";
import { sha256 } from "../trust/metadata.ts";
import { isHosting } from "../trust/site-files.ts";
import type { Finding } from "./finding.ts";
import { readHosting } from "./stores/hosting-folder.ts";
import type { SiteReader } from "./stores/site-reader.ts";

/** Web servers read every file in `hosting/`, so each must match the signed build.json. */
export function hostingFindings({ place, isRemote }: SiteReader, { files }: BuildDocument): Finding[] {
  const there = isRemote ? undefined : readHosting(place);
  if (!there) return [];
  const listed = Object.keys(files).filter(isHosting);
  return [...new Set([...listed, ...there.keys()])].sort().flatMap((path) => {
    const bytes = there.get(path);
    if (!bytes) return [{ path, what: "is missing" }];
    if (!Object.hasOwn(files, path)) return [{ path, what: "is in no build: web servers would read it" }];
    return sha256(bytes) === files[path]?.sha256 ? [] : [{ path, what: "is not what was signed" }];
  });
}
