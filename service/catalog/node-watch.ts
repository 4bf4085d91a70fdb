import { SiteUnfinished } from "./node-files.ts";
import { releaseMemory } from "./node-memory.ts";
import { type FolderSite, markOf, openFolderSite } from "./node-site.ts";

/** The site that answers come from at this moment. */
export interface WatchedSite {
  current(): FolderSite;
  /** Looks now whether there is a newer build, and takes it. */
  refresh(): Promise<void>;
  stop(): void;
}

const interval = 500;

/**
 * Opens a site and follows its folder: a finished new build takes the place of the old one as a whole, an
 * unfinished one never does.
 * @param onChange told of each build that is taken, and why one could not be
 */
export async function watchSite(
  folder: string,
  onChange: (news: { build: string } | { error: unknown }) => void,
): Promise<WatchedSite> {
  let site = await openFolderSite(folder);
  releaseMemory();
  let refused = "";
  let running: Promise<void> | undefined;
  const look = async () => {
    const mark = tryMark(folder);
    if (mark === undefined || mark === site.mark || mark === refused) return;
    try {
      site = await openFolderSite(folder);
      releaseMemory();
      onChange({ build: site.id });
    } catch (error) {
      // A build in progress: the next look finds it finished.
      if (error instanceof SiteUnfinished) return;
      refused = mark;
      onChange({ error });
    }
  };
  const refresh = () => {
    running ??= look().finally(() => {
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
    return undefined; // Between two builds there may be none; the one in memory stands.
  }
}
