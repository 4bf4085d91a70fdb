import { Argument, type CommandUnknownOpts, Option } from "@commander-js/extra-typings";
import { asVersion, collected } from "../terminal/arguments.ts";
import { noBase, type Run, row } from "../terminal/rows.ts";
import { asBuild, asDuration, asSampleSize } from "./verify-options.ts";

const keysFolder = "folder with the private keys that are at hand";

/** Commands that sign a site and say who may. */
export function addPublishing(program: CommandUnknownOpts, run: Run): void {
  program.commandsGroup("Publish:");
  addUpload(program, run);
  addTrust(program, run);
  row(
    program,
    "sign",
    "Sign a built site: TUF metadata, checksums, provenance.",
    "relcat build --released && relcat sign",
  )
    .option("--out <folder>", "the built site; default: dist of the project")
    .option("--live <place>", "address or folder where the site is live: its versions are gone on from")
    .option("--site <name>", "the same, of a site that catalog.yaml names")
    .option(...noBase)
    .option("--now <time>", "count ends from then, instead of by the clock")
    .action((options) => run(async (host) => (await import("./sign.ts")).signBuild(options, host)));
  addVerify(program, run);
  addDownload(program, run);
}

const trustOptions = {
  root: ["--root <file>", "the root metadata you trust: releases/trust/1.root.json, or a copy"],
  first: ["--trust-first-use", "take the site's own root, and compare it from then on"],
  folder: ["--trust-dir <folder>", "where it is remembered what was seen; default: below $XDG_STATE_HOME"],
} as const;

function addVerify(program: CommandUnknownOpts, run: Run): void {
  row(
    program,
    "verify",
    "Check a published site, or downloaded files, against what was signed.",
    "relcat verify https://downloads.example.com --root root.json",
  )
    .argument("<place...>", "a site of catalog.yaml, an address or a folder; with --from: files")
    .option("--from <place>", "look files up there: a site of catalog.yaml, an address or a folder")
    .option(...trustOptions.root)
    .option(...trustOptions.first)
    .option(...trustOptions.folder)
    .option("--artifacts", "read every file for download too")
    .option("--sample <number>", "compare only so many of the files", asSampleSize)
    .option("--seed <text>", "choose the same sample again")
    .option("--expect <build>", "the build that must be there: SHA-256 of its build.json", asBuild)
    .option("--wait <time>", "wait so long until it is: 90s, 10m, 1h", asDuration)
    .option("--grace <time>", "how long caches may lag behind; default: 15m", asDuration)
    .action((places, options) =>
      run(async (host) => (await import("./verify.ts")).verify(places, options, host)),
    );
}

function addDownload(program: CommandUnknownOpts, run: Run): void {
  row(
    program,
    "download",
    "Download one file; it gets its name only when it is what was signed.",
    "relcat download latest deb --from https://downloads.example.com --root root.json --set min_os_version=22.04",
  )
    .argument("<which>", "a version, a month such as 26.08, or latest")
    .argument("<package type>", "such as deb")
    .requiredOption("--from <place>", "a site of catalog.yaml, an address or a folder")
    .option(...trustOptions.root)
    .option(...trustOptions.first)
    .option(...trustOptions.folder)
    .option("--set <field=value>", "tells several files of a type apart; may be repeated", collected)
    .option("--out <file>", "write it there; default: its name in the catalog, here")
    .action((which, packageType, options) =>
      run(async (host) => (await import("./download.ts")).download(which, packageType, options, host)),
    );
}

function addUpload(program: CommandUnknownOpts, run: Run): void {
  row(
    program,
    "upload",
    "Put a build's artifacts where a site has them, each once.",
    "relcat upload --site prod --manifest manifests/kvm.json out/kvm.qcow2.gz",
  )
    .argument("<file...>", "artifacts, under the names people download them by")
    .requiredOption("--site <name>", "a site of catalog.yaml")
    .option("--release <version>", "YY.MM.NNN they belong to; a manifest says it", asVersion)
    .option("--manifest <file>", "that they are in: gets their url, size and sha256")
    .option("--config <file>", "catalog.yaml, by path or https URL")
    .option("--with-private", "also files of private records: whoever knows the address can download them")
    .option("--dry-run", "say what would be uploaded, and change nothing")
    .action((files, options) =>
      run(async (host) => (await import("./upload.ts")).uploadArtifacts(files, options, host)),
    );
}

function addTrust(program: CommandUnknownOpts, run: Run): void {
  const trust = program
    .command("trust")
    .description("Say whose signatures count: keys, and who replaces them.");
  row(trust, "init", "Make the keys, and the first root that names them.", "relcat trust init ~/relcat-keys")
    .argument("<keys>", "a new folder outside of any git repository")
    .addOption(
      new Option("--profile <profile>", "one root key, or two of three")
        .choices(["simple", "full"] as const)
        .default("simple" as const),
    )
    .option("--now <time>", "count ends from then, instead of by the clock")
    .action((keys, options) =>
      run(async (host) => (await import("./trust.ts")).initTrust(keys, options, host)),
    );
  row(trust, "rotate", "Exchange a key for a new one.", "relcat trust rotate online --keys ~/relcat-keys")
    .addArgument(new Argument("<role>", "whose").choices(["root", "targets", "online"] as const))
    .requiredOption("--keys <folder>", keysFolder)
    .option("--replace <id>", "beginning of the root key's id, where there are several")
    .option("--now <time>", "count ends from then, instead of by the clock")
    .action((role, options) => run(async (host) => (await import("./trust.ts")).rotate(role, options, host)));
  row(
    trust,
    "sign",
    "Sign what waits, or renew what ends, offline.",
    "relcat trust sign --keys ~/relcat-keys",
  )
    .requiredOption("--keys <folder>", keysFolder)
    .option("--now <time>", "count ends from then, instead of by the clock")
    .action((options) => run(async (host) => (await import("./trust.ts")).signOffline(options, host)));
  row(trust, "list", "Whose signatures count, and until when.", "relcat trust list").action(() =>
    run(async (host) => (await import("./trust.ts")).listTrust(host)),
  );
}
