import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { ownerEmail, type ServedController, servedController } from "../support/controller.ts";

let served: ServedController;
beforeAll(async () => {
  served = await servedController();
  const { enroll, succeed, folder } = served;
  for (const number of [1, 2, 3]) await enroll({ name: `device-${number}`, serial: `SN-100${number}` });
  await enroll({ name: "nameless", serial: "0" });
  await succeed(["devices", "accept", "device-1"]);
  await succeed(["devices", "reject", "device-2"]);
  await succeed(["devices", "assign", "device-1", "--user", ownerEmail]);
  writeFileSync(join(folder, "early.txt"), "SN-9001\n");
  await succeed(["devices", "accept", "--serials", "early.txt", "--preapprove"]);
  const { stdout, stderr } = await succeed(["devices", "export", "--out", "devices.jsonl"]);
  expect([stdout, stderr]).toEqual(["", "Exported 4 devices and 1 decision to devices.jsonl."]);
  expect(statSync(join(folder, "devices.jsonl")).mode & 0o777).toBe(0o600);
});

const exported = async (from: ServedController) =>
  (await from.succeed(["devices", "export"])).stdout.split("\n");
const restoredFields = (lines: readonly string[]) =>
  lines.map((line) => {
    const { name, state, assigned_to_user, serial, enforce_state } = JSON.parse(line);
    return [name, state, assigned_to_user, serial, enforce_state];
  });

test("import of an export restores the devices that were changed since", async () => {
  const { succeed, run } = served;
  const before = await exported(served);
  await succeed(["devices", "reject", "device-1"]);
  await succeed(["devices", "accept", "device-2"]);
  await succeed(["devices", "rename", "device-3", "other"]);
  await succeed(["devices", "assign", "device-1", "--nobody"]);
  const trial = await succeed(["devices", "import", "devices.jsonl", "--dry-run"]);
  expect(trial.stdout).toBe("Would set 2 states, 1 name, 1 assignment, 1 decision in advance.");
  const refused = await run(["devices", "import", "devices.jsonl"]);
  expect([refused.stderr, refused.exitCode]).toEqual([
    "error[not-confirmed] there is no terminal to confirm this on; nothing was changed\n  hint: Run the command again with --yes.",
    2,
  ]);
  const { stdout } = await succeed(["devices", "import", "devices.jsonl", "--yes"]);
  expect(stdout).toBe("Set 2 states, 1 name, 1 assignment, 1 decision in advance.");
  expect(restoredFields(await exported(served))).toEqual(restoredFields(before));
});

test("import into another controller keeps decisions for devices that have not called there", {
  tags: ["long"],
}, async () => {
  const other = await servedController();
  const text = readFileSync(join(served.folder, "devices.jsonl"), "utf8");
  const { stdout, stderr } = await other.succeed(["devices", "import", "-", "--yes"], text);
  expect([stdout, stderr]).toEqual([
    "Set 0 states, 0 names, 0 assignments, 3 decisions in advance.",
    "1 device of the file is not here and has no serial number of its own: nothing to do for it.",
  ]);
  const states = await Promise.all(
    ["SN-1001", "SN-1002", "SN-1003", "SN-9001"].map(async (serial) => {
      const id = await other.enroll({ serial });
      return (await other.json(["devices", "show", id])).device.state;
    }),
  );
  expect(states).toEqual(["accepted", "rejected", "pending", "accepted"]);
});

test("import names every line that does not come from an export", async () => {
  const text = '{"id":1}\n\nnot json\n{"serial":"x","enforce_state":"maybe"}\n';
  const { stderr, exitCode } = await served.run(["devices", "import", "-", "--yes"], text);
  expect(exitCode).toBe(1);
  expect(stderr.split("\n").filter((line) => line.includes("error["))).toEqual(
    [1, 3, 4].map(
      (line) =>
        `standard input:${line}:1 error[devices-file] the line is neither a device nor a decision from relcat devices export`,
    ),
  );
  expect(stderr).toContain("hint: Each line is one JSON object, as relcat devices export writes it.");
});
