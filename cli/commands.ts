import { Argument, Command, type CommandUnknownOpts, Help, Option } from "@commander-js/extra-typings";
import { addController } from "./controller/commands-controller.ts";
import { addDevices } from "./devices/commands-devices.ts";
import { addInspect } from "./intake/commands-inspect.ts";
import { addPublishing } from "./sites/commands-publish.ts";
import { addSites } from "./sites/commands-sites.ts";
import {
  asCount,
  asDate,
  asId,
  asIds,
  asMonth,
  asNotesOf,
  asPort,
  asReplacement,
  asVersion,
  asVersions,
  collected,
} from "./terminal/arguments.ts";
import type { Host, OwnPackage } from "./terminal/host.ts";
import { dryRun, example, noBase, type Run, row, siteOption, yes } from "./terminal/rows.ts";

/**
 * The table of commands. Each command is imported only when it runs, so help and version load nothing else.
 */
export function createProgram(
  own: OwnPackage,
  { data, messages }: Pick<Host, "data" | "messages">,
  run: Run,
) {
  const program = new Command("relcat")
    .description(
      "Check release files, give artifacts permanent ids, build, sign and publish the catalog site.",
    )
    .version(own.version, "-V, --version", "print the version of relcat; only valid on its own")
    .option("-C <folder>", "look for the project from this folder upwards")
    .option("--json", "print one JSON document on standard output")
    .option("--no-color", "print without colours")
    .option("-q, --quiet", "print no progress, no Next lines and no log of requests")
    .addHelpText("after", example("relcat init demo && relcat -C demo build"))
    .configureHelp({ showGlobalOptions: true, optionDescription: described })
    .configureOutput({
      writeOut: (text) => data.write(text),
      writeErr: (text) => messages.write(text),
      outputError: () => {}, // main.ts prints the error like any other problem
    })
    .exitOverride();
  for (const add of [
    addAuthoring,
    addIngest,
    addImport,
    addNotes,
    addLooking,
    addInspect,
    addPlan,
    addCutting,
    addLedger,
    addWithdrawing,
    addPublishing,
    addSites,
    addServing,
    addController,
    addDevices,
    addTools,
  ])
    add(program, run);
  return program;
}

function addAuthoring(program: CommandUnknownOpts, run: Run): void {
  program.commandsGroup("Write:");
  row(program, "init", "Start a project: configuration, a first release, a CI example.", "relcat init demo")
    .argument("[folder]", "folder of the new project", ".")
    .action((folder) => run(async (host) => (await import("./catalog/init.ts")).init(folder, host)));
  row(
    program,
    "new",
    "Open the next release of a month and move the waiting notes into it.",
    "relcat new 26.09",
  )
    .argument("[month]", "YY.MM; default: the current month", asMonth)
    .option("--date <date>", "release date; default: today", asDate)
    .option("--notes <file...>", "files of releases/next/notes to move, or all, or none")
    .action((month, options) =>
      run(async (host) => (await import("./catalog/new.ts")).openRelease(month, options, host)),
    );
}

function addIngest(program: CommandUnknownOpts, run: Run): void {
  const what = "Write a manifest from build output: JSON of Nix, Hydra or GoReleaser, folders, files.";
  row(program, "ingest", what, "relcat ingest --release 26.09.001 --job kvm --rev ci result/ path-info.json")
    .argument("[input...]", "build output of one job, in any order")
    .option("--release <version>", "release of the artifacts, YY.MM.NNN", asVersion)
    .option("--job <name>", "name of the manifest; default: build")
    .option(
      "--rev <sha>",
      "source revision of images: a commit id, ci (from the CI environment) or git (HEAD)",
    )
    .option("--set <key=value>", "set a manifest field of every artifact; may be repeated", collected)
    .option(
      "--sums <file>",
      "list of checksums; files that exist here are compared with it; may be repeated",
      collected,
    )
    .option(
      "--artifacts <folder>",
      "folder with the files that a manifest names; compare its claims with them",
    )
    .option("--config <file>", "path or https URL of catalog.yaml")
    .option("-o, --out <file>", "file for the manifest, - for standard output")
    .option(...dryRun)
    .action((inputs, options) =>
      run(async (host) => (await import("./intake/ingest.ts")).ingestOutputs(inputs, options, host)),
    );
}

