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
import { example, noBase, type Run, row } from "./terminal/rows.ts";

/** The table of commands. Each row imports its verb only when it runs: help and version load nothing but this. */
export function createProgram(
  own: OwnPackage,
  { data, messages }: Pick<Host, "data" | "messages">,
  run: Run,
) {
  const program = new Command("relcat")
    .description("Checks release files, gives artifacts permanent ids, and builds the catalog site.")
    .version(own.version, "-V, --version", "print the version of relcat; takes no other words")
    .option("-C <folder>", "run in this folder")
    .option("--json", "print one JSON document on standard output")
    .option("--no-color", "print without colours")
    .addHelpText("after", example("relcat init demo && relcat -C demo build"))
    .configureHelp({ showGlobalOptions: true, optionDescription: described })
    .configureOutput({
      writeOut: (text) => data.write(text),
      writeErr: (text) => messages.write(text),
      outputError: () => {}, // main.ts shows it as every other problem
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
    .argument("[folder]", "where", ".")
    .action((folder) => run(async (host) => (await import("./catalog/init.ts")).init(folder, host)));
  row(
    program,
    "new",
    "Open the next release of a month and move the waiting notes into it.",
    "relcat new 26.09",
  )
    .argument("<month>", "YY.MM", asMonth)
    .option("--date <date>", "release date, default today", asDate)
    .option("--notes <file...>", "only these of releases/next/notes; or all, or none")
    .action((month, options) =>
      run(async (host) => (await import("./catalog/new.ts")).openRelease(month, options, host)),
    );
}

function addIngest(program: CommandUnknownOpts, run: Run): void {
  const what = "Write a manifest from what a build left: JSON of Nix, Hydra, GoReleaser, folders, files.";
  row(program, "ingest", what, "relcat ingest --release 26.09.001 --job kvm --rev ci result/ path-info.json")
    .argument("[input...]", "build outputs of one job, in any order")
    .option("--release <version>", "YY.MM.NNN they belong to", asVersion)
    .option("--job <name>", "names the manifest, default build")
    .option("--rev <sha>", "source revision of images: a commit id, ci or git")
    .option("--set <key=value>", "a manifest field of every artifact; may be repeated", collected)
    .option(
      "--sums <file>",
      "checksums of files that are not here, compared with those that are; may be repeated",
      collected,
    )
    .option("--artifacts <folder>", "has the files that a manifest names: compare what it states of them")
    .option("--config <file>", "catalog.yaml, by path or https URL")
    .option("--out <file>", "write the manifest there, - for standard output")
    .action((inputs, options) =>
      run(async (host) => (await import("./intake/ingest.ts")).ingestOutputs(inputs, options, host)),
    );
}

function addImport(program: CommandUnknownOpts, run: Run): void {
  const what = "Turn the JSON list of a live catalog into releases and ledger lines, ids and dates kept.";
  row(
    program,
    "import",
    what,
    "relcat import https://catalog.example.com/api/v1/package/ --resolve-downloads",
  )
    .argument("<source>", "a file, - for standard input, or an http(s) address")
    .option("--download-url <template>", "where files lie, with the placeholders of artifact_url")
    .option("--resolve-downloads", "ask the live catalog where each file lies")
    .option("--resolve-base <url>", "its API, when the list comes from a file: https://HOST/api/v1")
    .option("--wire <key=name>", "name of vendor or cryptolib_post inside data; may be repeated", collected)
    .option("--next-id <id>", "keep lower ids for records that the list does not show", asId)
    .option("--accept-violations", "import records that break a rule as they are")
    .option(...noBase)
    .option("--now <time>", "date the reservation of --next-id so, instead of by the clock")
    .action((source, options) =>
      run(async (host) => (await import("./intake/import.ts")).importRecords(source, options, host)),
    );
}

function addNotes(program: CommandUnknownOpts, run: Run): void {
  const notes = row(program, "notes", "Show, check or add release notes.", "relcat notes show 26.08.002");
  row(notes, "show", "Print one release's notes.", "relcat notes show 26.08.002 --format markdown")
    .argument(
      "<version>",
      "YY.MM.NNN, the newest of YY.MM, latest, or next for the notes that wait",
      asNotesOf,
    )
    .addOption(formatOption("text", ["markdown", "html", "json", "text"] as const))
    .action((version, { format }) =>
      run(
        async (host) => (await import("./catalog/notes.ts")).showNotes(version, format, host),
        format === "json",
      ),
    );
  row(notes, "lint", "Show only the problems of notes.", "relcat notes lint").action(() =>
    run(async (host) => (await import("./catalog/notes.ts")).lintNotes(host)),
  );
  const added = 'relcat notes add --component server --kind fix --ref NG-17 "The list no longer stalls."';
  row(notes, "add", "Write a note fragment for the next release.", added)
    .argument("<text>", "what changed, in Markdown")
    .option("--component <key>", "required, such as server")
    .option("--kind <key>", "required, such as fix or feature")
    .option("--ref <ref>", "URL or issue name; may be repeated", collected)
    .option("--security", "the change fixes a vulnerability")
    .option("--release <version>", "write it into this release", asVersion)
    .action((text, options) =>
      run(async (host) => (await import("./catalog/notes.ts")).addNote({ ...options, text }, host)),
    );
}

/** Help says which options a command cannot do without. */
const described = (option: Option): string =>
  `${new Help().optionDescription(option)}${option.mandatory ? " (required)" : ""}`;

const formatOption = <const T extends readonly string[]>(preset: T[number], choices: T) =>
  new Option("--format <format>", "how to print").choices(choices).default(preset);

function addLooking(program: CommandUnknownOpts, run: Run): void {
  program.commandsGroup("Look and build:");
  row(program, "check", "Show every problem of the release files.", "relcat check --ledger-base origin/main")
    .addOption(formatOption("text", ["text", "json", "github", "sarif"] as const))
    .option("--ledger-base <revision>", "prove that the ledger only grew since this git revision")
    .option(...noBase)
    .option("--artifacts <folder>", "hold the artifacts in it against the policies of catalog.yaml")
    .action((options) =>
      run(
        async (host) => (await import("./catalog/check.ts")).check(options, host),
        options.format === "json",
      ),
    );
  row(program, "status", "Show what is open, incomplete or withdrawn, and the next command.", "relcat status")
    .option("--offline", "do not ask the sites what is live there")
    .option(...noBase)
    .action((options) => run(async (host) => (await import("./catalog/status.ts")).status(options, host)));
  row(
    program,
    "list",
    "Show the records that match, as the catalog would answer.",
    "relcat list package_type=deb version=latest",
  )
    .argument("[filter...]", "field=value, version=latest, line=YY.MM, ordering=-id")
    .option("--all", "withdrawn records too")
    .action((filters, options) =>
      run(async (host) => (await import("./catalog/list.ts")).list(filters, options, host)),
    );
  const built = "relcat build --released --out public";
  row(program, "build", "Build the catalog site; what is not cut gets provisional ids.", built)
    .option("--out <folder>", "where; default: dist of the project")
    .option("--released", "leave out what is not cut")
    .option("--with <version...>", "with --released: these as cut would make them", asVersions)
    .option(...noBase)
    .option("--site <name>", "for a site of catalog.yaml that has an address of its own")
    .option("--at <commit>", "with --released: what that commit had, less what was withdrawn since")
    .option("--check-out", "compare every file in the folder, instead of trusting what looks untouched")
    .option("--now <time>", "date new files so, instead of by the clock")
    .action((options) => run(async (host) => (await import("./catalog/build.ts")).buildSite(options, host)));
}

function addPlan(program: CommandUnknownOpts, run: Run): void {
  const what = "Show what publishing would add, change and take away, and the next ledger lines.";
  row(program, "plan", what, "relcat plan --out plan.json && relcat cut --plan plan.json")
    .argument("[version...]", "YY.MM.NNN that get ids; default: every release", asVersions)
    .option("--against <live>", "compare with a built folder, a site's address or a file with its list")
    .option("--ledger-base <revision>", "git revision to compare with, or none; default: ledger.base")
    .option("--artifacts <folder>", "look at artifacts again, as relcat cut --artifacts does")
    .addOption(formatOption("text", ["text", "json", "markdown"] as const))
    .option("--limit <characters>", "of the Markdown, default 60000", asCount)
    .option("--out <file>", "write the plan there, for relcat cut --plan")
    .option("--detailed-exitcode", "exit with 10 when there are changes")
    .option("--now <time>", "date the ledger lines so, instead of by the clock")
    .action((versions, options) =>
      run(
        async (host) => (await import("./catalog/plan.ts")).plan(versions, options, host),
        options.format === "json",
      ),
    );
}

function addCutting(program: CommandUnknownOpts, run: Run): void {
  program.commandsGroup("Make permanent:");
  const cut = "Give artifacts their permanent ids and dates; without versions, it asks for every release.";
  row(program, "cut", cut, "relcat cut 26.09.001 --commit")
    .argument("[version...]", "YY.MM.NNN", asVersions)
    .option("--all", "every release that has something to cut, without asking")
    .option("--allow-incomplete", "even if expected artifacts are missing")
    .option("--allow-revise <count>", "so many changed records at once, default 50", asCount)
    .option("--plan <file>", "write exactly the lines of this plan, or none")
    .option("--artifacts <folder>", "look at artifacts again, instead of believing who ingested them")
    .option("--commit", "commit the ledger and these releases through git, and nothing else")
    .option(...noBase)
    .option("--body <file>", "write the plan as Markdown")
    .option("--now <time>", "date the ledger lines so, instead of by the clock")
    .action((versions, options) =>
      run(async (host) => (await import("./catalog/cut.ts")).cutReleases(versions, options, host)),
    );
  row(program, "uncut", "Take the last cut back while nobody has it.", "relcat uncut 26.09.001")
    .argument("<version>", "YY.MM.NNN", asVersion)
    .option("--ledger-base <revision>", "git revision whose lines stay, or none; default: ledger.base")
    .action((version, options) =>
      run(async (host) => (await import("./catalog/uncut.ts")).uncutRelease(version, options, host)),
    );
}

function addLedger(program: CommandUnknownOpts, run: Run): void {
  const ledger = row(program, "ledger", "Join ledgers that grew apart.", "relcat ledger rebase");
  const rebased = "git merge origin/main; relcat ledger rebase && git add releases/ledger.jsonl";
  row(ledger, "rebase", "Put our ledger lines after those of another branch, with new ids.", rebased)
    .option("--onto <revision>", "git revision whose lines stay as they are; default: ledger.base")
    .option("--now <time>", "date the ledger lines so, instead of by the clock")
    .action((options) => run(async (host) => (await import("./catalog/ledger.ts")).rebase(options, host)));
}

function addWithdrawing(program: CommandUnknownOpts, run: Run): void {
  const retracted = 'relcat retract 26.08.001 --type msi --reason "Fails to start on Windows 11."';
  row(program, "retract", "Withdraw records in public, with a reason.", retracted)
    .argument("<id-or-version...>", "ids of records, or one version")
    .requiredOption("--reason <text>", "why, as everybody will read it")
    .option("--type <package-type>", "of the version, only this package type")
    .option("--name <glob>", "of the version, only names that match")
    .option("--replaced-by <id>", "the record to install instead, or none", asReplacement)
    .option(...noBase)
    .option("--now <time>", "date the ledger lines so, instead of by the clock")
    .option("--yes", "do not ask")
    .action((targets, options) =>
      run(async (host) => (await import("./catalog/retract.ts")).retractRecords(targets, options, host)),
    );
  row(program, "reinstate", "Undo retractions.", "relcat reinstate 4657")
    .argument("<id...>", "ids of retracted records", asIds)
    .option(...noBase)
    .option("--now <time>", "date the ledger lines so, instead of by the clock")
    .option("--yes", "do not ask")
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
    .option("--dir <folder>", "the built site; default: dist of the project")
    .option("--host <address>", "where to listen", "127.0.0.1")
    .option("--port <port>", "0 for any free one", asPort, 8080)
    .option("--trusted-proxies <address...>", "addresses or networks whose X-Forwarded-For is believed")
    .option("--reuse-port", "let several processes listen on one port")
    .option("--quiet", "no line for each request")
    .option("--build", "build releases/ first")
    .option("--watch", "build first, and again after each change")
    .option("--releases <folder>", "take manifests in by POST, for whoever has $RELCAT_PUBLISH_TOKEN")
    .option("--database <place>", "a controller's: its API keys with packages:write may post too")
    .option("--after-post <program...>", "run this after posts, with $RELCAT_MANIFESTS, a path a line")
    .action((options) => run(async (host) => (await import("./sites/serve.ts")).serve(options, host)));
}

function addTools(program: CommandUnknownOpts, run: Run): void {
  program.commandsGroup("Other:").helpCommand("help [command]", "Show how a command is used.");
  row(program, "schema", "Print the JSON Schema of a document.", "relcat schema manifest")
    .argument("[name]", "such as manifest")
    .option("--list", "print the names there are")
    .action((name, options) =>
      run(async (host) => (await import("./catalog/schema.ts")).schema(name, options, host)),
    );
  program
    .command("__complete <values> [word...]", { hidden: true })
    .action((values, words) =>
      run(async (host) => (await import("./completion/complete.ts")).complete(values, words, host)),
    );
  const loaded = "source <(relcat completion bash)";
  row(program, "completion", "Print a script that completes commands, versions and more in a shell.", loaded)
    .addArgument(new Argument("<shell>").choices(["bash", "zsh", "fish"] as const))
    .action((shell) =>
      run(async (host) => (await import("./completion/completion.ts")).completion(shell, program, host)),
    );
}
