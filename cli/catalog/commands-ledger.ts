import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { asCount, asIds, asReplacement, asVersion, asVersions } from "../terminal/arguments.ts";
import { dryRun, noBase, type Run, row, yes } from "../terminal/rows.ts";

export function addCutting(program: CommandUnknownOpts, run: Run): void {
  program.commandsGroup("Make permanent:");
  const cut =
    "Give artifacts permanent ids and dates. Without versions, it asks whether to cut every release.";
  row(program, "cut", cut, "relcat cut 26.09.001 --commit")
    .argument("[version...]", "YY.MM.NNN", asVersions)
    .option("--all", "cut every release that has something to cut, without asking")
    .option(...yes)
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
      run(async (host) => (await import("./cut.ts")).cutReleases(versions, options, host)),
    );
  row(program, "uncut", "Undo the last cut, if it has not been pushed.", "relcat uncut 26.09.001")
    .argument("<version>", "YY.MM.NNN", asVersion)
    .option("--ledger-base <revision>", "git revision whose lines are kept, or none; default: ledger.base")
    .option(...dryRun)
    .action((version, options) =>
      run(async (host) => (await import("./uncut.ts")).uncutRelease(version, options, host)),
    );
}

export function addLedger(program: CommandUnknownOpts, run: Run): void {
  const rebased = "git merge origin/main || relcat ledger rebase && git add releases/ledger.jsonl";
  const ledger = row(program, "ledger", "Reconcile ledgers that diverged.", rebased);
  row(ledger, "rebase", "Put our ledger lines after those of another branch, with new ids.", rebased)
    .option("--onto <revision>", "git revision whose lines are kept; default: ledger.base")
    .option("--now <time>", "time of the ledger lines; default: the clock")
    .option(...dryRun)
    .action((options) => run(async (host) => (await import("./ledger.ts")).rebase(options, host)));
}

export function addWithdrawing(program: CommandUnknownOpts, run: Run): void {
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
      run(async (host) => (await import("./retract.ts")).retractRecords(targets, options, host)),
    );
  row(program, "reinstate", "Undo the withdrawal of records.", "relcat reinstate 2")
    .argument("<id...>", "ids of withdrawn records", asIds)
    .option(...noBase)
    .option("--now <time>", "time of the ledger lines; default: the clock")
    .option(...yes)
    .option(...dryRun)
    .action((ids, options) =>
      run(async (host) => (await import("./reinstate.ts")).reinstateRecords(ids, options, host)),
    );
}