function addImport(program: CommandUnknownOpts, run: Run): void {
  const what = "Import the JSON list of a live catalog as releases and ledger lines; keep ids and dates.";
  row(
    program,
    "import",
    what,
    "relcat import https://catalog.example.com/api/v1/package/ --resolve-downloads",
  )
    .argument("<source>", "file, - for standard input, or http(s) URL")
    .option("--download-url <template>", "URL of the files, with the placeholders of artifact_url")
    .option("--resolve-downloads", "ask the live catalog for the URL of each file")
    .option(
      "--resolve-base <url>",
      "API of the live catalog if the list comes from a file: https://HOST/api/v1",
    )
    .option(
      "--wire <key=name>",
      "name that the list uses for vendor or cryptolib_post inside data; may be repeated",
      collected,
    )
    .option(
      "--next-id <id>",
      "first id for new records; lower ids stay reserved for records that the list does not show",
      asId,
    )
    .option("--accept-violations", "import records that break a rule unchanged")
    .option(...noBase)
    .option("--now <time>", "time of the --next-id reservation; default: the clock")
    .option(...dryRun)
    .action((source, options) =>
      run(async (host) => (await import("./intake/import.ts")).importRecords(source, options, host)),
    );
}

function addNotes(program: CommandUnknownOpts, run: Run): void {
  const notes = row(program, "notes", "Show, check or add release notes.", "relcat notes show 26.08.002");
  row(notes, "show", "Print the notes of one release.", "relcat notes show 26.08.002 --format markdown")
    .argument(
      "<version>",
      "YY.MM.NNN, YY.MM for its newest release, latest, or next for the waiting notes",
      asNotesOf,
    )
    .addOption(formatOption("text", ["markdown", "html", "json", "text"] as const))
    .action((version, { format }) =>
      run(
        async (host) => (await import("./catalog/notes.ts")).showNotes(version, format, host),
        format === "json",
      ),
    );
  row(notes, "lint", "Show only the problems in notes.", "relcat notes lint").action(() =>
    run(async (host) => (await import("./catalog/notes.ts")).lintNotes(host)),
  );
  const added = 'relcat notes add --component server --kind fix --ref NG-17 "The list no longer stalls."';
  row(notes, "add", "Add a note for the next release.", added)
    .argument("<text>", "description of the change, in Markdown")
    .option("--component <key>", "required; for example server")
    .option("--kind <key>", "required; for example fix or feature")
    .option("--ref <ref>", "URL or issue number; may be repeated", collected)
    .option("--security", "the change fixes a vulnerability")
    .option("--release <version>", "add the note to this release instead", asVersion)
    .action((text, options) =>
      run(async (host) => (await import("./catalog/notes.ts")).addNote({ ...options, text }, host)),
    );
}

/** Adds to the help which options are required. */
const described = (option: Option): string =>
  `${new Help().optionDescription(option)}${option.mandatory ? " (required)" : ""}`;

const formatOption = <const T extends readonly string[]>(preset: T[number], choices: T) =>
  new Option("--format <format>", "how to print").choices(choices).default(preset);

