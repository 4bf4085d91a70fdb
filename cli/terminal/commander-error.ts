import type { CommanderError } from "@commander-js/extra-typings";
import { distance } from "fastest-levenshtein";
import { UsageError } from "./usage.ts";

/** Replacements for messages of commander; each may contain a hint. */
const wordings: readonly [RegExp, (...groups: string[]) => string][] = [
  [
    /^command-argument value '(?<value>.*)' is invalid for argument '(?<what>.*)'\. (?<hint>.*)$/s,
    (value, what) => `${JSON.stringify(value)} is not a valid ${what}`,
  ],
  [
    /^option '(?:-\w, )?(?<what>.*)' argument '(?<value>.*)' is invalid\. (?<hint>.*)$/s,
    (what, value) => `${JSON.stringify(value)} is not valid for ${what}`,
  ],
  [/^required option '(?:-\w, )?(.*)' not specified$/, (what) => `the option ${what} is missing`],
  [/^missing required argument '(.*)'$/, (what) => `the argument ${what} is missing`],
  [/^option '(?:-\w, )?(.*)' argument missing$/, (what) => `the option ${what} needs a value`],
];

/** @param command recognized so far, such as "relcat notes add" */
export function usageErrorOf({ message }: CommanderError, command: string): UsageError {
  const [sentence = "", suggestion] = message.replace(/^error: /, "").split(/\n(?=\(Did you mean)/);
  const howToUse = `${command} --help shows how it is used.`;
  const fallback = suggestion?.replace(/^\((.*)\)$/, "$1") ?? howToUse;
  for (const [pattern, wording] of wordings) {
    const match = pattern.exec(sentence);
    if (match) return new UsageError(wording(...match.slice(1)), match.groups?.hint ?? fallback);
  }
  const [, unknown] = /^unknown command '(.*)'$/.exec(sentence) ?? [];
  if (unknown === undefined) return new UsageError(sentence, fallback);
  const [, near] = /^Did you mean (\S+)\?$/.exec(fallback) ?? [];
  const hint = near === undefined || isClose(unknown, near) ? fallback : howToUse;
  return new UsageError(sentence, (command === "relcat" && pointers.get(unknown)) || hint);
}

/** A short word allows few wrong letters, but they may be in another order. */
function isClose(word: string, name: string): boolean {
  const letters = (text: string) => [...text].sort().join("");
  return distance(word, name) <= (word.length <= 4 ? 1 : 2) || letters(word) === letters(name);
}

/** Commands of other tools, with the corresponding commands of relcat. */
const hints: Readonly<Record<string, string>> = {
  "accept approve reject": "relcat devices accept accepts devices, relcat devices reject rejects them.",
  "add bump create edit note open patch":
    "relcat new opens a release, relcat ingest adds artifacts, relcat notes add a note.",
  "apply deploy finalize promote push ship sync tag":
    "relcat release cuts, builds, signs and publishes; relcat publish puts a built site live.",
  "archive fetch get install pull": "relcat download downloads one file of a published site.",
  audit: "relcat controller audit shows the audit log, relcat history what was published to a site.",
  "auth signin signout whoami": "relcat login signs in to a controller, relcat logout signs out.",
  backup: "relcat controller backup copies the database of a controller.",
  "bundle compile generate make pack": "relcat build generates the site.",
  "changelog describe find info ls query search show view":
    "relcat list shows records, relcat notes show a release's notes, relcat status every release.",
  clean: "Remove dist/ and .relcat-cache/ to build from nothing; nothing else depends on them.",
  "compare diff preview": "relcat plan shows what publishing would change.",
  "config configuration configure":
    "releases/catalog.yaml is the configuration; relcat help configuration describes it.",
  cp: "relcat upload uploads artifacts to a site.",
  "delete deprecate destroy drop hide recall remove revoke rm unpublish withdraw yank":
    "relcat retract withdraws records in public; relcat rollback makes an earlier build live.",
  "dev run server start watch web":
    "relcat serve serves a built site; --watch also builds it after each change.",
  "discard reset restore revert undo":
    "relcat uncut takes back a cut, relcat reinstate a retraction, relcat rollback a published build.",
  "docs explain man usage": "relcat --help lists the commands, and relcat COMMAND --help explains one.",
  "doctor fix health lint test validate":
    "relcat check shows every problem of the release files, relcat status the next command.",
  "dry-run":
    "relcat plan shows what publishing would change; relcat release SITE --dry-run tries every step.",
  env: "relcat help environment lists the environment variables.",
  environment: "relcat help environment lists them.",
  "exit-codes": "relcat help exit-codes explains them.",
  export: "relcat devices export exports devices; relcat list --json prints records.",
  format: "relcat check shows every problem; YAML and JSON are not reformatted.",
  hash: "relcat inspect shows files; relcat verify FILE --from SITE compares them with a catalog.",
  hold: "relcat rollback puts a site on hold; relcat release SITE --release-hold ends the hold.",
  json: "relcat help json explains the documents of --json.",
  "key keys rotate":
    "relcat trust creates and rotates signing keys, relcat controller keys manages API keys.",
  log: "relcat history shows what was published to a site.",
  "merge rebase": "relcat ledger rebase reconciles two ledgers.",
  migrate: "relcat controller migrate upgrades the database; relcat import reads an existing catalog.",
  "prepare setup":
    "relcat init starts a project, relcat new opens a release, relcat status shows what comes next.",
  rename: "The name and file of an artifact are in its manifest; after a cut the file never changes.",
  report: "relcat status shows releases, relcat check problems, relcat plan changes.",
  save: "relcat cut --commit makes a release permanent and commits it.",
  schemas: "relcat schema --list prints the names of the schemas.",
  "self-update update upgrade": "Update relcat with npm, like any other package. relcat new opens a release.",
  stats: "relcat status shows counts of releases and records.",
  stop: "relcat serve ends with Ctrl-C or SIGTERM.",
  unhold: "relcat release SITE --release-hold ends a hold.",
  unlock: "A lock ends with its process; relcat release SITE --release-hold ends a hold.",
  unretract: "relcat reinstate undoes retractions.",
  users: "relcat controller users adds, lists and changes users.",
  version: "relcat --version prints it.",
};

/** Hints for unknown commands that users of other tools expect. */
export const pointers: ReadonlyMap<string, string> = new Map(
  Object.entries(hints).flatMap(([words, hint]) => words.split(" ").map((word) => [word, hint] as const)),
);
