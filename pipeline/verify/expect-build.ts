import { setTimeout as pauseFor } from "node:timers/promises";
import { RelcatError } from "../../shared/errors.ts";
import { liveBuild } from "./documents.ts";
import { siteAt } from "./stores/site-reader.ts";
import { openTrustedSite } from "./tuf-client.ts";

interface Expectation {
  /** Build id, or its first digits. */
  build: string;
  /** Maximum waiting time in milliseconds. */
  wait: number;
  onWait?: (why: string) => void;
  pause?: (milliseconds: number) => Promise<unknown>;
  clock?: () => number;
}

const [minPauseMilliseconds, maxPauseMilliseconds] = [250, 5_000];

/**
 * Polls until the build is live or the time is up, despite failures of caches and networks, but not of signatures.
 * @returns the id of the signed build @throws RelcatError as opening the site does
 */
export async function awaitBuild(
  { place, root, state }: { place: string; root: Uint8Array; state: string },
  { build, wait, onWait = () => {}, pause = pauseFor, clock = Date.now }: Expectation,
): Promise<string> {
  const end = clock() + wait;
  for (let interval = minPauseMilliseconds; ; interval = Math.min(interval * 2, maxPauseMilliseconds)) {
    const left = end - clock();
    try {
      const live = await liveBuild(await openTrustedSite(siteAt(place), root, state));
      if (live.startsWith(build) || left <= 0) return live;
      onWait(`it has the build ${live.slice(0, 12)}`);
    } catch (error) {
      const passes =
        error instanceof RelcatError && (error.code === "network" || error.code === "site-stale");
      if (!passes || left <= 0) throw error;
      onWait(error.problems[0]?.message ?? error.message);
    }
    await pause(Math.min(interval, left));
  }
}
