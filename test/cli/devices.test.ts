/** @module-tag long */
import { beforeAll, describe, expect, test } from "vitest";
import { ownerEmail, type ServedController, servedController } from "../support/controller.ts";

let served: ServedController;
let ids: Record<"laptop" | "phone" | "twin" | "otherTwin" | "umlaut", string>;
beforeAll(async () => {
  served = await servedController();
  const { enroll } = served;
  ids = {
    laptop: await enroll({ name: "laptop-7", serial: "SN-1001" }),
    phone: await enroll({ name: "phone", serial: "SN-1002" }),
    twin: await enroll({ name: "twin", serial: "SN-1003" }),
    otherTwin: await enroll({ name: "twin", serial: " sn-1004 " }),
    umlaut: await enroll({ name: "Ärzte-PC", serial: "To Be Filled By O.E.M." }),
  };
});

const said = async (...args: string[]) => (await served.succeed(args)).stdout;

describe("list and show", () => {
  test("print a table, or a document with --json", async () => {
    const { stdout, stderr } = await served.succeed(["devices", "list", "--search", "lap"]);
    expect(stdout.split("\n")).toEqual([
      expect.stringMatching(/^id +state +serial +name +type +os +last seen$/),
      expect.stringMatching(new RegExp(`^${ids.laptop} +pending +SN-1001 +laptop-7 +\\d{4}-.*Z$`)),
    ]);
    expect(stderr).toBe("1 device.");
    const { devices } = await served.json(["devices", "list", "--serial", "sn-1004"]);
    expect(devices.map(({ id, name }: Record<string, string>) => [id, name])).toEqual([
      [ids.otherTwin, "twin"],
    ]);
    expect(await said("devices", "list", "--state", "rejected")).toBe("No device matches.");
  });

  test("sort laptop-2 before laptop-10 in a table, and by enrolment in JSON", async () => {
    const own = await servedController();
    for (const name of ["laptop-10", "laptop-2", "laptop-1"])
      await own.enroll({ name, serial: `SN ${name}` });
    const { stdout } = await own.succeed(["devices", "list"]);
    expect([...stdout.matchAll(/ {2}(laptop-\d+) /g)].map(([, name]) => name)).toEqual([
      "laptop-1",
      "laptop-2",
      "laptop-10",
    ]);
    const { devices } = await own.json(["devices", "list"]);
    expect(devices.map(({ name }: { name: string }) => name)).toEqual(["laptop-10", "laptop-2", "laptop-1"]);
  });

  test("find a device by its id, its serial number in any case, and its name", async () => {
    for (const selector of [ids.laptop, "sn-1001", "laptop-7"])
      expect((await served.json(["devices", "show", selector])).device.id).toBe(ids.laptop);
    expect((await served.json(["devices", "show", "Ärzte-PC"])).device.id).toBe(ids.umlaut);
    expect(await said("devices", "show", "phone")).toMatch(/^id +[\w-]{36}\nname +phone\nstate +pending$/m);
  });

  test("name an argument that matches no device or two, and change none", async () => {
    const { stdout, stderr, exitCode } = await served.run(["devices", "accept", "phone", "twin", "lapt"]);
    expect({ stdout, stderr, exitCode }).toEqual({
      stdout: "",
      stderr: [
        'error[device-unmatched] "twin" means 2 devices',
        `  hint: Give one of their ids: ${ids.twin} (pending) and ${ids.otherTwin} (pending)`,
        'error[device-unmatched] no device has the id, the serial number or the name "lapt"',
        "  hint: relcat devices list shows them all; --search finds parts of a name.",
        "2 errors",
      ].join("\n"),
      exitCode: 1,
    });
    expect((await served.json(["devices", "show", "phone"])).device.state).toBe("pending");
  });
});

