// node .ci/slowest.mjs REPORT…: prints the twenty test files that took longest, over all vitest JSON reports.
import { readFileSync } from "node:fs";
import { basename, relative } from "node:path";

const files = process.argv.slice(2).flatMap((report) =>
  JSON.parse(readFileSync(report, "utf8")).testResults.map(({ name, startTime, endTime }) => ({
    seconds: (endTime - startTime) / 1000,
    file: relative(".", name),
    suite: basename(report, ".json"),
  })),
);
const slowest = files.sort((a, b) => b.seconds - a.seconds).slice(0, 20);
for (const { seconds, file, suite } of slowest)
  process.stdout.write(`${seconds.toFixed(1).padStart(7)} s  ${suite.padEnd(6)}  ${file}\n`);
