import { parseParagraph } from "../../shared/control-paragraph.ts";
import type { PackageMetadata } from "../../shared/package-metadata.ts";
import { nevra } from "../selection/feed-indexes.ts";

/** Name, version and architecture of a package; charts have no architecture. A repository lists one file with them. */
export interface RepositoryName {
  format: "deb" | "rpm" | "helm";
  name: string;
}

export function repositoryName(metadata: PackageMetadata | undefined): RepositoryName | undefined {
  if (metadata?.type === "rpm") return { format: "rpm", name: nevra(metadata) };
  if (metadata?.type === "helm")
    return { format: "helm", name: `${metadata.chart.name} ${metadata.chart.version}` };
  if (metadata?.type !== "deb") return undefined;
  const fields = parseParagraph(metadata.control.replace(/\n+$/, ""));
  if (typeof fields === "string") return undefined;
  const parts = ["package", "version", "architecture"].map((field) => fields.get(field));
  return { format: "deb", name: parts.join(" ") };
}