describe("accept and reject", () => {
  test("accept twice, then reject with a reason; the history names the user and the reason", async () => {
    expect(await said("devices", "accept", "laptop-7", ids.phone)).toBe("Accepted 2 devices.");
    expect(await said("devices", "accept", "laptop-7", "SN-1001")).toBe(
      "Accepted 0 devices. 1 already in that state.",
    );
    expect(await said("devices", "reject", "laptop-7", "--reason", "Stolen.", "--dry-run")).toBe(
      "1 device would be rejected; nothing was changed.",
    );
    expect(await served.json(["devices", "reject", "laptop-7", "--reason", "Stolen."])).toEqual({
      schema_version: 1,
      state: "rejected",
      changed: [ids.laptop],
      already: 0,
      same_serial: [],
      dry_run: false,
    });
    const { audit_log } = await served.json(["devices", "history", "laptop-7"]);
    expect(audit_log.map(({ code, after }: { code: string; after: object }) => [code, after])).toEqual([
      ["device.state", { state: "rejected", reason: "Stolen." }],
      ["device.state", { state: "accepted" }],
      ["device.enrolled", { state: "pending", name: "laptop-7", serial: "SN-1001" }],
    ]);
    expect(await said("devices", "history", "laptop-7")).toMatch(
      /^\d+ +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +key .*127\.0\.0\.1 +Device state changed +device \S+ +State: accepted → rejected, Reason: Stolen\.$/m,
    );
  });

  test("need a confirmation for more than a handful", async () => {
    const some = await servedController();
    for (let index = 0; index < 6; index++) await some.enroll({ serial: `SN-200${index}` });
    const refused = await some.run(["devices", "accept", "--all-pending"]);
    expect([refused.stderr.split("\n").slice(-2), refused.exitCode]).toEqual([
      [
        "error[not-confirmed] there is no terminal to confirm this on; nothing was changed",
        "  hint: Run the command again with --yes.",
      ],
      2,
    ]);
    expect(refused.stderr).toContain("SN-2003");
    const { stdout } = await some.succeed(["devices", "accept", "--all-pending", "--dry-run"]);
    expect(stdout).toBe("6 devices would be accepted; nothing was changed.");
    expect((await some.json(["devices", "list", "--state", "accepted"])).devices).toEqual([]);
    expect((await some.succeed(["devices", "accept", "--all-pending", "--yes"])).stdout).toBe(
      "Accepted 6 devices.",
    );
  });

  test.each([
    [
      ["accept"],
      "no device is named",
      "Give selectors (ids, serial numbers, names), or --serials FILE, or --all-pending.",
    ],
    [
      ["accept", "x", "--all-pending"],
      "devices are selected in several ways",
      "Give selectors (ids, serial numbers, names), or --serials FILE, or --all-pending.",
    ],
    [["accept", "x", "--column", "c"], "--column needs --serials", "Add --serials FILE."],
    [
      ["reject", "--serials", "x", "--preapprove"],
      "--preapprove applies only to a list of serial numbers to accept",
      "Give it with relcat devices accept --serials FILE.",
    ],
    [
      ["assign", "phone"],
      "give either a new owner of the device or no owner",
      "Give --user EMAIL, or --nobody.",
    ],
    [
      ["enroll", "--every", "0"],
      '"0" is not valid for --every <seconds>',
      "Give a whole number of seconds, 1 or more.",
    ],
  ])("refuse %j", async (args, message, hint) => {
    const { stderr, exitCode } = await served.run(["devices", ...args]);
    expect({ stderr, exitCode }).toEqual({ stderr: `error[usage] ${message}\n  hint: ${hint}`, exitCode: 2 });
  });
});

test("accept warns of a serial number that another accepted device has, before it changes anything", async () => {
  const own = await servedController();
  const [old, newer] = [
    await own.enroll({ name: "laptop-7", serial: "SN-7" }),
    await own.enroll({ name: "new-key", serial: "sn-7" }),
  ];
  expect((await own.succeed(["devices", "accept", old])).stderr).toBe("");
  const warning = `1 device with the serial number of another accepted device: new-key (sn-7), like ${old}. If it is the same machine with a new key, reject the other device first.`;
  for (const [trial, told] of [
    [["--dry-run"], "1 device would be accepted; nothing was changed."],
    [[], "Accepted 1 device."],
  ] as const) {
    const { stdout, stderr } = await own.succeed(["devices", "accept", "new-key", ...trial]);
    expect([stdout, stderr]).toEqual([told, warning]);
  }
  await own.succeed(["devices", "reject", newer]);
  const { same_serial } = await own.json(["devices", "accept", newer]);
  expect(same_serial).toEqual([{ id: newer, accepted: old }]);
});

test("rename and assign change the name and the owner, and `assign --nobody` removes the owner", async () => {
  expect(await said("devices", "rename", "phone", "phone-2")).toBe(`${ids.phone} is now called phone-2.`);
  expect(await said("devices", "assign", "phone-2", "--user", ownerEmail)).toBe(
    `${ids.phone} is now assigned to ${ownerEmail}.`,
  );
  expect((await served.json(["devices", "assign", "phone-2", "--nobody"])).device.assigned_to_user).toBe(
    null,
  );
});

test("delete removes only rejected devices, and only with a confirmation", async () => {
  const id = await served.enroll({ name: "old", serial: "SN-3001" });
  const accepted = await served.run(["devices", "delete", "old", "--yes"]);
  expect([accepted.stderr, accepted.exitCode]).toEqual([
    `error[request-conflict] only rejected devices can be deleted; ${id} is pending\n  hint: Reject them first with relcat devices reject; nothing was changed.`,
    3,
  ]);
  await served.succeed(["devices", "reject", "old"]);
  expect((await served.run(["devices", "delete", "old"])).exitCode).toBe(2);
  const { stdout, stderr } = await served.succeed(["devices", "delete", "old", "--yes"]);
  expect([stdout, stderr.split("\n").at(-1)]).toEqual([
    "Deleted 1 device.",
    "Their serial numbers stay rejected.",
  ]);
  expect((await served.run(["devices", "show", id])).exitCode).toBe(1);
});
