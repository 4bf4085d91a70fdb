import type { Files } from "./project.ts";
import { artifact, release } from "./project.ts";

const types = ["deb", "rpm", "msi", "pkg", "qcow"];

/** A release of 25 artifacts that pass every check when `require: {}`. */
function releaseOf25(version: string): Files {
  const artifacts = Array.from({ length: 25 }, (_, index) => {
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

/** 10,000 artifacts: two years of ten releases a month, but 170 in 26.07. */
export function largeCatalog(): Files {
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
    ...versions.map(releaseOf25),
  );
}
