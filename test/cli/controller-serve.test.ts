import { writeFileSync } from "node:fs";
import { Agent, get } from "node:https";
import { createServer } from "node:net";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { basic } from "../controller/support.ts";
import { selfSigned } from "../support/certify.ts";
import {
  addressOf,
  type MadeController,
  madeController,
  type ServedController,
  servedController,
  startRelcat,
} from "../support/controller.ts";

let made: MadeController;
beforeAll(async () => {
  made = await madeController();
  const { folder } = made;
  await selfSigned(folder, "localhost");
  writeFileSync(join(folder, "text.pem"), "no certificate\n");
});

const serve = ["controller", "serve", "--database", "controller.db", "--port", "0"];

describe("refuses to start with unsafe or impossible settings", () => {
  test.each([
    [
      ["--host", "0.0.0.0"],
      "usage] on 0.0.0.0 others could read the credentials: HTTPS is required there",
      "Give --tls-cert and --tls-key; or --trusted-proxies, if a proxy in front of it serves HTTPS; or --host 127.0.0.1.",
    ],
    [
      ["--tls-cert", "cert.pem"],
      "usage] --tls-key is missing",
      "A certificate needs its key: give both, as PEM files.",
    ],
    [
      ["--tls-cert", "no.pem", "--tls-key", "key.pem"],
      "file-access] cannot read no.pem: there is no such file",
      "Check the path.",
    ],
    [
      ["--trusted-proxies", "proxy.example.com"],
      'usage] --trusted-proxies is "proxy.example.com", expected addresses or networks',
      "For example: --trusted-proxies 127.0.0.1 10.0.0.0/8",
    ],
    [
      ["--max-accepted", "many"],
      'usage] "many" is not valid for --max-accepted <count>',
      "Give a whole number, 0 or more.",
    ],
    [
      ["--database", "other.db"],
      "controller-database] there is no database other.db",
      "Create one with relcat controller init --database other.db",
    ],
  ])("%j", async (options, message, hint) => {
    const { stdout, stderr, exitCode } = await made.run([...serve, ...options]);
    expect({ stdout, stderr, exitCode }).toEqual({
      stdout: "",
      stderr: `error[${message}\n  hint: ${hint}`,
      exitCode: 2,
    });
  });

  test("a file that is not a certificate", async () => {
    const { stderr, exitCode } = await made.run([...serve, "--tls-cert", "text.pem", "--tls-key", "key.pem"]);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(
      /^error\[file-access\] text\.pem and key\.pem are not a certificate and its key: /,
    );
    expect(stderr).toContain(
      "hint: Both must be PEM files, with the server's certificate first in its chain.",
    );
  });

  test("a port that is in use", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as { port: number };
    const { stderr, exitCode } = await made.run([...serve.slice(0, -1), String(port)]);
    other.close();
    expect({ stderr, exitCode }).toEqual({
      stderr: `error[address-taken] another program is listening on 127.0.0.1:${port}\n  hint: Give another --port; --port 0 takes any free one.`,
      exitCode: 2,
    });
  });
});

test("serve offers HTTPS itself if a certificate is configured", async () => {
  const args = [...serve, "--host", "0.0.0.0", "--tls-cert", "cert.pem", "--tls-key", "key.pem", "--json"];
  const server = startRelcat(made.folder, made.env, args);
  const url = await addressOf(server);
  expect(url).toMatch(/^https:/);
  const local = url.replace("0.0.0.0", "127.0.0.1");
  const agent = new Agent({ rejectUnauthorized: false });
  const status = await new Promise((resolve, reject) => {
    get(`${local}/-net/api/v0/ok`, { agent }, (answer) => resolve(answer.resume().statusCode)).on(
      "error",
      reject,
    );
  });
  expect(status).toBe(200);
  server.kill("SIGTERM");
  expect((await server).exitCode).toBe(0);
});

describe("a served controller", () => {
  let served: ServedController;
  beforeAll(async () => {
    served = await servedController([
      "--max-accepted",
      "1",
      "--max-pending",
      "2",
      "--organisation",
      "Example",
    ]);
  });

  test("applies its limits, and names the owner of the devices", async () => {
    const [first, second] = [await served.enroll({}), await served.enroll({})];
    expect(await served.enroll({})).toBeUndefined();
    const { device } = await served.json(["devices", "show", first]);
    expect(device.owned_by_org).toBe("Example");
    await served.succeed(["devices", "accept", first]);
    const { stderr, exitCode } = await served.run(["devices", "accept", second]);
    expect({ stderr, exitCode }).toEqual({
      stderr: [
        "error[request-conflict] no more devices can be accepted; nothing was changed",
        `error[request-conflict] ${second}: no more devices can be accepted`,
        "2 errors",
      ].join("\n"),
      exitCode: 3,
    });
  });

  test("logs one JSON object a line, and finishes requests under way when it is stopped", async () => {
    const { RELCAT_API_KEY_ID: id = "", RELCAT_API_KEY: key = "" } = served.env;
    const answered = await fetch(`${served.url}/-net/api/v0/device`, { headers: basic(id, key) });
    expect(answered.status).toBe(200);
    await answered.text();
    const { exitCode, stdout, stderr } = (await served.stop()) as Awaited<ServedController["server"]>;
    expect(exitCode).toBe(0);
    expect(stderr).toBe(
      [
        `Serving the controller in controller.db on ${served.url}/. Ctrl-C stops it.`,
        `Next: open ${served.url}/ in a browser, or relcat login --url ${served.url}`,
        "Finishing requests in progress…",
      ].join("\n"),
    );
    const [listening, ...entries] = String(stdout)
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(listening).toEqual({ event: "listening", url: served.url });
    expect(entries).toContainEqual(
      expect.objectContaining({ event: "request", method: "GET", path: "/-net/api/v0/device", status: 200 }),
    );
    expect(String(stdout)).not.toContain(key);
  });
});

test("--quiet logs no requests", async () => {
  const { url, stop } = await servedController(["--quiet"]);
  await (await fetch(`${url}/-net/api/v0/ok`)).text();
  const { stdout } = (await stop()) as Awaited<ServedController["server"]>;
  expect(String(stdout).split("\n").length).toBe(1);
});
