import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { type Run, row } from "../terminal/rows.ts";
import { asBuild } from "./verify-options.ts";

/** Commands that put a site where people find it, and take it back. */
export function addSites(program: CommandUnknownOpts, run: Run): void {
  row(program, "publish", "Put the built site live: whole, or not at all.", "relcat publish prod")
    .argument("<site>", "its name in catalog.yaml")
    .option("--out <folder>", "the built site; default: dist of the project")
    .option("--dry-run", "say what would change, and change nothing")
    .option("--release-hold", "end the hold that a rollback set")
    .option("--refresh", "renew the signatures of what is live, whatever was built here")
    .option("--repair", "read every file at the site, and write again what is not as it was published")
    .option("--artifacts-known", "do not ask whether the artifacts of imported records can be downloaded")
    .option(
      "--allow-unpushed <reason>",
      "publish ledger lines that ledger.base lacks; history keeps the reason",
    )
    .action((site, options) =>
      run(async (host) => (await import("./publish.ts")).publish(site, options, host)),
    );
  row(program, "history", "What was published to a site, and when.", "relcat history prod")
    .argument("<site>", "its name in catalog.yaml")
    .action((site) => run(async (host) => (await import("./history.ts")).history(site, host)));
  row(
    program,
    "rollback",
    "Make an earlier build live again, and hold the site there.",
    'relcat rollback prod --reason "pages are blank"',
  )
    .argument("<site>", "its name in catalog.yaml")
    .requiredOption("--reason <text>", "why: whoever wants to publish meanwhile reads it")
    .option("--to <build>", "beginning of the build's id; default: the one before", asBuild)
    .option("--out <folder>", "go back to a build that was made with relcat build --at")
    .option("--dry-run", "say what would change, and change nothing")
    .option("--yes", "do not ask")
    .action((site, options) =>
      run(async (host) => (await import("./rollback.ts")).rollback(site, options, host)),
    );
}
