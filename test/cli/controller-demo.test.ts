import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { folderFor, type Running, startRelcat } from "../support/controller.ts";
import { repository } from "../support/run.ts";

/** Commands that the demo prints. */
const printed = (demo: Running): Promise<string> =>
  new Promise((resolve, reject) => {
    let text = "";
    demo.stdout?.on("data", (chunk) => {
      text += String(chunk);
      if (/^relcat devices history .*\n/m.test(text)) resolve(text);
    });
    void demo.then(({ stderr }) => reject(new Error(String(stderr))));
  });

test("the commands that the demo prints can be pasted, and nothing remains after it stops", async () => {
  const { folder, env } = folderFor();
  // New users start it from a clone, without relcat in the path.
  const launcher = join(repository, "cli/relcat.mjs");
  const demo = startRelcat(folder, env, ["controller", "demo", "--port", "0"], launcher);
  const script = await printed(demo);
  const serials = /--serials (\S+)/.exec(script)?.[1] ?? "";
  const { stdout, stderr } = await execa("bash", ["-c", script], { cwd: folder, env, reject: false });
  const said = stdout.split("\n");
  expect(said[0]).toMatch(/^id +state +serial/);
  expect(said.filter((line) => /^[0-9a-f-]{36} +pending /.test(line)).length).toBe(200);
  expect(
    said.filter(
      (line) => !/^[0-9a-f-]{36} +pending |^id |^ROW | device (state changed|enrolled) /.test(line),
    ),
  ).toEqual([
    "Accepted 1 device.",
    "96 devices would be accepted; nothing was changed.",
    "1 already in that state.",
    "4 unknown: SN-00002 (line 3), SN-00003 (line 4), SN-90001 (line 102) and SN-90002 (line 103)",
    "1 ambiguous, several devices have it: SN-00001 (line 2)",
    "Accepted 96 devices.",
    "1 already in that state.",
    "4 unknown serial numbers are approved in advance, for one device each.",
    "1 ambiguous, several devices have it: SN-00001 (line 2)",
  ]);
  expect(said.at(-2)).toMatch(/device state changed .* state: pending → accepted, reason: Known to me\.$/);
  expect(stderr).toBe("200 devices.\n--preapprove approves the unknown ones in advance.");
  expect(existsSync(serials)).toBe(true);
  demo.kill("SIGINT");
  expect([(await demo).exitCode, existsSync(dirname(serials))]).toEqual([0, false]);
});

test("a demo that is stopped while its devices enrol leaves nothing", async () => {
  const { folder, env } = folderFor();
  const temporary = { ...env, TMPDIR: folder };
  const demo = startRelcat(folder, temporary, ["controller", "demo", "--port", "0", "--devices", "100000"]);
  await new Promise<void>((resolve) => demo.stderr?.once("data", () => resolve()));
  demo.kill("SIGTERM");
  const { exitCode, stderr } = await demo;
  expect([exitCode, String(stderr).split("\n").at(-1)]).toEqual([
    0,
    "The demo and its database are removed.",
  ]);
  expect(readdirSync(folder).filter((name) => name.startsWith("relcat-"))).toEqual([]);
});
