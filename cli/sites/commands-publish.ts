import { Argument, type CommandUnknownOpts, Option } from "@commander-js/extra-typings";
import { isVersion } from "../../shared/version.ts";
import {
  asBuild,
  asDuration,
  asPort,
  asSampleSize,
  asVersion,
  asVersions,
  collected,
} from "../terminal/arguments.ts";
import { siteOf } from "../terminal/only-one.ts";
import { asReason } from "../terminal/option-values.ts";
import { dryRun, jobs, noBase, type Run, row, siteArgument, siteOption, yes } from "../terminal/rows.ts";

const keysFolder = "folder with the private keys";
const certificateOption = [
  "--certificate <file>",
  "for openpgp: certificate of a key that a program holds; no key is created",
] as const;

const allowUnpushed = [
  "--allow-unpushed <reason>",
  "publish ledger lines that ledger.base lacks; the history keeps the reason",
  asReason,
] as const;
const allowUncommitted = [
  "--allow-uncommitted <reason>",
  "publish files that are not committed; the history keeps the reason",
  asReason,
] as const;

export function addChannels(program: CommandUnknownOpts, run: Run): void {
  const halted = 'relcat channel halt stable 26.09.001 --reason "Loses settings on update."';
  const channel = row(program, "channel", "Show and change which channels offer a release.", halted);
  row(channel, "list", "List the channels with their newest release.", "relcat channel list").action(() =>
    run(async (host) => (await import("../catalog/channels.ts")).listChannels(host)),
  );
  row(channel, "show", "List the releases of a channel.", "relcat channel show stable")
    .argument(...channelArgument)
    .action((name) => run(async (host) => (await import("../catalog/channels.ts")).showChannel(name, host)));
  const [version, name] = [["<version>", "YY.MM.NNN"] as const, channelArgument];
  const promoted = "relcat channel promote 26.09.001 stable";
  const changes = [
    ["promote", "Offer a cut release in a channel.", promoted, version, name],
    ["halt", "Take a release out of a channel, with a reason.", halted, name, version],
    ["resume", "Offer a halted release again.", "relcat channel resume stable 26.09.001", name, version],
  ] as const;
  for (const [event, about, line, first, second] of changes) {
    const command = row(channel, event, about, line)
      .argument(first[0], first[1])
      .argument(second[0], second[1]);
    if (event === "halt")
      command
        .requiredOption("--reason <text>", "reason, which is published")
        .option("--publish <site>", "then run relcat release SITE VERSION --push");
    command
      .option(...noBase)
      .option("--now <time>", "time of the ledger lines; default: the clock")
      .option(...yes)
      .option(...dryRun)
      .action((one, other, options) =>
        run(async (host) =>
          (await import("./channel.ts")).changeChannels(event, [one, other], options, host),
        ),
      );
  }
}

const channelArgument = ["<channel>", "name of a channel in catalog.yaml"] as const;

export function addPublishing(program: CommandUnknownOpts, run: Run): void {
  program.commandsGroup("Publish:");
  addRelease(program, run);
  addUpload(program, run);
  addTrust(program, run);
  addSign(program, run);
  addVerify(program, run);
  addDownload(program, run);
  addPublish(program, run);
}

function addSign(program: CommandUnknownOpts, run: Run): void {
  row(
    program,
    "sign",
    "Sign a built site: TUF metadata, checksums, provenance.",
    "relcat build --released --site prod && relcat sign --site prod",
  )
    .option("-o, --out <folder>", "folder of the built site; default: dist of the project")
    .option("--live <place>", "live site (URL or folder) whose metadata versions to continue")
    .addOption(siteOption("live site of catalog.yaml whose metadata versions to continue"))
    .option(...noBase)
    .option("--now <time>", "time from which expiry is counted; default: the clock")
    .action(({ site, ...options }, command) => {
      const isMeant = options.live === undefined || command.getOptionValueSource("site") === "cli";
      return run(async (host) =>
        (await import("./sign.ts")).signBuild({ ...options, ...(isMeant && { site }) }, host),
      );
    });
}

