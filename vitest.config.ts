import { defineConfig } from "vitest/config";

/** `npm test` runs everything but test/slow, which needs servers and browsers (.ci/run installs them). */
export default defineConfig({
  test: {
    include: [process.env.RELCAT_SLOW ? "test/slow/**/*.test.ts" : "test/**/*.test.ts"],
    exclude: process.env.RELCAT_SLOW ? [] : ["test/slow/**"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: "forks",
  },
});
