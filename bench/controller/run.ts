import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg, platform, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { startPostgres } from "../../test/support/postgres.ts";
import { median, medianRatio } from "../http/load.ts";
import { allCases, type Case } from "./cases.ts";
import { type Contender, endAll, type Measured, type Report } from "./contenders.ts";
import { seconds } from "./load.ts";

/** `npm run bench:controller [-- CASE…]`: numbers of cases, or all; all of them write bench/controller/RESULTS.md. */
const rounds = 5;
const chosen = process.argv.slice(2).map(Number);
const folder = mkdtempSync(join(tmpdir(), "relcat-bench-"));
chmodSync(folder, 0o755);
// As it is installed, relcat is compiled: what strips types off must not lie in the memory that is measured.
process.env.NODE_COMPILE_CACHE = join(folder, "compiled");
const postgres = await startPostgres();
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => clean().finally(() => process.exit(1)));

try {
  const cases = await allCases({ folder, postgres });
  const parts: string[] = [];
  const begun = loadavg()[0] ?? 0;
  for (const [index, each] of cases.entries()) {
    if (chosen.length === 0 || chosen.includes(index + 1)) parts.push(await section(each));
  }
  const text = `# The controller

Written by \`npm run bench:controller\` on ${new Date().toISOString().slice(0, 10)}: ${machine()}; load average ${begun.toFixed(1)} at the beginning, ${loadavg()[0]?.toFixed(1)} at the end.
Medians of ${rounds} interleaved rounds of ${seconds} seconds, after one that warms up; ratios are medians of the rounds' ratios. wrk asks from one thread on the same machine, with a key and without rate limits. All servers run with \`--max-semi-space-size=8\`. Computed: what the server's own processes did, without PostgreSQL's. Memory is what was resident at most, of all processes together; the longest block is of one event loop, and on a busy machine other processes are in it.

${parts.join("\n\n")}
`;
  if (chosen.length === 0) writeFileSync(join(import.meta.dirname, "RESULTS.md"), text);
  process.stdout.write(text);
} finally {
  await clean();
}

async function clean(): Promise<void> {
  await endAll();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}

interface Result {
  name: string;
  loads: Measured[];
  report: Report | undefined;
}

async function section({ title, text, contenders, against }: Case): Promise<string> {
  const results = await measure(await contenders());
  const rows = results.map((result) =>
    rowOf(
      result,
      results.find(({ name }) => name === against[result.name]),
    ),
  );
  return [
    `## ${title}`,
    ...(text ? [text] : []),
    "",
    "| | /s | p99 ms | computed µs/request | by rate | by computing | most resident MB | longest block ms |",
    "|---|---|---|---|---|---|---|---|",
    ...rows,
  ].join("\n");
}

async function measure(contenders: readonly Contender[]): Promise<Result[]> {
  const loads = contenders.map((): Measured[] => []);
  for (let round = 0; round <= rounds; round++) {
    for (const [index, contender] of contenders.entries()) {
      const measured = contender.load();
      if (round > 0) loads[index]?.push(measured);
      else contender.begin?.();
    }
  }
  const reports = await Promise.all(contenders.map((contender) => contender.stop()));
  return contenders.map(({ name }, index) => ({ name, loads: loads[index] ?? [], report: reports[index] }));
}

function rowOf({ name, loads, report }: Result, other: Result | undefined): string {
  const of = (numberOf: (load: Measured) => number) => loads.map(numberOf);
  const ratio = (numberOf: (load: Measured) => number) =>
    other ? medianRatio(of(numberOf), other.loads.map(numberOf)) : undefined;
  const rate = (load: Measured) => load.perSecond;
  const cells = [
    shown(median(of(rate)), 0),
    shown(median(of((load) => load.p99 ?? Number.NaN)), 1),
    shown(median(of((load) => load.cpu)), 0),
    other ? `**${shown(ratio(rate), 2)}** of ${other.name}` : "",
    shown(
      ratio((load) => load.cpu),
      2,
    ),
    shown(report && report.memory / 1e6, 0),
    shown(report?.block, 0),
  ];
  return `| ${name} | ${cells.join(" | ")} |`;
}

function shown(value: number | undefined, digits: number): string {
  return value === undefined || Number.isNaN(value) ? "" : value.toFixed(digits);
}

function machine(): string {
  const versionOf = (program: string, argument: string) =>
    /\d+\.\d+(\.\d+)?/.exec(
      execFileSync("sh", ["-c", `${program} ${argument} 2>&1; true`], { encoding: "utf8" }),
    )?.[0];
  const memory = Math.round(totalmem() / 2 ** 30);
  const postgresVersion = versionOf("psql", "--version");
  return `${cpus().length} × ${cpus()[0]?.model.trim()}, ${memory} GiB, ${platform()}, Node ${process.version}, PostgreSQL ${postgresVersion}, wrk ${versionOf("wrk", "-v")}`;
}
