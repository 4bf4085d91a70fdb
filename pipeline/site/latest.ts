import type { ListedPackage, OutputFile } from "../documents/published.ts";
import type { LatestDocument } from "../documents/site.ts";
import { array } from "./catalog-list.ts";
import { joinedFile, jsonFile, textFile } from "./output.ts";

export interface NewestPackage extends ListedPackage {
  json: string;
}

/**
 * The file for installers: each package type at its own highest version.
 * @param newest by package type, id descending
 * @param version the highest version of all, null for an empty catalog
 */
export function latestFiles(
  newest: ReadonlyMap<string, readonly NewestPackage[]>,
  version: string | null,
): OutputFile[] {
  const types = [...newest.keys()].sort();
  const document: LatestDocument = {
    schema_version: 1,
    version,
    packages: types.flatMap((type) => (newest.get(type) ?? []).map(latestPackage)),
  };
  const perType = types.map((type) =>
    joinedFile(`api/v1/package/latest/${type}.json`, () =>
      array((newest.get(type) ?? []).map(withArchitecture)),
    ),
  );
  const text = version === null ? [] : [textFile("api/v1/latest.txt", `${version}\n`)];
  return [...perType, jsonFile("api/v1/latest.json", document), ...text];
}

/** The record, followed by its architecture if it is known, which is not one of its fields. */
const withArchitecture = ({ json, arch }: NewestPackage): { json: string } =>
  arch ? { json: `${json.slice(0, -1)},"arch":${JSON.stringify(arch)}}` } : { json };

function latestPackage({ record, file, url, size, arch }: ListedPackage): LatestDocument["packages"][number] {
  return {
    package_type: record.package_type,
    version: record.version,
    id: record.id,
    name: record.name,
    file,
    url,
    size,
    sha256: record.checksum === "unknown" ? null : record.checksum,
    operating_system: record.operating_system,
    platform: record.platform,
    min_os_version: record.min_os_version,
    max_os_version: record.max_os_version,
    gui_only: record.gui_only,
    headless: record.headless,
    ...(arch && { arch }),
  };
}
