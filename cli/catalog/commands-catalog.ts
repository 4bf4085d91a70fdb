import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { asCount, asVersions } from "../terminal/arguments.ts";
import { formatOption, jobs, noBase, type Run, row, siteOption } from "../terminal/rows.ts";

export function addLooking(program: CommandUnknownOpts, run: Run): void {
  program.commandsGroup("Inspect and build:");
  row(program, "check", "Show every problem in the release files.", "relcat check --ledger-base origin/main")
    .addOption(formatOption(["text", "json", "github", "sarif"] as const))
    .option("--ledger-base <revision>", "also check that the ledger only grew since this git revision")
    .option(...noBase)
    .option("--artifacts <folder>", "check the artifacts in this folder against the policies of catalog.yaml")
    .option(...jobs)
    .action((options) =>
      run(async (host) => (await import("./check.ts")).check(options, host), options.format === "json"),
    );
  row(
    program,
    "status",
    "Show open, incomplete and withdrawn releases, and the next command.",
    "relcat status",
  )
    .option("--offline", "do not contact the sites")
    .option(...noBase)
    .action((options) => run(async (host) => (await import("./status.ts")).status(options, host)));
  row(
    program,
    "list",
    "List the records that match, as the catalog would answer.",
    "relcat list package_type=deb version=latest",
  )
    .argument("[filter...]", "field=value, arch=arm64, version=latest, line=YY.MM, ordering=-id")
    .option("--all", "include withdrawn records")
    .action((filters, options) =>
      run(async (host) => (await import("./list.ts")).list(filters, options, host)),
    );
  row(
    program,
    "affected",
    "Show the versions and files that a vulnerability concerns, and what replaces them.",
    "relcat affected CVE-2026-12345 --format markdown",
  )
    .argument(
      "<what>",
      "CVE id, id of a note's security:, SHA-256, version, 26.05.001..26.08.001 or <26.08.002",
    )
    .addOption(formatOption(["text", "json", "markdown"] as const))
    .action((what, options) =>
      run(
        async (host) => (await import("./affected.ts")).affected(what, options, host),
        options.format === "json",
      ),
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
    .action((options) => run(async (host) => (await import("./build.ts")).buildSite(options, host)));
}

export function addPlan(program: CommandUnknownOpts, run: Run): void {
  const what = "Show what publishing would add, change and remove, and the next ledger lines.";
  row(program, "plan", what, "relcat plan --out plan.json && relcat cut --plan plan.json")
    .argument("[version...]", "releases to give ids, YY.MM.NNN; default: all", asVersions)
    .option("--against <live>", "compare with a built folder, the URL of a site, or a file with its list")
    .option("--ledger-base <revision>", "git revision to compare with, or none; default: ledger.base")
    .option("--artifacts <folder>", "inspect the artifacts in this folder, as relcat cut --artifacts does")
    .addOption(formatOption(["text", "json", "markdown"] as const))
    .option("--limit <characters>", "length limit of the Markdown; default: 60000", asCount)
    .option("-o, --out <file>", "save the plan in this file, for relcat cut --plan")
    .option("--detailed-exitcode", "exit with status 10 if there are changes")
    .option("--now <time>", "time of the ledger lines; default: the clock")
    .action((versions, options) =>
      run(
        async (host) => (await import("./plan.ts")).plan(versions, options, host),
        options.format === "json",
      ),
    );
}
