import type { PublishedRelease, SiteConfig } from "./documents/published.ts";
import { releaseFiles } from "./emitters/release-files.ts";
import { compileTemplates } from "./emitters/templates.ts";
import type { Said } from "./outside/second-thread.ts";
import { type SecondWriter, secondWriter } from "./outside/site-folder.ts";

/** Where a second thread writes releases' files, and what it makes them with. */
export interface RenderSetting {
  /** A site folder that is open. */
  folder: string;
  /** Milliseconds since 1970, as the folder was opened with. */
  now: number;
  config: SiteConfig;
  /** By name. */
  templates: ReadonlyMap<string, string>;
}

/** What the second thread of a build does: the files of a release, into their places. */
export function releaseRenderer({ folder, now, config, templates: sources }: RenderSetting) {
  const templates = compileTemplates(sources);
  const writer = secondWriter(folder, now);
  return async (release: PublishedRelease): Promise<Said<ReturnType<SecondWriter["put"]>>> => ({
    answer: writer.put([...releaseFiles(release, config, templates)]),
  });
}
