/**
 * Folders by floor, lowest first. A file imports from its own folder and from lower floors; folders on one floor do not
 * import each other. Every source folder is named here.
 */
export const floors: readonly Readonly<Record<string, readonly string[]>>[] = [
  { "pipeline/errors.ts": [] },
  { "pipeline/documents": ["feeds", "pages"] },
  { "pipeline/selection": [] },
  { "pipeline/system": ["git", "network"] },
  { "pipeline/project": ["pages"] },
  { "pipeline/records": [] },
  { "pipeline/ledger": [] },
  { "pipeline/journal": [] },
  {
    "pipeline/inspect": [
      ...["archives", "bytes", "images", "images/disks", "policy", "signatures"],
      ...["deb", "helm", "macho", "msi", "pe", "pkg", "rpm"].map((format) => `packages/${format}`),
    ],
    "pipeline/site": ["feeds", "hosting", "pages", "pages/models", "stores"],
  },
  { "pipeline/build.ts": [] },
  { "pipeline/deliver.ts": [] },
  { "pipeline/intake": ["authoring", "fill", "import", "ingest", "ingest/formats", "post"] },
  { "pipeline/plan": [] },
  { "pipeline/trust": ["feeds", "stores"] },
  { "pipeline/publish": ["stores"], "pipeline/verify": ["feeds", "stores"] },
  { "pipeline/index.ts": [] },
  { "service/http": [] },
  {
    "service/catalog": [],
    "service/controller": [
      ...["audit", "auth", "devices", "events", "keys", "limits", "pages", "store", "users"],
    ],
  },
  { cli: ["catalog", "completion", "controller", "devices", "intake", "output", "sites", "terminal"] },
];

/** Files whose imports from other folders are limited to a list. Both are the beginnings of paths. */
export const doors: readonly { name: string; of: RegExp; may: readonly string[] }[] = [
  {
    // Build jobs run `ingest`, `inspect` and `upload` with little memory. A build without changes and completions end
    // before the library is loaded.
    name: "the command line imports the library, or a light entry",
    of: /^cli\/(?!output\/)/,
    may: [
      "pipeline/index.ts",
      "pipeline/errors.ts",
      "pipeline/inspect/inspect-files.ts",
      "pipeline/intake/ingest/store-manifest.ts",
      "pipeline/journal/unchanged-build.ts",
      "pipeline/project/configuration.ts",
      "pipeline/project/shell-word.ts",
      "pipeline/publish/upload-artifacts.ts",
      "pipeline/selection/fields.ts",
      "pipeline/system/sqlite-reasons.ts",
      "service/catalog/node",
      "service/controller/audit/audit-log.ts",
      "service/controller/auth/authenticate.ts",
      "service/controller/devices/serials.ts",
      "service/controller/node",
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
    ],
  },
  {
    name: "the catalog's server imports the library",
    of: /^service\/catalog\/node/,
    may: ["pipeline/index.ts", "pipeline/documents/", "service/http/"],
  },
  {
    // The library as a whole would stay in the memory of a server that needs its JSON reader.
    name: "the controller imports single modules",
    of: /^service\/controller\//,
    may: [
      "pipeline/documents/",
      "pipeline/project/json.ts",
      "pipeline/project/source.ts",
      "pipeline/site/stores/templates.ts",
      "pipeline/system/files.ts",
      "service/http/",
    ],
  },
  {
    // Commands import only their types: zod stays out of the program.
    name: "schemas of outputs consist of documents",
    of: /^cli\/output\//,
    may: [
      "pipeline/documents/",
      "service/controller/audit/audit-documents.ts",
      "service/controller/devices/device-documents.ts",
      "service/controller/keys/key-documents.ts",
      "service/controller/users/user-documents.ts",
    ],
  },
];

/** Modules of Node and npm that only some files may import. */
export const reserved: readonly { name: string; modules: RegExp; in: RegExp; only: RegExp }[] = [
  {
    name: "files, processes, threads and the network are used in system, journal, stores and servers",
    modules: /^(node:)?(fs|child_process|worker_threads|net|http|https|http2|dns|tls|sqlite)(\/|$)/,
    in: /^(pipeline|service)\//,
    only: /^(pipeline\/(system|journal|[a-z]+\/stores)\/|service\/[a-z]+\/node|service\/controller\/store\/)/,
  },
  {
    name: "commands and globs are run in system and stores",
    modules: /^(execa|fast-glob)$/,
    in: /^(pipeline|cli|service)\//,
    only: /^pipeline\/(system|[a-z]+\/stores)\//,
  },
];
