import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { encoder } from "../../pipeline/site/stores/precompress.ts";
import { writeSibling } from "../../pipeline/site/stores/siblings.ts";
import { startThread } from "../../pipeline/system/thread.ts";
import { repository, temporaryFolder } from "../support/run.ts";

test("a thread answers each job in order, and a job that fails does not affect the next", async () => {
  const { ask, hasEnded } = startThread(`
    async function answer(job) {
      if (job === 2) process.getBuiltinModule("node:fs").readFileSync("/nothing/here");
      if (job === 1) await new Promise((resolve) => setImmediate(resolve));
      return job * 10;
    }`);
  const answers = await Promise.allSettled([1, 2, 3].map(ask));
  expect(answers).toMatchObject([
    { value: 10 },
    { reason: { code: "ENOENT", syscall: "open", path: "/nothing/here" } },
    { value: 30 },
  ]);
  expect(hasEnded()).toBe(false);
});

test.each([
  ["ends", "process.exit(3)", "a thread of relcat's ended with exit code 3"],
  [
    "throws outside of a job",
    "setImmediate(() => { throw new Error('broken'); }); return new Promise(() => {})",
    "broken",
  ],
])("every job of a thread that %s is refused", async (_, statement, message) => {
  const { ask, hasEnded } = startThread(`function answer() { ${statement}; }`);
  const answers = await Promise.allSettled([ask(1), ask(2)]);
  expect(answers).toMatchObject([{ reason: { message } }, { reason: { message } }]);
  expect(hasEnded()).toBe(true);
  await expect(ask(3)).rejects.toThrow(message);
});

test("a thread without a job does not keep the process alive", async () => {
  const program = `import { startThread } from "./pipeline/system/thread.ts"; startThread("function answer() {}");`;
  const options = { cwd: repository, timeout: 60_000, input: program };
  expect((await execa(process.execPath, ["--input-type=module-typescript", "-"], options)).exitCode).toBe(0);
});

test("a file that cannot be compressed is named, whether it has a sibling already or not", async () => {
  const folder = temporaryFolder();
  const work = join(folder, "work");
  mkdirSync(work);
  const missing = join(folder, "missing.json");
  const encoding = encoder(work);
  encoding.encode({ sha256: "", size: 9000 }, missing, ["gz", "br"]);
  await expect(encoding.finish()).rejects.toThrow(`cannot compress ${missing}: there is no such file`);
  await expect(
    writeSibling(folder, join(work, "sibling"), { path: "missing.json", encoding: "gz" }),
  ).rejects.toMatchObject({
    code: "file-access",
    message: expect.stringContaining(`cannot write ${missing}.gz`),
  });
});
