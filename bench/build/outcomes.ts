import { median, medianRatio } from "../http/load.ts";
import type { Cost } from "../publish/measure.ts";
import type { Results } from "./rounds.ts";

/** Where a value stands in the results: title of the group, name in it. */
export type Figure = readonly [title: string, name: string];

export interface Aim {
  work: string;
  of: Figure;
  /** Undefined: what counts is memory, in megabytes. */
  against: Figure | undefined;
  most: number;
  /** Where the time goes, for when it is missed. */
  because?: string;
}

interface Outcome {
  aim: Aim;
  /** A ratio of wall times, or megabytes. */
  value: number;
  /** The same ratio of CPU times; undefined for memory. */
  byCpu: number | undefined;
  costs: readonly Cost[];
  others: readonly Cost[];
}

/** The aims beside what was measured, and a sentence for each that is missed. */
export function aimsTable(aims: readonly Aim[], results: Results): string {
  const outcomes = aims.map((aim) => ({ aim, outcome: outcomeOf(aim, results) }));
  const missed = outcomes.flatMap(({ outcome }) => (outcome && !isMet(outcome) ? [outcome] : []));
  return [
    "| work | yardstick | aim | measured | by CPU time | |",
    "|---|---|---|---|---|---|",
    ...outcomes.map(
      ({ aim, outcome }) => `| ${aim.work} | ${yardstickOf(aim)} | ${outcomeText(aim, outcome)} |`,
    ),
    ...missed.map((outcome) => `\n${missedText(outcome)}`),
  ].join("\n");
}

function outcomeText(aim: Aim, outcome: Outcome | undefined): string {
  const most = `≤ ${withUnit(aim, aim.most)}`;
  if (!outcome) return `${most} | not measured | | `;
  const byCpu = outcome.byCpu === undefined ? "" : withUnit(aim, outcome.byCpu);
  return `${most} | ${withUnit(aim, outcome.value)} | ${byCpu} | ${isMet(outcome) ? "met" : "**missed**"}`;
}

/** Growth is measured against the same work on less. */
function yardstickOf({ of, against }: Aim): string {
  if (!against) return "";
  return of[1] === against[1] ? `the same, ${against[0]}` : against[1];
}

function outcomeOf(aim: Aim, results: Results): Outcome | undefined {
  const [costs, others] = [aim.of, aim.against].map((figure) => figure && costsOf(figure, results));
  if (!costs) return undefined;
  if (!aim.against) {
    const value = median(costs.map(({ peak }) => peak)) / 1e6;
    return { aim, value, byCpu: undefined, costs, others: [] };
  }
  if (!others) return undefined;
  const byCpu = medianRatio(
    costs.map(({ cpu }) => cpu),
    others.map(({ cpu }) => cpu),
  );
  return { aim, value: medianRatio(walls(costs), walls(others)), byCpu, costs, others };
}

const costsOf = ([title, name]: Figure, results: Results) => results.get(title)?.get(name);
const walls = (costs: readonly Cost[]): number[] => costs.map(({ wall }) => wall);

const isMet = ({ aim, value }: Outcome): boolean => value <= aim.most;
const withUnit = ({ against }: Aim, value: number): string =>
  against ? `${Number(value.toFixed(2))} ×` : `${value.toFixed(0)} MB`;

function missedText({ aim, value, costs, others }: Outcome): string {
  const over = `${((value / aim.most - 1) * 100).toFixed(0)} % more than aimed`;
  const because = aim.because ? ` ${aim.because}` : "";
  if (!aim.against) return `**${aim.work}**: ${withUnit(aim, value)}, ${over}.${because}`;
  const [one, other] = [costs, others].map((each) => seconds(median(walls(each))));
  return `**${aim.work}**: ${withUnit(aim, value)} ${yardstickOf(aim)}, ${over}: ${one} beside ${other}.${because}`;
}

const seconds = (value: number): string =>
  value < 1 ? `${(value * 1000).toFixed(0)} ms` : `${value.toFixed(2)} s`;
