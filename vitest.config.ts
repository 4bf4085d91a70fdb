import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { templates } from "./cli/bundle.ts";
import { LongestFirst } from "./test/support/longest-first.ts";

const isSlow = process.env.RELCAT_SLOW !== undefined;
const isNightly = process.env.RELCAT_NIGHTLY !== undefined;

/** The suites of the store, of concurrency and of events; .ci/nightly runs all of the controller's. */
const onPostgres = isNightly
  ? "test/controller/*.test.ts"
  : "test/controller/{store-*,state-*,audit-chain,same-serial,events-stream,limits-rates}.test.ts";

/** Milliseconds. */
const patience = isNightly ? 7_200_000 : 600_000;

/**
 * `npm test` runs everything but test/slow and what is tagged `long`; `npm run test:all` (RELCAT_ALL) runs the long
 * tests too. test/slow needs servers and browsers, which .ci/run installs; the slow run (RELCAT_SLOW) has suites of the
 * controller once more, against PostgreSQL. .ci/nightly (RELCAT_NIGHTLY) has long sweeps.
 */
export default defineConfig({
  plugins: [templates],
  test: {
    include: isSlow ? ["test/slow/**/*.test.ts", onPostgres] : ["test/**/*.test.ts"],
    exclude: isSlow ? [] : ["test/slow/**"],
    tags: [{ name: "long", description: "It takes over a second. Left out by npm test." }],
    // A process for each file would take a fifth of the time; test/support/each-file.ts puts right what a file changes.
    isolate: false,
    setupFiles: "test/support/each-file.ts",
    // No registry is needed, and none may delay a test: npm gets a refusal at once.
    env: isSlow ? {} : { npm_config_registry: "http://127.0.0.1:9" },
    globalSetup: [
      "test/support/program.ts",
      ...(isSlow ? ["test/controller/postgres.ts", "test/publish/gateway.ts"] : []),
    ],
    // Nothing is measured by it: a machine that is busy elsewhere must not fail a test that would pass.
    testTimeout: patience,
    hookTimeout: patience,
    expect: { poll: { timeout: patience / 2 } },
    pool: "forks",
    sequence: { sequencer: LongestFirst },
    // One more than cores: some tests wait, for a retry or the end of a time limit.
    maxWorkers: availableParallelism() + 1,
  },
});
