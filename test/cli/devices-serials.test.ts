/** @module-tag long */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { type ServedController, servedController } from "../support/controller.ts";

let served: ServedController;
beforeAll(async () => {
  served = await servedController();
});

const serial = (number: number) => `SN-${String(number).padStart(5, "0")}`;
const write = (name: string, lines: readonly string[]) =>
  writeFileSync(join(served.folder, name), `${lines.join("\n")}\n`);

describe("a list of 500 serial numbers", () => {
  beforeAll(async () => {
    const there = Array.from({ length: 496 }, (_, index) => serial(index + 1));
    // 00495 has enrolled under two keys, 00496 is accepted already, 00497 to 00500 have not enrolled yet.
    for (const each of [...there, serial(495)]) await served.enroll({ serial: each });
    await served.succeed(["devices", "accept", serial(496)]);
    write("delivery.csv", [
      "Order,Serial Number,Model",
      ...Array.from(
        { length: 500 },
        (_, index) => `"4711, second part","${serial(index + 1).toLowerCase()}",X1`,
      ),
      "4711,To Be Filled By O.E.M.,X1",
    ]);
  });
  const accept = ["devices", "accept", "--serials", "delivery.csv"];

  test("with --dry-run, reports the changes and makes none", async () => {
    const { stdout, exitCode } = await served.run([...accept, "--dry-run"]);
    expect([stdout.split("\n")[0], exitCode]).toEqual([
      "494 devices would be accepted; nothing was changed.",
      1,
    ]);
    expect((await served.json(["devices", "list", "--state", "accepted"])).devices.length).toBe(1);
  });

  test("is accepted in one command, which names unknown and ambiguous numbers", async () => {
    const { stdout, stderr, exitCode } = await served.run([...accept, "--yes"]);
    expect(stdout.split("\n")).toEqual([
      "Accepted 494 devices.",
      "1 already in that state.",
      "4 unknown: sn-00497 (line 498), sn-00498 (line 499), sn-00499 (line 500) and sn-00500 (line 501)",
      "1 ambiguous, several devices have it: sn-00495 (line 496)",
      "1 not unique to one machine: To Be Filled By O.E.M. (line 502)",
    ]);
    expect([stderr, exitCode]).toEqual(["--preapprove approves the unknown ones in advance.", 1]);
    expect((await served.json(["devices", "list", "--state", "accepted"])).devices.length).toBe(495);
  });

  test("is approved in advance: the first device with a number is accepted, the second waits", async () => {
    const { stdout } = await served.run([...accept, "--yes", "--preapprove"]);
    expect(stdout).toContain(
      "\n495 already in that state.\n4 unknown serial numbers are approved in advance, for one device each.\n",
    );
    const [first, second] = [
      await served.enroll({ serial: serial(500) }),
      await served.enroll({ serial: serial(500) }),
    ];
    const states = await Promise.all(
      [first, second].map(async (id) => (await served.json(["devices", "show", id])).device.state),
    );
    expect(states).toEqual(["accepted", "pending"]);
  });

  test("with --json, is reported as a document", async () => {
    const { stdout } = await served.run([...accept, "--dry-run", "--json"]);
    expect(JSON.parse(stdout)).toEqual({
      schema_version: 1,
      state: "accepted",
      changed: [],
      already: 495,
      same_serial: [],
      preapproved: [],
      rejected: [],
      unknown: [497, 498, 499].map((number) => serial(number).toLowerCase()),
      ambiguous: ["sn-00495", "sn-00500"],
      placeholders: ["To Be Filled By O.E.M."],
      dry_run: true,
    });
  });
});

