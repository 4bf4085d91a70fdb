import type { Files } from "./project.ts";
import { artifact, release } from "./project.ts";

const types = ["deb", "rpm", "msi", "pkg", "qcow"];

/** A release of this many artifacts, which pass every check with `require: {}`. */
function releaseOf(count: number, version: string): Files {
  const artifacts = Array.from({ length: count }, (_, index) => {
    const type = types[index % types.length] ?? "deb";
    const bounds = type === "deb" && { min_os_version: "22.04" };
    const entry = artifact(`client-${index}_${version}.${type}`, type, "a", {
      size: 1000 + index,
      ...bounds,
    });
    return { ...entry, sha256: index.toString(16).padStart(64, version.replaceAll(".", "")) };
  });
  return release(version, artifacts, { summary: `Release ${version}, one of many.` });
}

/** 400 releases: two years of ten a month, but 170 in 26.07. @param artifacts of each release */
export function largeCatalog(artifacts = 25): Files {
  const months = ["25", "26"].flatMap((year) =>
    Array.from({ length: 12 }, (_, month) => `${year}.${String(month + 1).padStart(2, "0")}`),
  );
  const versions = months.flatMap((month) =>
    Array.from(
      { length: month === "26.07" ? 170 : 10 },
      (_, index) => `${month}.${String(index + 1).padStart(3, "0")}`,
    ),
  );
  return Object.assign(
    { "releases/catalog.yaml": { product: "Large", require: {} } },
    ...versions.map((version) => releaseOf(artifacts, version)),
  );
}

/** 180 small releases of 26.06 and 26.07, enough for a second thread. */
export const manyReleases = (): Files =>
  Object.fromEntries(
    Object.entries(largeCatalog(3)).filter(([path]) => /^releases\/(catalog\.yaml|26\.0[67]\.)/.test(path)),
  );
