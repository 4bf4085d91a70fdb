import { setTimeout as wait } from "node:timers/promises";
import { type Load, load, median, medianRatio } from "./load.ts";
import { quiet } from "./machine.ts";
import { bare, nginx, origin, type Server } from "./servers.ts";

export const rounds = 5;

export interface Case {
  name: string;
  path: string;
  headers?: readonly string[];
  /** Asks with the ETag that each server gave. */
  conditional?: true;
}

export const smallCases: readonly Case[] = [
  { name: "hot list", path: "/api/v1/package/" },
  { name: "hot list, gzip", path: "/api/v1/package/", headers: ["Accept-Encoding: gzip"] },
  { name: "hot list, not modified", path: "/api/v1/package/", conditional: true },
  { name: "one record", path: "/api/v1/package/30/" },
];
export const wholeList: Case = { name: "whole list of 5 MB", path: "/api/v1/package/" };

/** As many processes of relcat's as nginx has workers; wrk shares the cores with them. */
export async function againstNginx(
  site: string,
  folder: string,
  cases: readonly Case[],
  processes: number,
  running: Server[],
): Promise<string[]> {
  const servers = [
    await origin(site, 8301, processes),
    await nginx(site, folder, 8302, { workers: processes }),
  ];
  running.push(...servers);
  const rows = await measure(servers, cases);
  await stopAll(servers);
  return rows.map(rowOf);
}

/** What bounds a long answer: others that send it from memory, and nginx without sendfile. */
export async function wholeFromMemory(site: string, folder: string, running: Server[]): Promise<string> {
  const source = await origin(site, 8305, 1);
  running.push(source);
  const others = [
    await nginx(site, folder, 8306, { workers: 1 }),
    await nginx(site, folder, 8307, { workers: 1, sendfile: false }),
    await bare(source.url + wholeList.path, folder, 8308),
  ];
  source.stop();
  running.push(...others);
  const [[, ...results] = []] = await measure(others, [wholeList]);
  await stopAll(others);
  const [plain = [], unsent = [], fromNode = []] = results;
  const ratio = (loads: Load[]) => medianRatio(perSeconds(loads), perSeconds(plain)).toFixed(2);
  return `The same list from others, in ratio to nginx as above: nginx with \`sendfile off\` ${ratio(unsent)}, a bare node:http server with the bytes in memory ${ratio(fromNode)}.`;
}

/** The next ones may use the same ports. */
async function stopAll(servers: readonly Server[]): Promise<void> {
  for (const server of servers) server.stop();
  await wait(500);
}

type Measured = [Case, ...Load[][]];

async function measure(servers: readonly Server[], cases: readonly Case[]): Promise<Measured[]> {
  const rows = cases.map((each): Measured => [each, ...servers.map((): Load[] => [])]);
  for (let round = 0; round <= rounds; round++) {
    for (const [{ path, headers = [], conditional }, ...results] of rows) {
      await quiet();
      for (const [index, server] of servers.entries()) {
        const asked = conditional ? [`If-None-Match: ${await etagOf(server.url + path)}`] : headers;
        const result = load(server, path, { headers: asked });
        if (round > 0) results[index]?.push(result); // The first round warms up.
      }
    }
  }
  return rows;
}

async function etagOf(url: string): Promise<string | null> {
  const headers = { "accept-encoding": "identity", connection: "close" };
  return (await fetch(url, { headers })).headers.get("etag");
}

const perSeconds = (loads: readonly Load[]) => loads.map(({ perSecond }) => perSecond);

function rowOf([{ name }, ours = [], theirs = []]: Measured): string {
  const per = (loads: Load[]) => Math.round(median(perSeconds(loads)));
  const p99 = (loads: Load[]) => median(loads.map((each) => each.p99)).toFixed(1);
  const cpu = (loads: Load[]) => median(loads.map((each) => each.cpu)).toFixed(0);
  const ratio = medianRatio(perSeconds(ours), perSeconds(theirs)).toFixed(2);
  return `| ${name} | ${per(ours)} | ${per(theirs)} | **${ratio}** | ${p99(ours)} | ${p99(theirs)} | ${cpu(ours)} | ${cpu(theirs)} |`;
}
