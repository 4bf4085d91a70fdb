import { setTimeout as pauseFor } from "node:timers/promises";
import { RelcatError } from "../errors.ts";
import { liveBuild } from "./documents.ts";
import { siteAt } from "./stores/site-reader.ts";
import { openTrustedSite } from "./tuf-client.ts";

export interface Expectation {
  /** The build's id, or its beginning. */
  build: string;
  /** Milliseconds to wait until it is live. */
  wait: number;
  /** Told why it is asked again. */
  onWait?: (why: string) => void;
  pause?: (milliseconds: number) => Promise<unknown>;
  clock?: () => number;
}

const [shortest, longest] = [250, 5_000];

/**
 * Asks until a build is what is signed at a site, or the time is over. What caches and networks do meanwhile is waited
 * for; what is wrong with a signature is not.
 * @returns the id of the build that is signed there
 * @throws RelcatError as opening the site does
 */
export async function awaitBuild(
  { place, root, state }: { place: string; root: Uint8Array; state: string },
  { build, wait, onWait = () => {}, pause = pauseFor, clock = Date.now }: Expectation,
): Promise<string> {
  const end = clock() + wait;
  for (let interval = shortest; ; interval = Math.min(interval * 2, longest)) {
    const left = end - clock();
    try {
      const live = await signedBuild(place, root, state);
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

async function signedBuild(place: string, root: Uint8Array, state: string): Promise<string> {
  return liveBuild(await openTrustedSite(siteAt(place), root, state));
}