function addLooking(program: CommandUnknownOpts, run: Run): void {
  program.commandsGroup("Look and build:");
  row(program, "check", "Show every problem in the release files.", "relcat check --ledger-base origin/main")
    .addOption(formatOption("text", ["text", "json", "github", "sarif"] as const))
    .option("--ledger-base <revision>", "also check that the ledger only grew since this git revision")
    .option(...noBase)
    .option("--artifacts <folder>", "check the artifacts in this folder against the policies of catalog.yaml")
    .action((options) =>
      run(
        async (host) => (await import("./catalog/check.ts")).check(options, host),
        options.format === "json",
      ),
    );
  row(
    program,
    "status",
    "Show open, incomplete and withdrawn releases, and the next command.",
    "relcat status",
  )
    .option("--offline", "do not contact the sites")
    .option(...noBase)
    .action((options) => run(async (host) => (await import("./catalog/status.ts")).status(options, host)));
  row(
    program,
    "list",
    "List the records that match, as the catalog would answer.",
    "relcat list package_type=deb version=latest",
  )
    .argument("[filter...]", "field=value, version=latest, line=YY.MM, ordering=-id")
    .option("--all", "include withdrawn records")
    .action((filters, options) =>
      run(async (host) => (await import("./catalog/list.ts")).list(filters, options, host)),
    );
  const built = "relcat build --released --out public";
  row(program, "build", "Build the catalog site. Releases that are not cut get provisional ids.", built)
    .option("-o, --out <folder>", "folder for the site; default: dist of the project")
    .option("--released", "leave out releases that are not cut")
    .option(
      "--with <version...>",
      "with --released: include these releases as cut would make them",
      asVersions,
    )
    .option(...noBase)
    .addOption(siteOption("build for this site of catalog.yaml, with its address"))
    .option("--at <commit>", "with --released: build this commit, without records withdrawn since")
    .option("--check-out", "compare the bytes of every file in the folder, even if it looks unchanged")
    .option("--now <time>", "time of new files; default: the clock")
    .action((options) => run(async (host) => (await import("./catalog/build.ts")).buildSite(options, host)));
}

function addPlan(program: CommandUnknownOpts, run: Run): void {
  const what = "Show what publishing would add, change and remove, and the next ledger lines.";
  row(program, "plan", what, "relcat plan --out plan.json && relcat cut --plan plan.json")
    .argument("[version...]", "releases to give ids, YY.MM.NNN; default: all", asVersions)
    .option("--against <live>", "compare with a built folder, the URL of a site, or a file with its list")
    .option("--ledger-base <revision>", "git revision to compare with, or none; default: ledger.base")
    .option("--artifacts <folder>", "inspect the artifacts in this folder, as relcat cut --artifacts does")
    .addOption(formatOption("text", ["text", "json", "markdown"] as const))
    .option("--limit <characters>", "length limit of the Markdown; default: 60000", asCount)
    .option("-o, --out <file>", "save the plan in this file, for relcat cut --plan")
    .option("--detailed-exitcode", "exit with status 10 if there are changes")
    .option("--now <time>", "time of the ledger lines; default: the clock")
    .action((versions, options) =>
      run(
        async (host) => (await import("./catalog/plan.ts")).plan(versions, options, host),
        options.format === "json",
      ),
    );
}

function addCutting(program: CommandUnknownOpts, run: Run): void {
  program.commandsGroup("Make permanent:");
  const cut =
    "Give artifacts permanent ids and dates. Without versions, it asks whether to cut every release.";
  row(program, "cut", cut, "relcat cut 26.09.001 --commit")
    .argument("[version...]", "YY.MM.NNN", asVersions)
    .option("--all", "cut every release that has something to cut, without asking")
    .option("--allow-incomplete", "cut even if expected artifacts are missing")
    .option("--allow-revise <count>", "allow this many changed records; default: 50", asCount)
    .option("--plan <file>", "write exactly the ledger lines of this plan, or fail")
    .option(
      "--artifacts <folder>",
      "inspect the artifacts in this folder again instead of trusting their manifests",
    )
    .option("--commit", "commit the ledger and these releases to git, and nothing else")
    .option(...noBase)
    .option("--body <file>", "write the plan as Markdown to this file")
    .option("--now <time>", "time of the ledger lines; default: the clock")
    .option(...dryRun)
    .action((versions, options) =>
      run(async (host) => (await import("./catalog/cut.ts")).cutReleases(versions, options, host)),
    );
  row(program, "uncut", "Undo the last cut, if it has not been pushed.", "relcat uncut 26.09.001")
    .argument("<version>", "YY.MM.NNN", asVersion)
    .option("--ledger-base <revision>", "git revision whose lines are kept, or none; default: ledger.base")
    .option(...dryRun)
    .action((version, options) =>
      run(async (host) => (await import("./catalog/uncut.ts")).uncutRelease(version, options, host)),
    );
}

