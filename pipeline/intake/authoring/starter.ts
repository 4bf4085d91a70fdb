import { releaseYaml } from "./open-release.ts";

export interface StarterFile {
  path: string;
  content: string | Uint8Array;
}

export interface StarterOptions {
  /** Opening time of the first release (timestamp with microseconds). */
  opened: string;
  /** Version of the first release. */
  version: string;
  /** How package.json installs relcat. */
  relcat: string;
  /** Version of Node that package.json installs. */
  node: string | undefined;
}

const schemas = "node_modules/relcat/schemas";

/** The day of a month that is nearest to another day: the pages of months sort releases by version and show dates. */
function dayOf(month: string, day: string): string {
  const [year, number] = month.split(".").map(Number) as [number, number];
  const first = `20${month.replace(".", "-")}-01`;
  const last = new Date(Date.UTC(2000 + year, number, 0)).toISOString().slice(0, 10);
  if (day < first) return first;
  return day > last ? last : day;
}

/** Files that relcat generates for a new project, in writing order. */
export function starterFiles({ opened, version, relcat, node }: StarterOptions): StarterFile[] {
  const release = releaseYaml({
    version,
    date: dayOf(version.slice(0, 5), opened.slice(0, 10)),
    opened,
    schemas,
  });
  return [
    { path: `releases/${version}/release.yaml`, content: release },
    { path: `releases/${version}/notes/first-release.yaml`, content: firstNote },
    { path: "releases/next/notes/.gitkeep", content: "" },
    { path: ".gitignore", content: gitignore },
    { path: ".gitattributes", content: gitattributes },
    { path: "package.json", content: packageJson(relcat, node) },
  ];
}

const firstNote = `# yaml-language-server: $schema=../../../${schemas}/note.schema.json
component: documentation
kind: feature
text: This is the first release in the catalog.
`;

/** Two are output folders of the guides. The last line overrides settings of git that ignore vendored files. */
const gitignore = `dist/
node_modules/
.relcat-*
/preview/
/earlier/
!/vendor/
!/vendor/*.tgz
`;

const gitattributes = `# Two branches that add lines must conflict: ids are given in order.
releases/ledger.jsonl -merge text eol=lf
*.tgz binary
`;

/** `allowScripts` is for npm 12, which runs no other install scripts. */
function packageJson(relcat: string, node: string | undefined): string {
  const scripts = { check: "relcat check", build: "relcat build" };
  const project = { private: true, scripts, devDependencies: { node, relcat }, allowScripts: { node: true } };
  return `${JSON.stringify(project, null, 2)}\n`;
}
