import type { Cost } from "./measure.ts";
import { artifacts } from "./project.ts";

/** What a step did to a bucket. */
export interface Step extends Cost {
  /** Begins with its letter. */
  name: string;
  requests: number;
  /** Objects of the site; undefined where the step does not say. */
  changed: number | undefined;
  /** Of the last minute, when it ended. */
  load: number;
}

const costOf = ({ wall, cpu, peak }: Cost): string =>
  `${wall.toFixed(1)} | ${cpu.toFixed(1)} | ${(peak / 1e6).toFixed(0)}`;

export function stepTable(steps: readonly Step[]): string {
  return [
    "| | wall s | CPU s | peak MB | requests | changed objects | load |",
    "|---|---|---|---|---|---|---|",
    ...steps.map(
      ({ name, requests, changed = "", load, ...cost }) =>
        `| ${name} | ${costOf(cost)} | ${requests} | ${changed} | ${load.toFixed(1)} |`,
    ),
  ].join("\n");
}

export function costTable(costs: Readonly<Record<string, Cost>>): string {
  return [
    "| | wall s | CPU s | peak MB |",
    "|---|---|---|---|",
    ...Object.entries(costs).map(([name, cost]) => `| ${name} | ${costOf(cost)} |`),
  ].join("\n");
}

const because =
  "Such a build looks at its files and loads nothing. A publish compares the whole build with what is live: it reads and hashes build.json, the index and the ledger of 25,000 lines, verifies what was signed, loads the AWS client, and sends the list.";

/** @param build of what is built already */
export function aims(steps: readonly Step[], build: Cost): string {
  const { changed = 0, requests, cpu } = named(steps, "b");
  const most = Math.floor(1.2 * (changed + artifacts) + 20);
  const ratio = cpu / build.cpu;
  const again = named(steps, "c").requests;
  const outcome = (isMet: boolean) => (isMet ? "met" : "**missed**");
  return [
    `- b, requests: at most 1.2 for each changed object and new artifact, and 20: ${requests} of ${most}, ${outcome(requests <= most)}.`,
    `- b, CPU: at most 2 × a build of what is built already: ${ratio.toFixed(2)} ×, ${outcome(ratio <= 2)}.${ratio <= 2 ? "" : ` ${because}`}`,
    `- c, requests: at most 5: ${again}, ${outcome(again <= 5)}.`,
  ].join("\n");
}

function named(steps: readonly Step[], letter: string): Step {
  const step = steps.find(({ name }) => name.startsWith(`${letter} `));
  if (!step) throw new Error(`there is no step ${letter}`);
  return step;
}
