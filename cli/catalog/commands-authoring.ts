import { type CommandUnknownOpts, Option } from "@commander-js/extra-typings";
import { asDate, asMonth, asNotesOf, asVersion, collected } from "../terminal/arguments.ts";
import { ReportedOption } from "../terminal/program-help.ts";
import { formatOption, type Run, row } from "../terminal/rows.ts";

export function addAuthoring(program: CommandUnknownOpts, run: Run): void {
  program.commandsGroup("Write:");
  row(program, "init", "Start a project: configuration, a first release, a CI example.", "relcat init demo")
    .argument("[folder]", "folder of the new project", ".")
    .addOption(
      new Option("--from <kind>", "example packages, or the configuration for a build tool").choices([
        "sample",
        "goreleaser",
        "nix",
      ] as const),
    )
    .option(
      "--month <month>",
      "YY.MM of the first release, which gets a date in that month; default: the current month (UTC)",
      asMonth,
    )
    .option(
      "--relcat <what>",
      "version or .tgz file of relcat that package.json installs; default: this relcat",
    )
    .option("--no-lock", "do not let npm write package-lock.json")
    .action((folder, options) =>
      run(async (host) => (await import("./init.ts")).init(folder, options, host)),
    );
  row(
    program,
    "new",
    "Open the next release of a month and move the waiting notes into it.",
    "relcat new 26.09",
  )
    .argument("[month]", "YY.MM; default: the current month (UTC)", asMonth)
    .option("--date <date>", "release date; default: today (UTC)", asDate)
    .option("--notes <file...>", "files of releases/next/notes to move, or all, or none")
    .action((month, options) =>
      run(async (host) => (await import("./new.ts")).openRelease(month, options, host)),
    );
}

export function addNotes(program: CommandUnknownOpts, run: Run): void {
  const notes = row(program, "notes", "Show, check or add release notes.", "relcat notes show latest");
  row(notes, "show", "Print the notes of one release.", "relcat notes show latest")
    .argument(
      "<version>",
      "YY.MM.NNN, YY.MM for its newest release, latest, or next for the waiting notes",
      asNotesOf,
    )
    .addOption(formatOption(["markdown", "html", "json", "text"] as const))
    .action((version, { format }) =>
      run(async (host) => (await import("./notes.ts")).showNotes(version, format, host), format === "json"),
    );
  row(notes, "lint", "Show only the problems in notes.", "relcat notes lint").action(() =>
    run(async (host) => (await import("./notes.ts")).lintNotes(host)),
  );
  const added = 'relcat notes add --component server --kind fix --ref NG-17 "The list no longer stalls."';
  row(notes, "add", "Add a note for the next release.", added)
    .argument("<text>", "description of the change, in Markdown")
    .addOption(new ReportedOption("--component <key>", "component that changed; for example server"))
    .addOption(new ReportedOption("--kind <key>", "kind of the change; for example fix or feature"))
    .option("--ref <ref>", "URL or issue number; may be repeated", collected)
    .option("--security", "the change fixes a vulnerability")
    .option("--release <version>", "add the note to this release instead", asVersion)
    .action((text, options) =>
      run(async (host) => (await import("./notes.ts")).addNote({ ...options, text }, host)),
    );
}
