import type { BuildProgress } from "../../pipeline/index.ts";
import { showProgress } from "../intake/reading-progress.ts";
import type { Host } from "../terminal/host.ts";

/** Shows the progress of a build, at a terminal only, because a log needs only the result. */
export function showBuilding({ messages, quiet }: Pick<Host, "messages" | "quiet">, now: () => number) {
  const shown = { messages, quiet: quiet || messages.columns === undefined };
  return showProgress<BuildProgress>(
    shown,
    now,
    ({ done, total }) => `Building releases: ${done} of ${total}`,
  );
}
