import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { filtered } from "./filtered.ts";
import { connections } from "./load.ts";
import { machine, quietRounds } from "./machine.ts";
import { memory } from "./memory.ts";
import { againstNginx, rounds, smallCases, wholeFromMemory, wholeList } from "./peer.ts";
import type { Server } from "./servers.ts";
import { buildSite } from "./site.ts";

/** `npm run bench:http`: the origin against nginx over the same files; writes bench/http/RESULTS.md. */
const folder = mkdtempSync(join(tmpdir(), "relcat-bench-"));
chmodSync(folder, 0o755); // nginx reads as another user
const running: Server[] = [];
const columns =
  "| request | relcat /s | nginx /s | relcat ÷ nginx | p99 ms | nginx's | computed µs/request | nginx's |";
const table = [columns, "|---|---|---|---|---|---|---|---|"];

try {
  const empty = await site("empty", 0, 0);
  const small = await site("small", 4, 15);
  const middle = await site("middle", 305, 25);
  const large = await site("large", 1000, 25);
  const one = [
    ...(await againstNginx(small, folder, smallCases, 1, running)),
    ...(await againstNginx(middle, folder, [wholeList], 1, running)),
  ];
  const fromMemory = await wholeFromMemory(middle, folder, running);
  const two = [
    ...(await againstNginx(small, folder, smallCases, 2, running)),
    ...(await againstNginx(middle, folder, [wholeList], 2, running)),
  ];
  const selected = await filtered(large, folder, running);
  const resident = await memory(empty, large, running);
  const text = `# The origin over HTTP

Written by \`npm run bench:http\` on ${new Date().toISOString().slice(0, 10)}: ${machine()}, wrk with one thread and ${connections} connections on the same machine.
Medians of ${rounds} interleaved rounds of two seconds; ratios are medians of the rounds' ratios. ${quietRounds()}; in the others something else ran beside.
Lists: small ${size(small)}, middle ${size(middle)}, large ${size(large)} (25,000 records). nginx sends the same files with \`sendfile\`, \`gzip_static\` and \`open_file_cache\`, without a log; relcat runs as \`relcat serve --quiet\`.

## One process of each
Aims: 0.5 for small documents, 0.4 for 304, 2 for the whole list.

${[...table, ...one].join("\n")}

${fromMemory}

## Two processes of each, on the cores that wrk uses too

${[...table, ...two].join("\n")}

## A filtered list out of 25,000 records
Every request is written differently, so nothing can be remembered, and selects two records of 864 versions: about 4 KB. The yardstick is the same bytes from memory: a bare node:http server that sends one such answer, its headers and its body, from a prepared Buffer, and is asked by the same script. Aim: 2 ×.

${selected.join("\n")}

## Memory
Resident memory of one process over the large site, less that over an empty site after the same requests. Aim: 4 × the list. The most is reached while a site is read; while a new build is taken, both are in memory until the last answer from the old one is sent, and not all of the old one goes back to the system.

${resident.join("\n")}
`;
  writeFileSync(join(import.meta.dirname, "RESULTS.md"), text);
  process.stdout.write(text);
} finally {
  for (const server of running) server.stop();
  rmSync(folder, { recursive: true, force: true });
}

function site(name: string, releases: number, artifacts: number): Promise<string> {
  mkdirSync(join(folder, name));
  return buildSite(join(folder, name), releases, artifacts);
}

function size(folderOfSite: string): string {
  return `${(statSync(join(folderOfSite, "api/v1/package/index.json")).size / 1e6).toFixed(2)} MB`;
}
