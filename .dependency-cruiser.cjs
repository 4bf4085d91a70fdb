/** Who may import whom. Reads the compiled build/: with TypeScript 7 the tool cannot read .ts files. */
const layer = (name, from, allowed) => ({
  name,
  severity: "error",
  from: { path: `^build/${from}` },
  to: { path: "^build/", pathNot: allowed.map((path) => `^build/${path}`) },
});

module.exports = {
  forbidden: [
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
    layer("documents-import-nothing", "pipeline/documents/", ["pipeline/documents/", "pipeline/errors"]),
    layer("selection-imports-nothing", "pipeline/selection/", ["pipeline/selection/", "pipeline/documents/"]),
    layer("system-imports-documents", "pipeline/system/", [
      "pipeline/system/",
      "pipeline/documents/",
      "pipeline/inspect/(bytes/byte-source|inspection)\\.",
      "pipeline/errors",
    ]),
    // Build jobs run `ingest`, `inspect` and `upload` where memory is scarce, and an unchanged build ends before a library
    // could be read: they leave out templates and all else they do not use.
    layer("cli-imports-the-library", "cli/", [
      "cli/",
      "pipeline/index",
      "pipeline/inspect/inspect-files",
      "pipeline/intake/ingest/store-manifest",
      "pipeline/publish/upload-artifacts",
      "pipeline/(errors|project/shell-word|journal/unchanged-build)\\.",
      "service/catalog/node",
      "service/controller/node",
      "service/controller/devices/serials\\.",
    ]),
    layer("the-handler-imports-pure-modules", "service/(http|catalog)/(?!node|openapi)", [
      "service/(http|catalog)/(?!node|openapi)",
      "pipeline/documents/",
      "pipeline/selection/",
      "pipeline/site/(pages/browsable-json|escape)",
    ]),
    // Not pipeline/index: it would keep the whole library in the memory of a server that reads JSON with it.
    layer("the-controller-imports-the-library", "service/controller/", [
      "service/controller/",
      "service/http/",
      "pipeline/project/(json|source)\\.",
      "pipeline/system/files\\.",
      "pipeline/site/stores/templates\\.",
      "pipeline/documents/",
    ]),
    layer("servers-import-the-library", "service/(?!controller/)[^/]+/node", [
      "service/",
      "pipeline/index",
      "pipeline/documents/",
    ]),
    {
      name: "only-system-and-stores-touch-the-system",
      severity: "error",
      from: {
        path: "^build/(pipeline|service)/",
        pathNot:
          "^build/(pipeline/(system|journal|[a-z]+/stores)/|service/[^/]+/node|service/controller/store/)",
      },
      to: { path: "^(node:)?(fs|child_process|net|http|https|dns|tls|sqlite|worker_threads)(/|$)" },
    },
    {
      name: "only-system-and-stores-run-commands-and-globs",
      severity: "error",
      from: { path: "^build/(pipeline|cli)/", pathNot: "^build/pipeline/(system|[a-z]+/stores)/" },
      to: { path: "node_modules/(execa|fast-glob)/" },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    moduleSystems: ["es6"],
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node"] },
  },
};
