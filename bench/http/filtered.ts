import { join } from "node:path";
import { type Load, load, median, medianRatio } from "./load.ts";
import { quiet } from "./machine.ts";
import { rounds } from "./peer.ts";
import { bare, origin, type Server } from "./servers.ts";

const script = join(import.meta.dirname, "filters.lua");
const sample = "/api/v1/package/?package_type=rpm&min_os_version=&version=14.05.003";

/** Each request another selection out of a long list, against the same answer from memory. */
export async function filtered(site: string, folder: string, running: Server[]): Promise<string[]> {
  const ours = await origin(site, 8311, 1);
  running.push(ours);
  const theirs = await bare(ours.url + sample, folder, 8312);
  running.push(theirs);
  const [one, other]: [Load[], Load[]] = [[], []];
  for (let round = 0; round <= rounds; round++) {
    await quiet();
    const [first, second] = [load(ours, "", { script }), load(theirs, "", { script })];
    if (round === 0) continue;
    one.push(first);
    other.push(second);
  }
  ours.stop();
  theirs.stop();
  const per = (loads: Load[]) => Math.round(median(loads.map((each) => each.perSecond)));
  const p99 = (loads: Load[]) => median(loads.map((each) => each.p99)).toFixed(1);
  const cpu = (loads: Load[]) => median(loads.map((each) => each.cpu)).toFixed(1);
  const cost = (of: (each: Load) => number) => medianRatio(one.map(of), other.map(of)).toFixed(2);
  return [
    "| server | /s | p99 ms | computed µs/request |",
    "|---|---|---|---|",
    `| relcat, selecting | ${per(one)} | ${p99(one)} | ${cpu(one)} |`,
    `| bare node:http, from memory | ${per(other)} | ${p99(other)} | ${cpu(other)} |`,
    "",
    `Cost: **${cost((each) => 1 / each.perSecond)} ×** by requests a second, **${cost((each) => each.cpu)} ×** by what the server computes.`,
  ];
}
