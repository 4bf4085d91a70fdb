// node .ci/summary.mjs FOLDER: prints the slowest test files and tests, the failures, and the count of all suites that
// .ci/reporter.mjs wrote into FOLDER. Exit status 1 if anything failed.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const [, , folder] = process.argv;
const suites = readdirSync(folder)
  .filter((name) => name.endsWith(".json"))
  .sort()
  .map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")));
const print = (line) => process.stdout.write(`${line}\n`);

print("\n== the slowest files");
const files = suites.flatMap(({ suite, files }) => files.map((each) => ({ suite, ...each })));
for (const { seconds, suite, file } of files.sort((a, b) => b.seconds - a.seconds).slice(0, 20))
  print(`${seconds.toFixed(1).padStart(7)} s  ${suite.padEnd(6)}  ${file}`);

print("\n== the slowest tests, with their processor time");
const tests = suites.flatMap(({ suite, slow = [] }) => slow.map((each) => ({ suite, ...each })));
for (const { seconds, processor, suite, file, test } of tests
  .sort((a, b) => b.seconds - a.seconds)
  .slice(0, 20))
  print(
    `${seconds.toFixed(1).padStart(7)} s ${processor.toFixed(1).padStart(7)} s  ${suite.padEnd(6)}  ${file}: ${test}`,
  );

const failures = suites.flatMap(({ suite, failures }) => failures.map((each) => ({ suite, ...each })));
if (failures.length > 0) print("\n== what failed");
for (const { suite, file, test, message } of failures)
  print(`FAILED under ${suite}: ${file}: ${test}\n${message}\n`);

const passed = suites.reduce((sum, suite) => sum + suite.passed, 0);
print(`\n${passed} passed, ${failures.length} failed`);
process.exitCode = failures.length > 0 ? 1 : 0;
