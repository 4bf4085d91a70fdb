const check = "relcat check shows every problem of the release files, relcat status the next command.";
const withdraw = "relcat retract withdraws records in public; relcat rollback makes an earlier build live.";
const publish = "relcat cut makes a release permanent, relcat publish puts a built site live.";
const compare = "relcat plan shows what publishing would change.";
const look = "relcat list shows records, relcat notes show a release's notes, relcat status every release.";
const undo =
  "relcat uncut takes back a cut, relcat reinstate a retraction, relcat rollback a published build.";
const write = "relcat new opens a release, relcat ingest adds artifacts, relcat notes add a note.";
const fetch = "relcat download downloads one file of a published site.";
const config = "releases/catalog.yaml is the configuration; relcat schema catalog describes it.";

/** Commands of other tools, with the corresponding command of relcat. */
const pointers: Readonly<Record<string, string>> = {
  add: write,
  changelog: look,
  config,
  configure: config,
  create: write,
  delete: withdraw,
  deploy: publish,
  dev: "relcat serve --watch serves the site and builds it after each change.",
  diff: compare,
  doctor: check,
  fetch,
  get: fetch,
  info: look,
  install: fetch,
  keys: "relcat trust creates and rotates signing keys, relcat controller keys manages API keys.",
  lint: check,
  log: "relcat history shows what was published to a site.",
  merge: "relcat ledger rebase reconciles two ledgers.",
  open: write,
  preview: compare,
  pull: fetch,
  push: publish,
  rebase: "relcat ledger rebase reconciles two ledgers.",
  release: publish,
  remove: withdraw,
  revert: undo,
  revoke: withdraw,
  show: look,
  start: "relcat serve serves a built site.",
  tag: publish,
  undo,
  unpublish: withdraw,
  unretract: "relcat reinstate undoes retractions.",
  update: "Update relcat with npm, like any other package. relcat new opens a release.",
  upgrade: "Update relcat with npm, like any other package. relcat new opens a release.",
  users: "relcat controller users adds, lists and changes users.",
  validate: check,
  version: "relcat --version prints it.",
  withdraw,
  yank: withdraw,
};

/** Hint for an unknown command that users of other tools expect; undefined: none. */
export const pointerFor = (name: string): string | undefined =>
  Object.hasOwn(pointers, name) ? pointers[name] : undefined;
