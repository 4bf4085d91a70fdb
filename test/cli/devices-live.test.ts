/** @module-tag long */
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { testController } from "../controller/support.ts";
import {
  folderFor,
  type Running,
  type ServedController,
  servedController,
  startRelcat,
} from "../support/controller.ts";

let served: ServedController;
beforeAll(async () => {
  served = await servedController();
});

const nextData = (stream: "stdout" | "stderr", running: Running) =>
  new Promise<string>((resolve) => running[stream]?.once("data", (chunk) => resolve(String(chunk))));

describe("devices watch", () => {
  test("prints one event a line, and resumes after the server was away", async () => {
    const { folder, env, enroll, again, stop, url } = served;
    await enroll({ name: "first" });
    const watching = startRelcat(folder, env, ["devices", "watch", "--after", "0", "--json"]);
    const first = JSON.parse(await nextData("stdout", watching));
    expect([first.code, first.after.name]).toEqual(["device.enrolled", "first"]);
    const lost = nextData("stderr", watching);
    await stop("SIGKILL");
    expect(await lost).toBe("The connection ended; connecting again…\n");
    const next = nextData("stdout", watching);
    await again();
    await enroll({ name: "second" });
    expect(JSON.parse(await next)).toMatchObject({ code: "device.enrolled", after: { name: "second" } });
    watching.kill("SIGINT");
    await watching;
    const { stdout, stderr } = await served.succeed(["devices", "watch", "--after", "0", "--count", "2"]);
    expect(stdout.split("\n")).toEqual([
      expect.stringMatching(/ Device enrolled .* Name: first/),
      expect.stringMatching(/ Device enrolled .* Name: second/),
    ]);
    expect(stderr).toBe(`Watching ${url}. Ctrl-C stops it.`);
  });
});

describe("devices enroll", () => {
  const enroll = (...words: string[]) => ["devices", "enroll", "--key-file", "device.pem", ...words];

  test("waits for the decision, and keeps its key and its token secret", async () => {
    const { folder, env, json, succeed } = served;
    const agent = startRelcat(
      folder,
      env,
      enroll("--name", "agent", "--serial", "SN-7", "--wait", "--every", "1"),
    );
    const waiting = await nextData("stderr", agent);
    const id = /^(\S+) is pending: waiting for a decision…\n/.exec(waiting)?.[1] ?? "";
    expect((await json(["devices", "show", id])).device).toMatchObject({
      name: "agent",
      serial: "SN-7",
      state: "pending",
    });
    await succeed(["devices", "accept", id]);
    const { stdout, stderr, exitCode } = await agent;
    expect([stdout, exitCode]).toEqual([`${id} is accepted.`, 0]);
    expect(String(stderr)).toContain("Its token is in device.pem.token; it is issued only once.");
    for (const file of ["device.pem", "device.pem.token"])
      expect(statSync(join(folder, file)).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder, "device.pem.token"), "utf8")).toMatch(/^rcd_[0-9a-f-]{36}\n$/);
    const again = await json(enroll());
    expect(again).toMatchObject({ id, state: "accepted", token_file: null });
    await succeed(["devices", "reject", id]);
    const rejected = await served.run(enroll());
    expect([rejected.stdout, rejected.stderr, rejected.exitCode]).toEqual([
      "",
      `error[device-rejected] the controller rejected this device, ${id}\n  hint: relcat devices accept ${id} undoes that.`,
      1,
    ]);
  });

  test("stores the key in its own folder, and refuses a file that is not a key", async () => {
    const { folder, env, run, succeed } = served;
    const { stderr } = await succeed(["devices", "enroll", "--name", "at home"]);
    expect(stderr).toMatch(/^Next: relcat devices accept [\w-]{36}, by a user who may do so$/);
    expect(existsSync(join(String(env.XDG_STATE_HOME), "relcat/device.pem"))).toBe(true);
    writeFileSync(join(folder, "text.pem"), "no key\n");
    const refused = await run(["devices", "enroll", "--key-file", "text.pem"]);
    expect([refused.stderr, refused.exitCode]).toEqual([
      "error[file-access] text.pem is not an Ed25519 private key in PEM\n  hint: Give another --key-file; a file that does not exist is created.",
      2,
    ]);
  });
});

describe("Retry-After of a controller's answers", () => {
  test("makes the command wait, or end if the time is too long", async () => {
    const { url, setTime, now, makeKey } = await testController({
      settings: { limits: { key: 1, address: 0, enrol: 0, login: 0 } },
    });
    const minute = Math.ceil(now() / 60_000) * 60_000;
    const { id, key } = await makeKey();
    const { folder, env } = folderFor({
      RELCAT_CONTROLLER_URL: url,
      RELCAT_API_KEY_ID: id,
      RELCAT_API_KEY: key,
    });
    setTime(minute + 59_500);
    const list = ["devices", "list"];
    expect((await startRelcat(folder, env, list)).exitCode).toBe(0);
    const waiting = startRelcat(folder, env, list);
    expect(await nextData("stderr", waiting)).toBe(
      "The controller limits requests: continuing in 1 second…\n",
    );
    setTime(minute + 60_000);
    const { stdout, exitCode } = await waiting;
    expect([stdout, exitCode]).toEqual(["No device matches.", 0]);
  });

  test("makes the command fail as a network error after two waits", { tags: ["long"] }, async () => {
    const { url, setTime, now, makeKey } = await testController({
      settings: { limits: { key: 1, address: 0, enrol: 0, login: 0 } },
    });
    const { id, key } = await makeKey();
    setTime(Math.ceil(now() / 60_000) * 60_000 + 59_500);
    const { run } = folderFor({ RELCAT_CONTROLLER_URL: url, RELCAT_API_KEY_ID: id, RELCAT_API_KEY: key });
    await run(["devices", "list"]);
    const { stderr, exitCode } = await run(["devices", "list"]);
    const wait = "The controller limits requests: continuing in 1 second…";
    expect([stderr.split("\n"), exitCode]).toEqual([
      [
        wait,
        wait,
        "error[network] ask again in 1 s",
        "  hint: Run it again later; relcat controller serve --limit-key sets the limit.",
      ],
      5,
    ]);
  });

  test("devices list warns once per command if the key expires within two weeks", async () => {
    const { url, makeKey, now } = await testController();
    const { id, key } = await makeKey(["devices:read"], 13);
    const { succeed, run } = folderFor({
      RELCAT_CONTROLLER_URL: url,
      RELCAT_API_KEY_ID: id,
      RELCAT_API_KEY: key,
    });
    const ends = new Date(now() + 13 * 24 * 3_600_000).toISOString().slice(0, 10);
    const { stderr } = await succeed(["devices", "list"]);
    expect(stderr).toBe(
      `warning: the API key expires on ${ends}; relcat controller keys rotate me creates its next secret.`,
    );
    const refused = await run(["devices", "accept", "x"]);
    expect(refused.stderr.match(/warning/g)?.length).toBe(1);
  });
});