describe("a list with rejected devices", () => {
  const names = ["laptop-1", "laptop-2", "laptop-3", "laptop-4", "laptop-5"];
  let own: ServedController;
  beforeAll(async () => {
    own = await servedController();
    for (const [index, name] of names.entries()) await own.enroll({ name, serial: serial(index + 1) });
    for (const name of names.slice(0, 4))
      await own.succeed(["devices", "reject", name, "--reason", "Stolen."]);
    await own.enroll({ name: "gone", serial: serial(6) });
    await own.succeed(["devices", "reject", "gone"]);
    await own.succeed(["devices", "delete", "gone", "--yes"]);
    writeFileSync(join(own.folder, "list.txt"), [1, 2, 3, 4, 5, 6, 7].map(serial).join("\n"));
  });
  const accept = ["devices", "accept", "--serials", "list.txt", "--preapprove", "--yes"];
  const left =
    "5 rejected, left out: laptop-1, laptop-2, laptop-3 and 2 more; --include-rejected includes them";
  const stateOf = async (name: string) => (await own.json(["devices", "show", name])).device.state;

  test("leaves them out, reports this before and after, and names three", async () => {
    const trial = await own.run([...accept, "--dry-run"]);
    expect([trial.stdout.split("\n"), trial.exitCode]).toEqual([
      [
        "1 device would be accepted; nothing was changed.",
        "1 unknown serial number would be approved in advance, for one device each.",
        left,
      ],
      1,
    ]);
    const done = await own.run(accept);
    expect([done.stdout.split("\n"), done.exitCode]).toEqual([
      ["Accepted 1 device.", "1 unknown serial number is approved in advance, for one device each.", left],
      1,
    ]);
    expect(await Promise.all(names.map(stateOf))).toEqual([...Array(4).fill("rejected"), "accepted"]);
    const waiting = await own.json(["devices", "accept", "--all-pending", "--yes"]);
    expect(waiting.changed).toEqual([]);
    const { stdout } = await own.run([...accept, "--json"]);
    expect(JSON.parse(stdout).rejected).toEqual([...names.slice(0, 4), serial(6)]);
  });

  test("accepts them with --include-rejected, and gives no acceptance the reason of a rejection", async () => {
    const { stdout } = await own.succeed([...accept, "--include-rejected"]);
    expect(stdout).toContain("Accepted 4 devices.\n1 already in that state.\n");
    expect(await Promise.all(names.map(stateOf))).toEqual(Array(5).fill("accepted"));
    const history = await own.succeed(["devices", "history", "laptop-1"]);
    expect(history.stdout).toMatch(/State: rejected → accepted$/m);
    expect(history.stdout.match(/Stolen\./g)).toHaveLength(1);
  });

  test("is required by --include-rejected", async () => {
    const { stderr, exitCode } = await own.run(["devices", "accept", "laptop-1", "--include-rejected"]);
    expect([stderr.split("\n")[0], exitCode]).toEqual([
      "error[usage] --include-rejected applies only to a list of serial numbers to accept",
      2,
    ]);
  });
});

describe("a list of serial numbers", () => {
  test.each([
    ["one a line, with a remark and an empty line", "# delivery\nSN-1\r\n\r\nSN-2\r\n", [], ["SN-1", "SN-2"]],
    ["one a line under a name", "serial_number\nSN-1\n", [], ["SN-1"]],
    ["semicolons, a byte order mark", "\uFEFFName;S/N\nA;SN-1\n", [], ["SN-1"]],
    ["tabs", "a\tSerial No\nx\tSN-1\n", [], ["SN-1"]],
    [
      "a quoted line break and a quote",
      'note,serial\n"two\nlines ""here""",SN-1\nx,"SN-2"',
      [],
      ["SN-1", "SN-2"],
    ],
    ["a column by name", "a,Asset Tag\n1,SN-1\n", ["--column", "asset tag"], ["SN-1"]],
  ])("is read with %s", async (_, text, options, unknown) => {
    const { stdout } = await served.run(
      ["devices", "accept", "--serials", "-", "--dry-run", "--json", ...options],
      text,
    );
    expect(JSON.parse(stdout).unknown).toEqual(unknown);
  });

  test.each([
    [
      "",
      [],
      "standard input is empty",
      "It must have one serial number per line, or be CSV with a column of serial numbers.",
    ],
    [
      "a,b\n1,2\n",
      [],
      'standard input has no column of serial numbers: its columns are "a", "b"',
      "Name the column with --column; the first line has the names.",
    ],
    [
      "a,b\n1,2\n",
      ["--column", "c"],
      'standard input has no column "c": its columns are "a", "b"',
      "Name the column with --column; the first line has the names.",
    ],
    [
      "serial,SN\n1,2\n",
      [],
      'standard input has 2 columns of serial numbers: its columns are "serial", "SN"',
      "Name one with --column.",
    ],
  ])("is refused: %j with %j", async (text, options, message, hint) => {
    const { stderr, exitCode } = await served.run(["devices", "accept", "--serials", "-", ...options], text);
    expect({ stderr, exitCode }).toEqual({
      stderr: `error[serials-file] ${message}\n  hint: ${hint}`,
      exitCode: 1,
    });
  });

  test("is refused if there is no such file", async () => {
    const { stderr, exitCode } = await served.run(["devices", "accept", "--serials", "no.csv"]);
    expect({ stderr, exitCode }).toEqual({
      stderr: "error[file-access] cannot read no.csv: there is no such file\n  hint: Check the path.",
      exitCode: 2,
    });
  });
});

test("more than a thousand devices are accepted in several requests, and the output says so", {
  tags: ["long"],
}, async () => {
  const many = await servedController();
  await many.enroll({ serial: "SN-0" });
  // In groups, because the server closes a connection that waits too long.
  for (let group = 0; group < 20; group++)
    await Promise.all(Array.from({ length: 50 }, () => many.enroll({})));
  const { stdout, stderr } = await many.succeed(["devices", "accept", "--all-pending", "--yes"]);
  expect([stdout, stderr]).toEqual([
    "Accepted 1001 devices.",
    "Sent in 2 requests of at most 1000; each is applied completely or not at all.",
  ]);
});
