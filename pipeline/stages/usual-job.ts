import type { Artifact, Release } from "./normalize.ts";

/** A manifest of an earlier release, which most builds name after the job that wrote it. */
export interface UsualJob {
  manifest: string;
  version: string;
}

/**
 * The job that brought an artifact of a kind last time: its manifest in the newest earlier release that had one.
 * @param releases ascending by version
 */
export function usualJob(
  fits: (content: Artifact["content"]) => boolean,
  version: string,
  releases: readonly Release[],
): UsualJob | undefined {
  for (const release of releases.toReversed()) {
    if (release.version >= version) continue;
    const found = release.artifacts.find(({ content }) => fits(content));
    if (!found) continue;
    const manifest = found.place().file.split("/").at(-1) ?? "";
    return { manifest, version: release.version };
  }
  return undefined;
}
