import { median, medianRatio } from "../http/load.ts";
import type { Cost } from "../publish/measure.ts";
import type { Measured, Results } from "./rounds.ts";

/** Every group as a table; ratios are to its first row. */
export function groupTables(results: Results): string {
  return [...results]
    .filter(([, measured]) => measured.size > 0)
    .map(([title, measured]) => `## ${title}\n\n${table(measured)}`)
    .join("\n\n");
}

function table(measured: Measured): string {
  const [[first, yardstick] = ["", []]] = measured;
  return [
    `| | wall s | CPU s | peak MB | ÷ ${first} |`,
    "|---|---|---|---|---|",
    ...[...measured].map(([name, costs]) => `| ${name} | ${row(costs, yardstick)} |`),
  ].join("\n");
}

function row(costs: readonly Cost[], yardstick: readonly Cost[]): string {
  const of = (numberOf: (cost: Cost) => number) => median(costs.map(numberOf));
  const walls = (all: readonly Cost[]) => all.map(({ wall }) => wall);
  return [
    of(({ wall }) => wall).toFixed(3),
    of(({ cpu }) => cpu).toFixed(3),
    (of(({ peak }) => peak) / 1e6).toFixed(0),
    medianRatio(walls(costs), walls(yardstick)).toFixed(2),
  ].join(" | ");
}
