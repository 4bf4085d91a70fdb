import { quiet } from "../http/machine.ts";
import type { Cost } from "../publish/measure.ts";
import { type Command, measuredRuns, timesFor } from "./runs.ts";

/** What is measured once in a round. */
export interface Entry {
  /**
   * @param round 0 warms up and does not count
   * @returns what was measured, by name
   */
  run(round: number): Promise<Readonly<Record<string, Cost>>>;
}

/** Entries that are compared with each other. */
export interface Group {
  title: string;
  entries: readonly Entry[];
}

/** What each name of a group took, a value a round. */
export type Measured = ReadonlyMap<string, readonly Cost[]>;
/** By the groups' titles. */
export type Results = ReadonlyMap<string, Measured>;

/** A program that runs as often in a row as its first run suggests. */
export function repeated(name: string, command: Command, outs: string, onWarm?: () => void): Entry {
  let times = 1;
  return {
    async run(round) {
      const cost = await measuredRuns(command, times, outs);
      if (round === 0) {
        times = timesFor(cost);
        onWarm?.();
      }
      return { [name]: cost };
    },
  };
}

/**
 * Measures everything once in each round, each round beginning with another entry: what slows the machine down for a
 * while meets all of them.
 */
export async function measureRounds(groups: readonly Group[], rounds: number): Promise<Results> {
  const results = new Map(groups.map(({ title }) => [title, new Map<string, Cost[]>()]));
  for (let round = 0; round <= rounds; round++) {
    for (const { title, entries } of groups) {
      await quiet();
      for (const entry of rotated(entries, round)) {
        const costs = await entry.run(round);
        keep(results.get(title) ?? new Map(), costs, round);
      }
    }
    process.stderr.write(`${round === 0 ? "warm" : `round ${round} of ${rounds}`}\n`);
  }
  return results;
}

const rotated = <T>(items: readonly T[], by: number): T[] => [
  ...items.slice(by % items.length),
  ...items.slice(0, by % items.length),
];

/** The round that warms up gives the names their order. */
function keep(measured: Map<string, Cost[]>, costs: Readonly<Record<string, Cost>>, round: number): void {
  for (const [name, cost] of Object.entries(costs)) {
    measured.set(name, round === 0 ? [] : [...(measured.get(name) ?? []), cost]);
  }
}
