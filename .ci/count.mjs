// node .ci/count.mjs SUITE REPORT FAILURES: prints how many tests of a vitest JSON report passed and failed, and adds
// each failure to the file FAILURES, which the gate says again at its end.
import { appendFileSync, readFileSync } from "node:fs";
import { relative } from "node:path";

const [, , suite, report, failures] = process.argv;
const { testResults, numPassedTests, numFailedTests } = JSON.parse(readFileSync(report, "utf8"));

const isFailed = ({ status }) => status === "failed";
const broken = testResults.filter((file) => isFailed(file) && !file.assertionResults.some(isFailed));
const said = (file, test, message = "") =>
  `FAILED under ${suite}: ${relative(".", file.name)}: ${test}\n${message.slice(0, 2000)}\n`;

for (const file of broken) appendFileSync(failures, said(file, "the file itself", file.message));
for (const file of testResults)
  for (const test of file.assertionResults.filter(isFailed))
    appendFileSync(failures, said(file, test.fullName, test.failureMessages[0]));

process.stdout.write(`${numPassedTests} ${numFailedTests + broken.length}\n`);