function addRelease(program: CommandUnknownOpts, run: Run): void {
  row(
    program,
    "release",
    "Cut, build, sign, publish and verify; run it again to continue after a refusal.",
    "relcat release prod 26.09.001 --dry-run",
  )
    .argument(...siteArgument)
    .argument("[version...]", "releases to cut, YY.MM.NNN; default: all, after a question", asVersions)
    .option("--all", "cut every release that has something to cut, without asking")
    .option("-y, --yes", "do not ask for confirmation")
    .option("--push", "push the commit of the cut before the site is built")
    .option("--allow-incomplete", "cut even if expected artifacts are missing")
    .option(...allowUnpushed)
    .option(...allowUncommitted)
    .option("--release-hold", "publish, and end the hold that a rollback set")
    .option("-o, --out <folder>", "folder of the built site; default: dist of the project")
    .option("--verify-at <place>", "verify this URL or folder instead of the address of the site")
    .option("--wait <time>", "wait this long for the new build at that address; default: 1m", asDuration)
    .option(...dryRun)
    .action((first, rest, options) =>
      run(async (host) => {
        const [site, versions] = first && isVersion(first) ? [undefined, [first, ...rest]] : [first, rest];
        return (await import("./release.ts")).release(await siteOf(site, host), versions, options, host);
      }),
    );
}

const trustOptions = {
  root: ["--root <file>", "root metadata that you trust: releases/trust/1.root.json, or a copy"],
  first: ["--trust-first-use", "accept the site's own root now, and check it on later visits"],
  folder: ["--trust-dir <folder>", "folder for metadata seen earlier; default: below $XDG_STATE_HOME"],
} as const;

function addVerify(program: CommandUnknownOpts, run: Run): void {
  row(
    program,
    "verify",
    "Compare a published site, or downloaded files, with what was signed.",
    "relcat verify https://downloads.example.com --root root.json",
  )
    .argument("<place...>", "site of catalog.yaml, URL or folder; with --from: files")
    .option("--from <place>", "site of catalog.yaml, URL or folder to look the files up in")
    .option(...trustOptions.root)
    .option(...trustOptions.first)
    .option(...trustOptions.folder)
    .option("--artifacts", "also read and inspect every artifact")
    .option(...jobs)
    .option("--sample <number>", "compare only this many of the files", asSampleSize)
    .option("--seed <text>", "seed of the sample; the same seed chooses the same files")
    .option("--expect <build>", "require this build: SHA-256 of its build.json", asBuild)
    .option("--wait <time>", "wait this long for the build of --expect: 90s, 10m, 1h", asDuration)
    .option("--grace <time>", "how long caches may be out of date; default: 15m", asDuration)
    .action((places, options) =>
      run(async (host) => (await import("./verify.ts")).verify(places, options, host)),
    );
}

function addDownload(program: CommandUnknownOpts, run: Run): void {
  row(
    program,
    "download",
    "Download one file and verify it before it gets its name.",
    "relcat download latest deb --from https://downloads.example.com --root root.json --set min_os_version=22.04",
  )
    .argument("<which>", "version, month such as 26.08, or latest")
    .argument("<package type>", "package type; for example deb")
    .requiredOption("--from <place>", "site of catalog.yaml, URL or folder")
    .option(...trustOptions.root)
    .option(...trustOptions.first)
    .option(...trustOptions.folder)
    .option(
      "--set <field=value>",
      "choose one of several files of the type, such as arch=arm64; may be repeated",
      collected,
    )
    .option("--channel <name>", "channel whose newest release is meant; default: that of the site")
    .option("-o, --out <file>", "file to write; default: its name in the catalog, in the current folder")
    .action((which, packageType, options) =>
      run(async (host) => (await import("./download.ts")).download(which, packageType, options, host)),
    );
}

function addUpload(program: CommandUnknownOpts, run: Run): void {
  row(
    program,
    "upload",
    "Upload the artifacts that a release's manifests name to a site. Never overwrites a file.",
    "relcat upload --site prod --manifest releases/26.09.001/manifests/clients.json out",
  )
    .argument("<file...>", "output of a build: files under their published names, folders")
    .addOption(siteOption("name of a site in catalog.yaml; default: the only site"))
    .option(
      "--release <version>",
      "release of the artifacts, YY.MM.NNN; default: that of the manifest, or the only open release",
      asVersion,
    )
    .option(
      "--manifest <file>",
      "manifest that names the artifacts; url, size and sha256 are added to it; default: those of the release",
    )
    .option("--config <file>", "path or https URL of catalog.yaml")
    .option(
      "--with-private",
      "also upload files of private records; anyone who knows the URL can download them",
    )
    .option(...jobs)
    .option("-n, --dry-run", "show what would be uploaded, and change nothing")
    .action((files, options) =>
      run(async (host) => (await import("./upload.ts")).uploadArtifacts(files, options, host)),
    );
}

