import { type CommandUnknownOpts, Option } from "@commander-js/extra-typings";
import { type Run, row, siteArgument, siteOf, yes } from "../terminal/rows.ts";
import { asBuild } from "./verify-options.ts";

/** Commands for publishing and withdrawing a site. */
export function addSites(program: CommandUnknownOpts, run: Run): void {
  row(program, "publish", "Make the built site live: completely, or not at all.", "relcat publish prod")
    .argument(...siteArgument)
    .option("-o, --out <folder>", "folder of the built site; default: dist of the project")
    .option("-n, --dry-run", "show what would change, and change nothing")
    .option("--release-hold", "publish, and end the hold that a rollback set; --end-hold is the same")
    .addOption(new Option("--end-hold").implies({ releaseHold: true }).hideHelp())
    .option("--refresh", "renew the signatures of the live build; ignores the build in --out")
    .option("--repair", "read every file of the site, and restore files that differ from what was published")
    .option("--artifacts-known", "do not check that artifacts of imported records can be downloaded")
    .option(
      "--allow-unpushed <reason>",
      "publish ledger lines that ledger.base lacks; the history keeps the reason",
    )
    .action((site, options) =>
      run(async (host) => (await import("./publish.ts")).publish(siteOf(site, host), options, host)),
    );
  row(program, "history", "Show what was published to a site, when and by whom.", "relcat history prod")
    .argument(...siteArgument)
    .action((site) => run(async (host) => (await import("./history.ts")).history(siteOf(site, host), host)));
  row(
    program,
    "rollback",
    "Make an earlier build live again, and block publishing until the hold is released.",
    'relcat rollback prod --reason "pages are blank"',
  )
    .argument(...siteArgument)
    .requiredOption("--reason <text>", "reason, shown to everyone who tries to publish during the hold")
    .option("--to <build>", "start of the build's id; default: the previous build", asBuild)
    .option("-o, --out <folder>", "folder with a build that was made with relcat build --at")
    .option("-n, --dry-run", "show what would change, and change nothing")
    .option(...yes)
    .action((site, options) =>
      run(async (host) => (await import("./rollback.ts")).rollback(siteOf(site, host), options, host)),
    );
}
