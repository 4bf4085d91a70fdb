import { join } from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { withLock } from "../../pipeline/system/lock.ts";
import { project, smallCatalog } from "../support/project.ts";
import { program } from "../support/run.ts";

test("a command waits while another relcat writes, names it, and continues when it is done", async () => {
  const { folder, read } = project(smallCatalog);
  const waiting = await withLock(
    join(folder, "releases"),
    4242,
    () => {},
    async () => {
      const running = execa(process.execPath, [program, "cut", "--all"], { cwd: folder });
      await new Promise<void>((resolve) => running.stderr.on("data", () => resolve()));
      // In an object, because the lock would await a promise.
      return { running };
    },
  );
  const { stdout, stderr } = await waiting.running;
  expect(stderr).toMatch(/^Waiting for the relcat with process id 4242…\n/);
  expect(stdout).toMatch(/^New ids, dated /);
  expect(read("releases/ledger.jsonl").split("\n").length).toBe(6);
});
