import { statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { load } from "./load.ts";
import { origin, type Server } from "./servers.ts";

const list = "/api/v1/package/";
const script = join(import.meta.dirname, "filters.lua");
type State = [name: string, bytes: number];

/** Resident memory of the origin over a long list, against that over an empty site which was asked the same. */
export async function memory(empty: string, large: string, running: Server[]): Promise<string[]> {
  const bytes = statSync(join(large, `${list}index.json`)).size;
  const [base, grown] = [await statesOf(empty, running), await statesOf(large, running)];
  const megabytes = (value: number) => (value / 1e6).toFixed(0);
  const rows = grown.map(([name, now], index) => {
    const before = base[index]?.[1] ?? Number.NaN;
    const growth = now - before;
    return `| ${name} | ${megabytes(before)} | ${megabytes(now)} | ${megabytes(growth)} | ${(growth / bytes).toFixed(1)} |`;
  });
  return [
    "| | empty site, MB | large site, MB | growth, MB | × the list |",
    "|---|---|---|---|---|",
    ...rows,
  ];
}

async function statesOf(site: string, running: Server[]): Promise<State[]> {
  const server = await origin(site, 8321, 1);
  running.push(server);
  const states: State[] = [];
  const note = (name: string, most = false) =>
    states.push([name, most ? server.memory().most : server.memory().now]);
  await wait(1000);
  note("after the start");
  load(server, "", { script });
  note("after distinct filters");
  load(server, list);
  note("after whole lists");
  load(server, `${list}?ordering=-id`);
  load(server, `${list}?ordering=name`);
  load(server, `${list}?ordering=-version&package_type=rpm`);
  note("after other orders, whole and filtered");
  note("at most until then", true);
  await reload(site, server);
  note("after three reloads");
  note("at most, two builds in memory", true);
  server.stop();
  await wait(500);
  return states;
}

/** A build.json with another date is another build. */
async function reload(site: string, server: Server): Promise<void> {
  for (let count = 1; count <= 3; count++) {
    const path = join(site, "build.json");
    const time = statSync(path).mtime.getTime() / 1000 + 1;
    utimesSync(path, time, time);
    await wait(2500);
    await fetch(server.url + list, { headers: { connection: "close" } }).then((answer) =>
      answer.arrayBuffer(),
    );
  }
}
