import { type CommandUnknownOpts, Option } from "@commander-js/extra-typings";
import { asCount, asSeconds } from "../../cli/terminal/arguments.ts";
import { type Run, row, yes } from "../../cli/terminal/rows.ts";
import { atUrl } from "./commands-controller.ts";

// A module is loaded by the first command that needs it.
const listCommands = () => import("./devices-list.ts");
const changeCommands = () => import("./devices-change.ts");
const fileCommands = () => import("./devices-import.ts");

export function addDevices(program: CommandUnknownOpts, run: Run): void {
  const devices = row(
    program,
    "devices",
    "List, accept and reject devices.",
    "relcat devices list --state pending",
  );
  addReading(devices, run);
  addStates(devices, run);
  addChanges(devices, run);
  addFiles(devices, run);
}

const selector = "id, serial number or unique name";

function addReading(devices: CommandUnknownOpts, run: Run): void {
  row(devices, "list", "List devices in order of creation.", "relcat devices list --state pending")
    .addOption(
      new Option("--state <state>", "only devices in this state").choices([
        "pending",
        "accepted",
        "rejected",
      ] as const),
    )
    .option("--serial <serial>", "only devices with this serial number")
    .option("--search <text>", "part of a name, serial number or id")
    .addOption(atUrl())
    .action((options) => run(async (host) => (await listCommands()).listDevices(options, host)));
  row(devices, "show", "Show everything known about a device.", "relcat devices show laptop-7")
    .argument("<device>", selector)
    .addOption(atUrl())
    .action((word, options) => run(async (host) => (await listCommands()).showDevice(word, options, host)));
  row(
    devices,
    "history",
    "Show what happened to a device, and who did it.",
    "relcat devices history laptop-7",
  )
    .argument("<device>", selector)
    .addOption(atUrl())
    .action((word, options) => run(async (host) => (await listCommands()).showHistory(word, options, host)));
  row(devices, "watch", "Print device events as they happen.", "relcat devices watch --json")
    .option("--after <id>", "start after this event; default: now", asCount)
    .option("--count <count>", "stop after this many events", asCount)
    .addOption(atUrl())
    .action((options) =>
      run(async (host) => (await import("./devices-watch.ts")).watchDevices(options, host)),
    );
}

function addStates(devices: CommandUnknownOpts, run: Run): void {
  for (const [name, state, what, line] of [
    ["accept", "accepted", "Accept devices.", "relcat devices accept --serials delivery.csv --preapprove"],
    [
      "reject",
      "rejected",
      "Reject devices, and their serial numbers.",
      'relcat devices reject laptop-7 --reason "Stolen."',
    ],
  ] as const) {
    const command = row(devices, name, what, line)
      .argument("[device...]", selector)
      .option("--serials <file>", "file with serial numbers, one per line, or CSV; - for standard input")
      .option("--column <name>", "name of the CSV column with serial numbers, if it is not recognized")
      .option("--all-pending", "all pending devices")
      .option("--reason <text>", "reason for the history")
      .option("-n, --dry-run", "show what would be done, and change nothing")
      .option(...yes)
      .addOption(atUrl());
    const preapprove = new Option(
      "--preapprove",
      "with --serials: also accept unknown devices when they call, one per serial number",
    );
    const includeRejected = new Option("--include-rejected", "with --serials: also accept rejected devices");
    if (state === "rejected") for (const option of [preapprove, includeRejected]) option.hideHelp();
    command
      .addOption(preapprove)
      .addOption(includeRejected)
      .action((words, options) =>
        run(async (host) => (await import("./devices-state.ts")).setStates(state, words, options, host)),
      );
  }
}

function addChanges(devices: CommandUnknownOpts, run: Run): void {
  row(devices, "rename", "Rename a device.", "relcat devices rename SN-1001 laptop-8")
    .argument("<device>", selector)
    .argument("<name>", "new name")
    .addOption(atUrl())
    .action((word, name, options) =>
      run(async (host) => (await changeCommands()).renameDevice(word, name, options, host)),
    );
  row(
    devices,
    "assign",
    "Assign a device to a user.",
    "relcat devices assign laptop-7 --user ann@example.com",
  )
    .argument("<device>", selector)
    .option("--user <user>", "email address, user name or id")
    .option("--nobody", "remove the assignment")
    .addOption(atUrl())
    .action((word, options) =>
      run(async (host) => (await changeCommands()).assignDevice(word, options, host)),
    );
  row(devices, "delete", "Delete rejected devices.", "relcat devices delete laptop-7")
    .argument("<device...>", selector)
    .option(...yes)
    .addOption(atUrl())
    .action((words, options) =>
      run(async (host) => (await changeCommands()).deleteDevices(words, options, host)),
    );
}

function addFiles(devices: CommandUnknownOpts, run: Run): void {
  row(
    devices,
    "export",
    "Export all devices, one JSON object per line.",
    "relcat devices export --out devices.jsonl",
  )
    .option("-o, --out <file>", "file to write instead of standard output")
    .addOption(atUrl())
    .action((options) => run(async (host) => (await fileCommands()).exportDevices(options, host)));
  row(
    devices,
    "import",
    "Set names, owners and states from an export.",
    "relcat devices import devices.jsonl --dry-run",
  )
    .argument("<file>", "file from relcat devices export, or - for standard input")
    .option("-n, --dry-run", "show what would be done, and change nothing")
    .option(...yes)
    .addOption(atUrl())
    .action((file, options) =>
      run(async (host) => (await fileCommands()).importDevices(file, options, host)),
    );
  const enrolled = "relcat devices enroll --url https://controller.example.com --serial SN-1001 --wait";
  row(devices, "enroll", "Act as a device: a sample agent.", enrolled)
    .option("--name <name>", "device name; default: the name of this machine")
    .option("--serial <serial>", "serial number")
    .option("--type <type>", "device type; for example laptop")
    .option("--os <os>", "operating system; for example linux")
    .option("--key-file <file>", "private key of the device; created if it does not exist")
    .option("--wait", "wait until the device is accepted or rejected")
    .option("--every <seconds>", "interval between requests with --wait", asSeconds, 5)
    .addOption(atUrl())
    .action((options) =>
      run(async (host) => (await import("./devices-enroll.ts")).enrollDevice(options, host)),
    );
}
