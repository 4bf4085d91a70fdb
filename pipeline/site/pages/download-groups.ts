import { type Architecture, architectureNames } from "../../../shared/package-metadata.ts";
import type { SiteConfig } from "../../documents/published.ts";

export interface DownloadGroup {
  anchor: string;
  name: string;
  /** Operating system of the visitors who are shown this group first; empty for none. */
  system: string;
}

const clients: readonly DownloadGroup[] = [
  { anchor: "linux", name: "Linux", system: "linux" },
  { anchor: "macos", name: "macOS", system: "macos" },
  { anchor: "windows", name: "Windows", system: "windows" },
];
const others: DownloadGroup = { anchor: "other", name: "Other systems", system: "" };
const charts: DownloadGroup = { anchor: "kubernetes", name: "Kubernetes", system: "" };
const images: DownloadGroup = { anchor: "images", name: "Appliance images", system: "" };
const groups = [...clients, others, charts, images];

interface Grouped {
  platform: number;
  packageType: string;
  arch?: Architecture | undefined;
}

/** Leaves out empty groups. Files are ordered by platform and package type as configured, then by architecture. */
export function downloadGroups<File extends Grouped>(
  files: readonly File[],
  { platforms, packageTypes }: Pick<SiteConfig, "platforms" | "packageTypes">,
): { group: DownloadGroup; files: File[] }[] {
  const byGroup = Map.groupBy(files, ({ packageType }) => groupOf(packageTypes.get(packageType)));
  const [platformRank, typeRank] = [rankIn(platforms.keys()), rankIn(packageTypes.keys())];
  const inOrder = (a: File, b: File) =>
    platformRank(a.platform) - platformRank(b.platform) ||
    typeRank(a.packageType) - typeRank(b.packageType) ||
    byArchitecture(a.arch, b.arch);
  return groups.flatMap((group) => {
    const found = byGroup.get(group);
    return found ? [{ group, files: found.toSorted(inOrder) }] : [];
  });
}

function groupOf(type: { kind: string; operating_system: string } | undefined): DownloadGroup {
  if (type?.kind === "image") return images;
  if (type?.kind === "chart") return charts;
  return clients.find(({ system }) => system === type?.operating_system.toLowerCase()) ?? others;
}

const architectureRank = rankIn<Architecture | undefined>(architectureNames);

/** The usual order; those that are not known come last. */
export const byArchitecture = (a: Architecture | undefined, b: Architecture | undefined): number =>
  architectureRank(a) - architectureRank(b);

/** Position of a key; keys that are not configured come last. */
function rankIn<Key>(keys: Iterable<Key>): (key: Key) => number {
  const ranks = new Map([...keys].map((key, index) => [key, index]));
  return (key) => ranks.get(key) ?? ranks.size;
}
