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

/**
 * Words commander's error like other problems.
 * @param command recognized so far, such as "relcat notes add"
 */
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
  return new UsageError(sentence, (command === "relcat" && pointerFor(unknown)) || hint);
}

/** A short word allows few wrong letters, but they may be in another order. */
function isClose(word: string, name: string): boolean {
  const letters = (text: string) => [...text].sort().join("");
  return distance(word, name) <= (word.length <= 4 ? 1 : 2) || letters(word) === letters(name);
}

const check = "relcat check shows every problem of the release files, relcat status the next command.";
const withdraw = "relcat retract withdraws records in public; relcat rollback makes an earlier build live.";
const publish = "relcat release cuts, builds, signs and publishes; relcat publish puts a built site live.";
const compare = "relcat plan shows what publishing would change.";
const look = "relcat list shows records, relcat notes show a release's notes, relcat status every release.";
const undo =
  "relcat uncut takes back a cut, relcat reinstate a retraction, relcat rollback a published build.";
const write = "relcat new opens a release, relcat ingest adds artifacts, relcat notes add a note.";
const fetch = "relcat download downloads one file of a published site.";
const config = "releases/catalog.yaml is the configuration; relcat help configuration describes it.";
const begin =
  "relcat init starts a project, relcat new opens a release, relcat status shows what comes next.";
const update = "Update relcat with npm, like any other package. relcat new opens a release.";
const rebase = "relcat ledger rebase reconciles two ledgers.";
const approve = "relcat devices accept accepts devices, relcat devices reject rejects them.";
const signIn = "relcat login signs in to a controller, relcat logout signs out.";
const keys = "relcat trust creates and rotates signing keys, relcat controller keys manages API keys.";
const serve = "relcat serve serves a built site; --watch also builds it after each change.";
const docs = "relcat --help lists the commands, and relcat COMMAND --help explains one.";

/** Commands of other tools, with the corresponding command of relcat. */
export const pointers: Readonly<Record<string, string>> = {
  accept: approve,
  add: write,
  apply: publish,
  approve,
  archive: fetch,
  audit: "relcat controller audit shows the audit log, relcat history what was published to a site.",
  auth: signIn,
  backup: "relcat controller backup copies the database of a controller.",
  bump: write,
  bundle: "relcat build generates the site.",
  changelog: look,
  clean: "Remove dist/ and .relcat-cache/ to build from nothing; nothing else depends on them.",
  compare,
  compile: "relcat build generates the site.",
  config,
  configuration: config,
  configure: config,
  cp: "relcat upload uploads artifacts to a site.",
  create: write,
  delete: withdraw,
  deploy: publish,
  deprecate: withdraw,
  describe: look,
  destroy: withdraw,
  dev: serve,
  diff: compare,
  discard: undo,
  docs,
  doctor: check,
  drop: withdraw,
  "dry-run":
    "relcat plan shows what publishing would change; relcat release SITE --dry-run tries every step.",
  edit: write,
  env: "relcat help environment lists the environment variables.",
  environment: "relcat help environment lists them.",
  "exit-codes": "relcat help exit-codes explains them.",
  explain: docs,
  export: "relcat devices export exports devices; relcat list --json prints records.",
  fetch,
  finalize: publish,
  find: look,
  fix: check,
  format: "relcat check shows every problem; YAML and JSON are not reformatted.",
  generate: "relcat build generates the site.",
  get: fetch,
  hash: "relcat inspect shows files; relcat verify FILE --from SITE compares them with a catalog.",
  health: check,
  hide: withdraw,
  hold: "relcat rollback puts a site on hold; relcat release SITE --release-hold ends the hold.",
  info: look,
  install: fetch,
  json: "relcat help json explains the documents of --json.",
  key: keys,
  keys,
  lint: check,
  log: "relcat history shows what was published to a site.",
  ls: look,
  make: "relcat build generates the site.",
  man: docs,
  merge: rebase,
  migrate: "relcat controller migrate upgrades the database; relcat import reads an existing catalog.",
  note: write,
  open: write,
  pack: "relcat build generates the site.",
  patch: write,
  prepare: begin,
  preview: compare,
  promote: publish,
  pull: fetch,
  push: publish,
  query: look,
  rebase,
  recall: withdraw,
  reject: approve,
  remove: withdraw,
  rename: "The name and file of an artifact are in its manifest; after a cut the file never changes.",
  report: "relcat status shows releases, relcat check problems, relcat plan changes.",
  reset: undo,
  restore: undo,
  revert: undo,
  revoke: withdraw,
  rm: withdraw,
  rotate: keys,
  run: serve,
  save: "relcat cut --commit makes a release permanent and commits it.",
  schemas: "relcat schema --list prints the names of the schemas.",
  search: look,
  "self-update": update,
  server: serve,
  setup: begin,
  ship: publish,
  show: look,
  signin: signIn,
  signout: signIn,
  start: serve,
  stats: "relcat status shows counts of releases and records.",
  stop: "relcat serve ends with Ctrl-C or SIGTERM.",
  sync: publish,
  tag: publish,
  test: check,
  undo,
  unhold: "relcat release SITE --release-hold ends a hold.",
  unlock: "A lock ends with its process; relcat release SITE --release-hold ends a hold.",
  unpublish: withdraw,
  unretract: "relcat reinstate undoes retractions.",
  update,
  upgrade: update,
  usage: docs,
  users: "relcat controller users adds, lists and changes users.",
  validate: check,
  version: "relcat --version prints it.",
  view: look,
  watch: serve,
  web: serve,
  whoami: signIn,
  withdraw,
  yank: withdraw,
};

/** Hint for an unknown command that users of other tools expect; undefined: none. */
const pointerFor = (name: string): string | undefined =>
  Object.hasOwn(pointers, name) ? pointers[name] : undefined;