function addTrust(program: CommandUnknownOpts, run: Run): void {
  const made = "relcat trust init ~/relcat-keys";
  const trust = row(program, "trust", "Manage signing keys: create, replace, renew and list them.", made);
  row(trust, "init", "Create the keys, and the first root metadata.", made)
    .argument("[keys]", "new folder for the private keys, outside any git repository")
    .addOption(
      new Option("--profile <profile>", "simple: one root key; full: two of three root keys")
        .choices(["simple", "full"] as const)
        .default("simple" as const),
    )
    .option("--openpgp", "create the key of apt and yum repositories, and nothing else")
    .option("--packslip", "create the key of the feed packslip, and nothing else")
    .option(...certificateOption)
    .option("--now <time>", "time from which expiry is counted; default: the clock")
    .action((keys, { openpgp, packslip, certificate, ...options }) =>
      run(async (host) => {
        if (packslip) return (await import("./trust.ts")).initPackslip(keys, host);
        return openpgp
          ? (await import("./trust-openpgp.ts")).initOpenPgp({ keys, certificate }, options, host)
          : (await import("./trust.ts")).initTrust(keys, options, host);
      }),
    );
  row(trust, "rotate", "Replace a key.", "relcat trust rotate online --keys ~/relcat-keys")
    .addArgument(
      new Argument("<role>", "role of the key").choices(["root", "targets", "online", "openpgp"] as const),
    )
    .option("--keys <folder>", keysFolder)
    .option("--replace <id>", "start of the root key's id, if there are several")
    .addOption(
      new Option(
        "--step <step>",
        "for openpgp: announce makes the next key known, sign lets both sign, retire ends the old one",
      ).choices(["announce", "sign", "retire"] as const),
    )
    .option(...certificateOption)
    .option("--now <time>", "time from which expiry is counted; default: the clock")
    .action((role, { step, certificate, keys, ...options }) =>
      run(async (host) =>
        role === "openpgp"
          ? (await import("./trust-openpgp.ts")).rotateOpenPgp(step, { keys, certificate }, options, host)
          : (await import("./trust.ts")).rotate(role, { keys, ...options }, host),
      ),
    );
  row(
    trust,
    "sign",
    "Sign pending metadata or renew expiring metadata, offline.",
    "relcat trust sign --keys ~/relcat-keys",
  )
    .requiredOption("--keys <folder>", keysFolder)
    .option("--now <time>", "time from which expiry is counted; default: the clock")
    .action((options) => run(async (host) => (await import("./trust.ts")).signOffline(options, host)));
  row(trust, "list", "Show trusted keys and when their metadata expires.", "relcat trust list").action(() =>
    run(async (host) => (await import("./trust.ts")).listTrust(host)),
  );
}

function addPublish(program: CommandUnknownOpts, run: Run): void {
  row(program, "publish", "Make the built site live: completely, or not at all.", "relcat publish prod")
    .argument(...siteArgument)
    .option("-o, --out <folder>", "folder of the built site; default: dist of the project")
    .option("-n, --dry-run", "show what would change, and change nothing")
    .option("--release-hold", "publish, and end the hold that a rollback set; --end-hold is the same")
    .addOption(new Option("--end-hold").implies({ releaseHold: true }).hideHelp())
    .option("--refresh", "renew the signatures of the live build; ignores the build in --out")
    .option("--repair", "read every file of the site, and restore files that differ from what was published")
    .option("--artifacts-known", "do not check that artifacts of imported records can be downloaded")
    .option(...allowUnpushed)
    .option(...allowUncommitted)
    .option(
      "--allow-changed-origin",
      "publish package repositories with another Origin, Label or address of the certificate",
    )
    .action((site, options) =>
      run(async (host) => (await import("./publish.ts")).publish(await siteOf(site, host), options, host)),
    );
  row(program, "history", "Show what was published to a site, when and by whom.", "relcat history prod")
    .argument(...siteArgument)
    .action((site) =>
      run(async (host) => (await import("./history.ts")).history(await siteOf(site, host), host)),
    );
  row(
    program,
    "rollback",
    "Make an earlier build live again, and block publishing until the hold is released.",
    'relcat rollback prod --reason "pages are blank"',
  )
    .argument(...siteArgument)
    .requiredOption("--reason <text>", "reason, shown to everyone who tries to publish during the hold")
    .option("--to <build>", "start of the build's id; default: the previous build", asBuild)
    .option("-o, --out <folder>", "folder with a build from relcat build --at")
    .option("-n, --dry-run", "show what would change, and change nothing")
    .option(...yes)
    .action((site, options) =>
      run(async (host) => (await import("./rollback.ts")).rollback(await siteOf(site, host), options, host)),
    );
}

export function addServing(program: CommandUnknownOpts, run: Run): void {
  program.commandsGroup("Serve:");
  row(program, "serve", "Serve a built site with filters, orderings and redirects.", "relcat serve --watch")
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
    .action((options) => run(async (host) => (await import("./serve.ts")).serve(options, host)));
}
