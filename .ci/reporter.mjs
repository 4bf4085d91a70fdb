// Reporter of the gate: writes what a suite did as SUITE.json into the folder RELCAT_GATE, which .ci/summary.mjs reads.
// A hook or a module that fails counts as a failure, like a test; vitest's JSON report does not say why such a one failed.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const { RELCAT_GATE: folder = ".", RELCAT_SUITE: suite = "suite" } = process.env;

/** Seconds. */
const maxWait = 30;
/** Share of the processor below which a test waits; a busy machine leaves more to one that computes. */
const minShare = 1 / 40;

const waited = (seconds, processor) =>
  `It took ${seconds.toFixed(0)} s with ${processor.toFixed(1)} s of processor time: a test must not wait.`;

const messageOf = (error) =>
  (error.stack ?? error.message ?? String(error)).split("\n").slice(0, 12).join("\n").slice(0, 2000);

export default class GateReporter {
  onTestRunEnd(modules, unhandled) {
    const failures = unhandled.map((error) => ({
      file: "outside the tests",
      test: "",
      message: messageOf(error),
    }));
    const slow = [];
    let passed = 0;
    for (const module of modules) {
      const file = module.relativeModuleId;
      const failed = (test, errors) => {
        for (const error of errors) failures.push({ file, test, message: messageOf(error) });
      };
      failed("the file itself", module.errors());
      for (const described of module.children.allSuites()) failed(described.fullName, described.errors());
      for (const test of module.children.allTests()) {
        const { state, errors = [] } = test.result();
        const seconds = (test.diagnostic()?.duration ?? 0) / 1000;
        const { processor } = test.meta();
        if (processor !== undefined) slow.push({ file, test: test.fullName, seconds, processor });
        const isWaiting = seconds > maxWait && processor < seconds * minShare;
        if (isWaiting) failed(test.fullName, [{ message: waited(seconds, processor) }]);
        else if (state === "passed") passed++;
        if (state === "failed") failed(test.fullName, errors.slice(0, 1));
      }
    }
    const files = modules.map((module) => ({
      file: module.relativeModuleId,
      seconds: module.diagnostic().duration / 1000,
    }));
    writeFileSync(join(folder, `${suite}.json`), JSON.stringify({ suite, passed, failures, files, slow }));
  }
}
