import { Argument, Command, type CommandUnknownOpts } from "@commander-js/extra-typings";
import { addController } from "../controller/commands/commands-controller.ts";
import { addDevices } from "../controller/commands/commands-devices.ts";
import { addAuthoring, addNotes } from "./catalog/commands-authoring.ts";
import { addLooking, addPlan } from "./catalog/commands-catalog.ts";
import { addCutting, addLedger, addWithdrawing } from "./catalog/commands-ledger.ts";
import { addImport, addIngest, addInspect } from "./intake/commands-intake.ts";
import { addChannels, addPublishing, addServing } from "./sites/commands-publish.ts";
import { addExitStatuses } from "./terminal/exit-codes.ts";
import type { Host, OwnPackage } from "./terminal/host.ts";
import { addProgramHelp, helpOfRequired } from "./terminal/program-help.ts";
import { example, type Run, row } from "./terminal/rows.ts";
import { topicNames } from "./terminal/topic-names.ts";

/** The table of commands. Each command is imported only when it runs, so help and version load nothing else. */
export function createProgram(
  own: OwnPackage,
  { data, messages, words }: Pick<Host, "data" | "messages" | "words">,
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
    .option("-v, --verbose", "also print the commands that are run, requests and causes of errors")
    .configureHelp({ showGlobalOptions: true, ...helpOfRequired })
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
    addChannels,
    addWithdrawing,
    addPublishing,
    addServing,
    addController,
    addDevices,
    addTools,
  ])
    add(program, run);
  addExitStatuses(program);
  addProgramHelp(program, words.includes("--all"));
  program.addHelpText("after", example("relcat init demo && relcat -C demo build"));
  return program;
}

function addTools(program: CommandUnknownOpts, run: Run): void {
  program
    .commandsGroup("Other:")
    .helpCommand(
      "help [command]",
      `Show help for a command, or for ${topicNames.join(", ")}; --all: for all commands.`,
    );
  addTemplates(program, run);
  row(program, "schema", "Print the JSON Schema of a document.", "relcat schema manifest")
    .argument("[name]", "name of the schema; for example manifest")
    .option("--list", "print the available names")
    .action((name, options) =>
      run(async (host) => (await import("./catalog/schema.ts")).schema(name, options, host)),
    );
  program
    .command("__words <state> [word...]", { hidden: true })
    .action((state, words) =>
      run(async (host) =>
        (await import("./completion/complete-line.ts")).completeLine(state, words, program, host),
      ),
    );
  const loaded = "source <(relcat completion bash)";
  row(
    program,
    "completion",
    "Print a shell script that completes commands, options, versions and package types.",
    loaded,
  )
    .addArgument(new Argument("<shell>").choices(["bash", "zsh", "fish", "powershell"] as const))
    .action((shell) =>
      run(async (host) => (await import("./completion/completion.ts")).completion(shell, host)),
    );
}

function addTemplates(program: CommandUnknownOpts, run: Run): void {
  const listed = "relcat templates list";
  const templates = row(
    program,
    "templates",
    "List the templates of pages, or replace them with your own.",
    listed,
  );
  row(templates, "list", "List the templates, and which of them the project replaces.", listed).action(() =>
    run(async (host) => (await import("./catalog/templates.ts")).listTemplates(host)),
  );
  row(templates, "show", "Print relcat's own template.", "relcat templates show home.hbs")
    .argument("<name>", "name of the template, with its ending")
    .action((name) => run(async (host) => (await import("./catalog/templates.ts")).showTemplate(name, host)));
  row(
    templates,
    "eject",
    "Copy a template into releases/templates/, to change it.",
    "relcat templates eject home.hbs",
  )
    .argument("<name>", "name of the template, with its ending")
    .action((name) => run(async (host) => (await import("./catalog/templates.ts")).ejectOne(name, host)));
}
