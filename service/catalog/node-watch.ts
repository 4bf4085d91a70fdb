import { SiteUnfinished } from "./node-files.ts";
import { releaseMemory } from "./node-memory.ts";
import { type FolderSite, markOf, openFolderSite } from "./node-site.ts";

/** The current site. */
export interface WatchedSite {
  current(): FolderSite;
  /** Checks for a newer build immediately. */
  refresh(): Promise<void>;
  stop(): void;
}

const interval = 500;

/**
 * Opens a site and watches its folder: a finished new build replaces the old one completely, an unfinished
 * one is ignored.
 * @param onChange called for each new build, and with errors
 */
export async function watchSite(
  folder: string,
  onChange: (change: { build: string } | { error: unknown }) => void,
): Promise<WatchedSite> {
  let site = await openFolderSite(folder);
  releaseMemory();
  let refused = "";
  let running: Promise<void> | undefined;
  const check = async () => {
    const mark = tryMark(folder);
    if (mark === undefined || mark === site.mark || mark === refused) return;
    try {
      site = await openFolderSite(folder);
      releaseMemory();
      onChange({ build: site.id });
    } catch (error) {
      // A build is in progress; the next check finds it finished.
      if (error instanceof SiteUnfinished) return;
      refused = mark;
      onChange({ error });
    }
  };
  const refresh = () => {
    running ??= check().finally(() => {
      running = undefined;
    });
    return running;
  };
  const timer = setInterval(() => void refresh(), interval);
  timer.unref();
  return { current: () => site, refresh, stop: () => clearInterval(timer) };
}

function tryMark(folder: string): string | undefined {
  try {
    return markOf(folder);
  } catch {
    return undefined; // Between two builds the file may be missing; the cached site stays.
  }
}
