import { readdirSync } from "node:fs";
import type { CommandUnknownOpts, Option } from "@commander-js/extra-typings";
import { exitStatus } from "../../shared/errors.ts";
import { boundPattern, isVersion, lineOf } from "../../shared/version.ts";
import { schemaNames } from "../catalog/published-schemas.ts";
import { type Host, print } from "../terminal/host.ts";
import { count } from "../terminal/words.ts";
import { type Candidate, idCandidates, type LedgerState, ledgerStates, liveIds } from "./complete-ids.ts";

/** Loads the pipeline only for catalog.yaml, and suggests nothing after an error. */
async function complete(values: Values, words: readonly string[], host: Host): Promise<Candidate[]> {
  const find: Candidates = candidates[values];
  try {
    return await find(host, words);
  } catch {
    return []; // Not a project, or an unreadable file.
  }
}

type Candidates = (host: Host, words: readonly string[]) => Candidate[] | Promise<Candidate[]>;

const fromConfig =
  (values: string): Candidates =>
  async ({ releases }) =>
    (await import("./complete-config.ts")).configured(values, releases);

const candidates = {
  versions: ({ releases }) => versions(releases, readdirSync(releases)),
  "open-versions": ({ releases }, words) =>
    versions(releases, readdirSync(releases)).filter(
      ({ value, about: what }) => what === notCut && !words.slice(0, -1).includes(value),
    ),
  "cut-versions": ({ releases }) => versions(releases, []),
  retractable: ({ releases }, words) => [
    ...versions(releases, []),
    ...idCandidates(liveIds(releases), words),
  ],
  "live-ids": ({ releases }, words) => idCandidates(liveIds(releases), words),
  "retracted-ids": ({ releases }, words) =>
    idCandidates(
      ledgerStates(releases).filter(({ isRetracted }) => isRetracted),
      words,
    ),
  "package-types": ({ releases }, words) => packageTypes(releases, words),
  downloads: ({ releases }, words) =>
    words.some((word) => word === "latest" || boundPattern.test(word))
      ? packageTypes(releases, words)
      : which(releases),
  schemas,
  sites: fromConfig("sites"),
  channels: fromConfig("channels"),
  components: fromConfig("components"),
  kinds: fromConfig("kinds"),
  filters: fromConfig("filters"),
} satisfies Record<string, Candidates>;

type Values = keyof typeof candidates;

const notCut = "not cut";

/** Versions of the ledger and of the folders, newest first, with their number of records. */
function versions(releases: string, folders: readonly string[]): Candidate[] {
  const known = Map.groupBy(ledgerStates(releases), ({ version }) => version);
  return [...new Set([...known.keys(), ...folders])]
    .filter(isVersion)
    .sort()
    .reverse()
    .map((value) => ({ value, about: about(known.get(value), notCut) }));
}

/** Values for the first argument of `download`: latest, then months and versions that are cut. */
function which(releases: string): Candidate[] {
  const cut = versions(releases, []);
  const months = [...new Set(cut.map(({ value }) => lineOf(value)))];
  return [
    { value: "latest", about: "the newest release that has the type" },
    ...months.map((value) => ({ value, about: "the newest release of the month" })),
    ...cut,
  ];
}

/** Package types in the ledger, or only those of a version that the command line names. */
function packageTypes(releases: string, words: readonly string[]): Candidate[] {
  const records = ledgerStates(releases);
  const named = records.filter(({ version }) => words.includes(version));
  const types = Map.groupBy(named.length > 0 ? named : records, ({ packageType }) => packageType);
  return [...types.keys()].sort().map((value) => ({ value, about: about(types.get(value), "") }));
}

function schemas({ own }: Host): Candidate[] {
  const { documents, outputs } = schemaNames(own);
  return [...documents, ...outputs].map((value) => ({ value, about: "JSON Schema" }));
}

const about = (records: readonly LedgerState[] | undefined, none: string) =>
  records === undefined ? none : `${count(records.length, "record")} in the ledger`;

/**
 * `relcat __words`, which the scripts of all shells call: prints every suggestion for the end of a command line, as
 * a word, a tab and a description.
 * @param state "begun": the last of the words is to be completed; "next": a new one
 * @returns 9 if only listed words are possible, so that a shell offers no files
 */
export async function completeLine(
  state: string,
  words: readonly string[],
  program: CommandUnknownOpts,
  host: Host,
): Promise<number> {
  const current = state === "begun" ? (words.at(-1) ?? "") : "";
  const before = state === "begun" ? words.slice(0, -1) : words;
  const offer = (value: string, about: string) => {
    if (value.startsWith(current)) print(host, `${value}\t${about}`);
  };
  const command = commandOf(before, program);
  const options = optionsOf(command);
  const option = options.find((each) => takesValue(each) && flagsOf(each).includes(before.at(-1) ?? ""));
  if (option?.short === "-C") return exitStatus.done;
  if (!option && current.startsWith("-")) {
    for (const each of options) for (const flag of flagsOf(each)) offer(flag, each.description);
    return exitStatus.declined;
  }
  const { registeredArguments: args } = command;
  const choices = option ? (option.argChoices ?? []) : args.flatMap(({ argChoices = [] }) => argChoices);
  const values = option
    ? (ofOption[option.long ?? ""] ?? ofPlaceholder[placeholder(option.flags)])
    : (ofCommand[command.name()] ?? ofArgument[args[0]?.name() ?? ""]);
  const subcommands = option ? [] : command.createHelp().visibleCommands(command);
  for (const each of subcommands) offer(each.name(), each.description());
  for (const choice of choices) offer(choice, "");
  if (values) {
    const found = await complete(values, [...before, current], host);
    for (const { value, about } of found) offer(value, about);
  }
  return values || choices.length + subcommands.length > 0 ? exitStatus.declined : exitStatus.done;
}

/** As typed, the long form first. */
const flagsOf = ({ long, short }: Option): string[] => [long, short].flatMap((flag) => flag ?? []);

const takesValue = ({ required, optional }: Option): boolean => required || optional;

function optionsOf(command: CommandUnknownOpts): Option[] {
  const help = command.createHelp();
  const globals = help.visibleGlobalOptions(command).filter(({ long }) => long !== "--version");
  return [...help.visibleOptions(command), ...globals];
}

/** The command that the words name so far, without options and their values. */
function commandOf(words: readonly string[], program: CommandUnknownOpts): CommandUnknownOpts {
  let command = program;
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? "";
    if (optionsOf(command).some((option) => takesValue(option) && flagsOf(option).includes(word))) i++;
    command = command.commands.find((each) => each.name() === word) ?? command;
  }
  return command;
}

const ofArgument: Readonly<Record<string, Values>> = {
  version: "versions",
  "id-or-version": "retractable",
  id: "retracted-ids",
  site: "sites",
  channel: "channels",
  which: "downloads",
  filter: "filters",
};

const ofCommand: Readonly<Record<string, Values>> = {
  cut: "open-versions",
  uncut: "cut-versions",
  schema: "schemas",
};

/** Values from the project that an option suggests; for other options, the placeholder decides. */
const ofOption: Readonly<Record<string, Values>> = {
  "--site": "sites",
  "--channel": "channels",
  "--publish": "sites",
  "--component": "components",
  "--kind": "kinds",
  "--replaced-by": "live-ids",
};
const ofPlaceholder: Readonly<Record<string, Values>> = {
  version: "versions",
  "package-type": "package-types",
};

const placeholder = (flags: string) => /[<[]([\w-]+)/.exec(flags)?.[1] ?? "";
