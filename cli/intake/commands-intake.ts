import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { asId, asVersion, collected } from "../terminal/arguments.ts";
import { dryRun, jobs, noBase, type Run, row } from "../terminal/rows.ts";

export function addIngest(program: CommandUnknownOpts, run: Run): void {
  const what = "Write a manifest from build output: JSON of Nix, Hydra or GoReleaser, folders, files.";
  row(program, "ingest", what, "relcat ingest --release 26.09.001 --job clients out/")
    .argument("[input...]", "build output of one job, in any order")
    .option(
      "--release <version>",
      "release of the artifacts, YY.MM.NNN; default: the only open release",
      asVersion,
    )
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
    .option("--add-to-cut", "allow files that a cut release does not have yet")
    .option(
      "--fill <version...>",
      "add package metadata to the manifests of releases, cut ones too; with --artifacts or --from",
    )
    .option("--from <site>", "with --fill: site that serves the artifacts: its name, URL or folder")
    .option("--suggest", "print the rules for catalog.yaml that recognize the files, and nothing else")
    .option(...jobs)
    .option(...dryRun)
    .action((inputs, { fill, ...options }) =>
      run(async (host) => {
        if (fill !== undefined)
          return (await import("./fill.ts")).fillReleases(inputs, { ...options, fill }, host);
        return (await import("./ingest.ts")).ingestOutputs(inputs, options, host);
      }),
    );
}

export function addImport(program: CommandUnknownOpts, run: Run): void {
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
      run(async (host) => (await import("./import.ts")).importRecords(source, options, host)),
    );
}

export function addInspect(program: CommandUnknownOpts, run: Run): void {
  const what =
    "Show the format of packages and images, whether their signatures are valid, and who signed them.";
  const inspect = row(program, "inspect", what, "relcat inspect out/* --keys release-keys")
    .argument(
      "<file...>",
      "packages, images, archives, signatures; keep a file and its signature in one folder",
    )
    .option(
      "--keys <folder>",
      "folder with certificates of allowed signers, OpenPGP and X.509; default: no signer is allowed",
    )
    .option(
      "--self-check <path>",
      "path of the file inside that contains the self-check hash; * matches any name",
    )
    .option(...jobs)
    .action((files, options) =>
      run(async (host) => (await import("./inspect.ts")).inspect(files, options, host)),
    );
  inspect.addHelpText("after", "\nThe exit status is 1 if a verdict is not ok.");
}
