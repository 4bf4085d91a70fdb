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
    layer("emitters-import-documents", "pipeline/emitters/", [
      "pipeline/emitters/",
      "pipeline/documents/",
      "pipeline/errors",
    ]),
    layer("outside-imports-documents", "pipeline/outside/", [
      "pipeline/outside/",
      "pipeline/documents/",
      "pipeline/errors",
    ]),
    layer("cli-imports-the-library", "cli/", ["cli/", "pipeline/index"]),
    {
      name: "only-outside-touches-the-system",
      severity: "error",
      from: { path: "^build/(pipeline|service)/", pathNot: "^build/(pipeline/outside/|service/[^/]+/node)" },
      to: { path: "^(node:)?(fs|child_process|net|http|https|dns|tls|sqlite|worker_threads)(/|$)" },
    },
    {
      name: "only-outside-runs-commands-and-globs",
      severity: "error",
      from: { path: "^build/(pipeline|cli)/", pathNot: "^build/pipeline/outside/" },
      to: { path: "node_modules/(execa|fast-glob)/" },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    moduleSystems: ["es6"],
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "node"] },
  },
};
