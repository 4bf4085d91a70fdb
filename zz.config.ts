import { defineConfig } from "vitest/config";
export default defineConfig({ test: { include: ["test/slow/publish-two.test.ts", "test/slow/publish-killed.test.ts", "test/slow/publish-flips.test.ts"], globalSetup: ["test/support/program.ts"], testTimeout: 900000, hookTimeout: 600000, pool: "forks" } });
