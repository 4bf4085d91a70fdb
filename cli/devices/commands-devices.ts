import { type CommandUnknownOpts, Option } from "@commander-js/extra-typings";
import { atUrl } from "../controller/commands-controller.ts";
import { asCount, asSeconds } from "../terminal/arguments.ts";
import { type Run, row } from "../terminal/rows.ts";

/** The rows of `relcat devices`. */
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

const selector = "id, serial number or name that only one device has";

function addReading(devices: CommandUnknownOpts, run: Run): void {
  row(devices, "list", "Show devices, in order of creation.", "relcat devices list --state pending")
    .addOption(
      new Option("--state <state>", "only these").choices(["pending", "accepted", "rejected"] as const),
    )
    .option("--serial <serial>", "only with this serial number")
    .option("--search <text>", "part of a name, a serial number or an id")
    .addOption(atUrl())
    .action((options) => run(async (host) => (await import("./devices-list.ts")).listDevices(options, host)));
  row(devices, "show", "Show all that is known of a device.", "relcat devices show laptop-7")
    .argument("<device>", selector)
    .addOption(atUrl())
    .action((word, options) =>
      run(async (host) => (await import("./devices-list.ts")).showDevice(word, options, host)),
    );
  row(
    devices,
    "history",
    "Show what happened to a device, and who did it.",
    "relcat devices history laptop-7",
  )
    .argument("<device>", selector)
    .addOption(atUrl())
    .action((word, options) =>
      run(async (host) => (await import("./devices-list.ts")).showHistory(word, options, host)),
    );
  row(devices, "watch", "Print what happens to devices, as it happens.", "relcat devices watch --json")
    .option("--after <id>", "begin after this event; default: from now on", asCount)
    .option("--count <count>", "end after so many", asCount)
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
      .option("--serials <file>", "those of a list: one a line, or CSV; - for standard input")
      .option("--column <name>", "of the CSV, where its name does not say serial number")
      .option("--all-pending", "all that wait for a decision")
      .option("--reason <text>", "for the history")
      .option("--dry-run", "only say what would be done")
      .option("--yes", "do not ask, however many there are")
      .addOption(atUrl());
    const preapprove = new Option(
      "--preapprove",
      "with --serials: accept the unknown ones when they call, once each",
    );
    const includeRejected = new Option("--include-rejected", "with --serials: accept rejected ones too");
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
  row(devices, "rename", "Give a device another name.", "relcat devices rename SN-1001 laptop-8")
    .argument("<device>", selector)
    .argument("<name>", "the new one")
    .addOption(atUrl())
    .action((word, name, options) =>
      run(async (host) => (await import("./devices-change.ts")).renameDevice(word, name, options, host)),
    );
  row(devices, "assign", "Say whose a device is.", "relcat devices assign laptop-7 --user ann@example.com")
    .argument("<device>", selector)
    .option("--user <user>", "email address, user name or id")
    .option("--nobody", "nobody's any more")
    .addOption(atUrl())
    .action((word, options) =>
      run(async (host) => (await import("./devices-change.ts")).assignDevice(word, options, host)),
    );
  row(devices, "delete", "Delete rejected devices.", "relcat devices delete laptop-7")
    .argument("<device...>", selector)
    .option("--yes", "do not ask")
    .addOption(atUrl())
    .action((words, options) =>
      run(async (host) => (await import("./devices-change.ts")).deleteDevices(words, options, host)),
    );
}

function addFiles(devices: CommandUnknownOpts, run: Run): void {
  row(
    devices,
    "export",
    "Write all devices, a JSON object a line.",
    "relcat devices export --out devices.jsonl",
  )
    .option("--out <file>", "there instead of standard output")
    .addOption(atUrl())
    .action((options) =>
      run(async (host) => (await import("./devices-export.ts")).exportDevices(options, host)),
    );
  row(
    devices,
    "import",
    "Set names, owners and states of an export.",
    "relcat devices import devices.jsonl --dry-run",
  )
    .argument("<file>", "of relcat devices export, or - for standard input")
    .option("--dry-run", "only say what would be done")
    .option("--yes", "do not ask")
    .addOption(atUrl())
    .action((file, options) =>
      run(async (host) => (await import("./devices-import.ts")).importDevices(file, options, host)),
    );
  const enrolled = "relcat devices enroll --url https://controller.example.com --serial SN-1001 --wait";
  row(devices, "enroll", "Be a device: a sample of what an agent does.", enrolled)
    .option("--name <name>", "default: this machine's")
    .option("--serial <serial>", "serial number")
    .option("--type <type>", "such as laptop")
    .option("--os <os>", "such as linux")
    .option("--key-file <file>", "the device's private key; made if it is not there")
    .option("--wait", "until somebody decides")
    .option("--every <seconds>", "between two questions, with --wait", asSeconds, 5)
    .addOption(atUrl())
    .action((options) =>
      run(async (host) => (await import("./devices-enroll.ts")).enrollDevice(options, host)),
    );
}
