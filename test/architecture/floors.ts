/**
 * Folders by floor, lowest first. A file imports from its own folder and from lower floors; folders on one floor do not
 * import each other. Every source folder is named here.
 */
export const floors: readonly Readonly<Record<string, readonly string[]>>[] = [
  { shared: [] },
  {
    inspect: [
      ...["archives", "bytes", "images", "images/disks", "signatures"],
      ...["deb", "helm", "macho", "msi", "pe", "pkg", "rpm"].map((format) => `packages/${format}`),
    ],
  },
  { "pipeline/documents": ["feeds", "outputs", "pages"] },
  { "pipeline/selection": [] },
  { "pipeline/system": ["git", "network"] },
  { "pipeline/project": ["pages"] },
  { "pipeline/records": [] },
  { "pipeline/ledger": [] },
  { "pipeline/channels": [], "pipeline/journal": [] },
  { "pipeline/policy": [], "pipeline/site": ["feeds", "hosting", "pages", "pages/models", "stores"] },
  { "pipeline/build.ts": [] },
  { "pipeline/deliver.ts": [] },
  { "pipeline/intake": ["authoring", "fill", "import", "ingest", "ingest/formats", "post"] },
  { "pipeline/plan": [] },
  { "pipeline/trust": ["feeds", "stores"] },
  { "pipeline/publish": ["stores"], "pipeline/verify": ["stores"] },
  { "pipeline/index.ts": [] },
  { "service/http": [] },
  {
    "service/catalog": [],
    "controller/server": [
      ...["audit", "auth", "devices", "events", "keys", "limits", "pages", "store", "users"],
    ],
  },
  { "cli/output": [] },
  { "cli/terminal": [] },
  { "controller/commands": [] },
  { cli: ["catalog", "completion", "intake", "sites"] },
];

/** Files whose imports from other folders are limited to a list. Both are the beginnings of paths. */
export const doors: readonly { name: string; of: RegExp; may: readonly string[] }[] = [
  {
    // Build jobs run `ingest`, `inspect` and `upload` with little memory. A build without changes and completions end
    // before the library is loaded.
    name: "the command line imports the library, or a light entry",
    of: /^cli\/(?!output\/|bundle\.ts)/,
    may: [
      "pipeline/index.ts",
      "pipeline/intake/ingest/store-manifest.ts",
      "pipeline/journal/unchanged-build.ts",
      "pipeline/policy/inspect-files.ts",
      "pipeline/project/settings.ts",
      "pipeline/project/display.ts",
      "pipeline/publish/upload-artifacts.ts",
      "pipeline/selection/fields.ts",
      "service/catalog/node",
      "controller/commands/",
      "controller/server/node",
      "cli/",
      "shared/",
    ],
  },
  {
    name: "request handlers import pure modules",
    of: /^service\/(http|catalog)\/(?!node|openapi)/,
    may: [
      "pipeline/documents/",
      "pipeline/selection/",
      "pipeline/site/escape.ts",
      "pipeline/site/pages/browsable-json.ts",
      "service/http/",
      "shared/",
    ],
  },
  {
    name: "the catalog's server imports the library",
    of: /^service\/catalog\/node/,
    may: ["pipeline/index.ts", "pipeline/documents/", "service/http/", "shared/"],
  },
  {
    // Both can be read, tested and changed without the catalog.
    name: "the readers of files know no catalog",
    of: /^inspect\//,
    may: ["shared/"],
  },
  {
    name: "the controller knows no catalog",
    of: /^controller\/server\//,
    may: ["service/http/", "shared/"],
  },
  {
    name: "the controller's commands know no catalog",
    of: /^controller\/commands\//,
    may: [
      "cli/output/outputs.ts",
      "cli/terminal/",
      "controller/server/audit/describe.ts",
      "controller/server/devices/serials.ts",
      "controller/server/node",
      "service/http/",
      "shared/",
    ],
  },
  {
    // Commands import only their types: zod stays out of the program.
    name: "schemas of outputs consist of documents",
    of: /^cli\/output\//,
    may: [
      "pipeline/documents/",
      "controller/server/audit/audit-documents.ts",
      "controller/server/devices/device-documents.ts",
      "controller/server/keys/key-documents.ts",
      "controller/server/users/user-documents.ts",
      "shared/",
    ],
  },
];

/** Modules of Node and npm that only some files may import. */
export const reserved: readonly { name: string; modules: RegExp; in: RegExp; only: RegExp }[] = [
  {
    name: "files, processes, threads and the network are used in system, journal, stores and servers",
    modules: /^(node:)?(fs|child_process|worker_threads|net|http|https|http2|dns|tls|sqlite)(\/|$)/,
    in: /^(inspect|pipeline|service|controller\/server|shared)\//,
    only: /^(pipeline\/(system|journal|[a-z]+\/stores)\/|service\/[a-z]+\/node|controller\/server\/(node|store\/)|shared\/(disk|package-folder)\.ts$)/,
  },
  {
    name: "commands and globs are run in system and stores",
    modules: /^(execa|fast-glob)$/,
    in: /^(pipeline|cli|service|controller|inspect|shared)\//,
    only: /^pipeline\/(system|[a-z]+\/stores)\//,
  },
];