function addLedger(program: CommandUnknownOpts, run: Run): void {
  const ledger = row(program, "ledger", "Reconcile ledgers that diverged.", "relcat ledger rebase");
  const rebased = "git merge origin/main; relcat ledger rebase && git add releases/ledger.jsonl";
  row(ledger, "rebase", "Put our ledger lines after those of another branch, with new ids.", rebased)
    .option("--onto <revision>", "git revision whose lines are kept; default: ledger.base")
    .option("--now <time>", "time of the ledger lines; default: the clock")
    .option(...dryRun)
    .action((options) => run(async (host) => (await import("./catalog/ledger.ts")).rebase(options, host)));
}

function addWithdrawing(program: CommandUnknownOpts, run: Run): void {
  const retracted = 'relcat retract 26.08.001 --type msi --reason "Fails to start on Windows 11."';
  row(program, "retract", "Withdraw records publicly, with a reason.", retracted)
    .argument("<id-or-version...>", "ids of records, or one version")
    .requiredOption("--reason <text>", "reason, which is published")
    .option("--type <package-type>", "only this package type of the version")
    .option("--name <glob>", "only names that match, of the version")
    .option("--replaced-by <id>", "the record to install instead, or none", asReplacement)
    .option(...noBase)
    .option("--now <time>", "time of the ledger lines; default: the clock")
    .option(...yes)
    .option(...dryRun)
    .action((targets, options) =>
      run(async (host) => (await import("./catalog/retract.ts")).retractRecords(targets, options, host)),
    );
  row(program, "reinstate", "Undo the withdrawal of records.", "relcat reinstate 4657")
    .argument("<id...>", "ids of withdrawn records", asIds)
    .option(...noBase)
    .option("--now <time>", "time of the ledger lines; default: the clock")
    .option(...yes)
    .option(...dryRun)
    .action((ids, options) =>
      run(async (host) => (await import("./catalog/reinstate.ts")).reinstateRecords(ids, options, host)),
    );
}

function addServing(program: CommandUnknownOpts, run: Run): void {
  program.commandsGroup("Serve:");
  row(
    program,
    "serve",
    "Serve a built site with filters, orderings and redirects.",
    "relcat serve --watch --port 8080",
  )
    .option("--dir <folder>", "folder of the built site; default: dist of the project")
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--port <port>", "port to listen on; 0 for any free port", asPort, 8080)
    .option("--trusted-proxies <address...>", "addresses or networks whose X-Forwarded-For is trusted")
    .option("--reuse-port", "let several processes listen on one port")
    .option("--build", "build the site first")
    .option("--watch", "build the site first, and again after each change")
    .option("--releases <folder>", "accept manifests by POST from clients that send $RELCAT_PUBLISH_TOKEN")
    .option("--database <place>", "controller database: its API keys with packages:write can post too")
    .option(
      "--after-post <program...>",
      "run this program after posts; $RELCAT_MANIFESTS has one path per line",
    )
    .action((options) => run(async (host) => (await import("./sites/serve.ts")).serve(options, host)));
}

function addTools(program: CommandUnknownOpts, run: Run): void {
  program.commandsGroup("Other:").helpCommand("help [command]", "Show help for a command.");
  row(program, "schema", "Print the JSON Schema of a document.", "relcat schema manifest")
    .argument("[name]", "name of the schema; for example manifest")
    .option("--list", "print the available names")
    .action((name, options) =>
      run(async (host) => (await import("./catalog/schema.ts")).schema(name, options, host)),
    );
  program
    .command("__complete <values> [word...]", { hidden: true })
    .action((values, words) =>
      run(async (host) => (await import("./completion/complete.ts")).complete(values, words, host)),
    );
  const loaded = "source <(relcat completion bash)";
  row(
    program,
    "completion",
    "Print a shell script that completes commands, options, versions and package types.",
    loaded,
  )
    .addArgument(new Argument("<shell>").choices(["bash", "zsh", "fish"] as const))
    .action((shell) =>
      run(async (host) => (await import("./completion/completion.ts")).completion(shell, program, host)),
    );
}
