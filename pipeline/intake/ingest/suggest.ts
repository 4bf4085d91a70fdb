import { posix } from "node:path";
import { architectureInName } from "../../../inspect/architecture.ts";
import { defaultPackageTypes } from "../../../shared/package-types.ts";
import type { Settings } from "../../documents/config.ts";
import { isIgnored, isVhd, ruleFor, usualType } from "./built-in-rules.ts";
import { sideFileReason } from "./inputs.ts";

/** Package types that the default table lacks, by ending. */
const archives = /\.(tar\.(?:gz|xz|zst|bz2)|tgz|zip)$/;

/** The ending that names a format, even if compressed. It does not begin with a digit, as the end of a version does. */
const format = /\.(?:(?!(?:gz|xz|zst|bz2)$)[a-z]\w{0,7}|7z|[a-z]\w{0,7}\.(?:gz|xz|zst|bz2))$/i;

/** Versions and dates of releases. Versions of Ubuntu, such as 22.04, stay. */
const versions =
  /(?<!\d\.?)v?(?!\d\d\.(?:04|10)(?!\.?\d))\d+(?:\.\d+)+(?:[-+~.](?:rc|alpha|beta|pre|dev|git|nightly|snapshot)[a-z0-9.+~]*|-\d(?![a-z0-9]))*|(?<!\d)20\d{6}(?!\d)/gi;

const systems = {
  linux: { glob: "*[Ll]inux*", platform: 17, label: "Linux" },
  macos: { glob: "*{[Dd]arwin,[Mm]ac[Oo][Ss]}*", platform: 5, label: "macOS" },
  windows: { glob: "*[Ww]in{dows,32,64}*", platform: 4, label: "Windows" },
} as const;
type System = keyof typeof systems;

/** Endings that exist on one system only. */
const endings: Readonly<Record<string, { system: System; type: string; label: string }>> = {
  AppImage: { system: "linux", type: "appimage", label: "Linux AppImage" },
  apk: { system: "linux", type: "apk", label: "Alpine Linux package" },
  dmg: { system: "macos", type: "dmg", label: "macOS disk image" },
  exe: { system: "windows", type: "exe", label: "Windows program" },
  flatpak: { system: "linux", type: "flatpak", label: "Flatpak" },
  snap: { system: "linux", type: "snap", label: "Snap package" },
};

interface Guess {
  glob: string;
  type: string;
  system: System;
  label: string;
}

/** A value that no name states is not guessed: a comment says what to decide. */
export function suggestRules(files: readonly string[], config: Settings): string {
  const unknown = files.filter((file) => !isKnown(file, config));
  const guesses = new Map<string, Guess>();
  const open = new Set<string>();
  for (const file of unknown) {
    const guess = guessOf(file);
    if (guess) guesses.set(guess.glob, guess);
    else open.add(globOf(file));
  }
  const types = new Map([...guesses.values()].map((guess) => [guess.type, guess]));
  const missing = [...types.values()].filter(({ type }) => !config.packageTypes.has(type));
  const lines = [
    ...(unknown.length === 0 ? ["# Every file is recognized already."] : []),
    ...existing(missing, config),
    ...under("package_types", missing.map(typeRow)),
    ...under(
      "ingest",
      [...guesses.values()].map(({ glob, type }) => rule(glob, type)),
    ),
    ...undecided([...open], config),
    ...debsWithoutRange(files, config),
  ];
  return `${lines.join("\n")}\n`;
}

const isKnown = (file: string, config: Settings): boolean =>
  ruleFor(file, config) !== undefined ||
  isIgnored(file, config) ||
  usualType(file) !== undefined ||
  sideFileReason(file) !== undefined;

const rule = (glob: string, type: string) => `  - { match: ${JSON.stringify(glob)}, package_type: ${type} }`;

const typeRow = ({ type, system, label }: Guess) =>
  `  ${type}: { operating_system: ${system}, platform: ${systems[system].platform}, kind: client, description: ${JSON.stringify(label)} }`;

const isBuiltIn = (type: string) => Object.hasOwn(defaultPackageTypes, type);

/** Types that a project has already may fit better than new ones. */
function existing(missing: readonly Guess[], { packageTypes }: Settings): string[] {
  const fits = (type: string, guess: Guess) =>
    !isBuiltIn(type) || (type === "xz" && archives.test(guess.glob));
  const types = [...packageTypes].filter(([type, { operating_system }]) =>
    missing.some((guess) => guess.system === operating_system && fits(type, guess)),
  );
  const named = types.map(([type, { description }]) => `${type} (${description})`);
  return types.length === 0
    ? []
    : [`# If one of these types fits, use it instead of a new one: ${named.join(", ")}`];
}

const under = (key: string, rows: readonly string[]): string[] =>
  rows.length === 0
    ? []
    : [`${key}: # if catalog.yaml has this key already, add the lines below it there`, ...rows];

function guessOf(file: string): Guess | undefined {
  const ending = /\.([A-Za-z0-9]{1,8})$/.exec(file)?.[1] ?? "";
  const single = Object.hasOwn(endings, ending) && endings[ending];
  if (single) return { glob: `*.${ending}`, ...single };
  const archive = archives.exec(file)?.[1];
  const named = (Object.keys(systems) as System[]).filter((system) =>
    posix.matchesGlob(file, systems[system].glob),
  );
  const [system] = named;
  if (archive === undefined || system === undefined || named.length > 1) return undefined;
  const { glob, label } = systems[system];
  return { glob: `${glob}.${archive}`, type: `${system}-archive`, system, label: `${label} archive` };
}

function globOf(file: string): string {
  const [ending] = archives.exec(file) ?? format.exec(file) ?? [];
  return ending === undefined ? file.replace(versions, "*") : `*${ending}`;
}

function undecided(globs: readonly string[], { packageTypes }: Settings): string[] {
  if (globs.length === 0) return [];
  const types = [...packageTypes.keys()].sort((a, b) => Number(isBuiltIn(a)) - Number(isBuiltIn(b)));
  const line = (glob: string, type: string) => `#${rule(glob, type).slice(1)}`;
  return [
    "# The names of these files do not say what they are. Choose a package type for each, or leave it out with ignore:.",
    `# Package types: ${types.join(", ")}`,
    "# ingest:",
    ...globs.flatMap((glob) =>
      isVhd(glob)
        ? ["# Keep one of these two lines:", line(glob, "azure"), line(glob, "hyperv")]
        : [line(glob, "…")],
    ),
  ];
}

/** Two debs for one architecture need to say for which systems they are, which relcat never guesses. */
function debsWithoutRange(files: readonly string[], config: Settings): string[] {
  const open = files.filter((file) => {
    const stated = ruleFor(file, config);
    return file.endsWith(".deb") && !stated?.min_os_version && !stated?.max_os_version;
  });
  const groups = Map.groupBy(open, (file) => architectureInName(file) ?? "unknown");
  return [...groups.values()]
    .filter(({ length }) => length > 1)
    .flatMap((debs) => [
      "# These are for the same architecture, and relcat does not guess OS versions. Give the build for the older system",
      "# max_os_version, and the one for the newer system min_os_version, or gui_only and headless to variants:",
      ...globsOf(debs).map((glob) => `#${rule(glob, "deb, max_os_version: …").slice(1)}`),
    ]);
}

/** Without versions, if the names then still differ. */
function globsOf(files: readonly string[]): readonly string[] {
  const globs = files.map((file) => file.replace(versions, "*"));
  return new Set(globs).size === files.length ? globs : files;
}

/** Hint for files without a rule, with the lines that recognize them. */
export function unmatchedHint(files: readonly string[], config: Settings): string {
  const globs = [...new Set(files.map(globOf))].map((glob) => JSON.stringify(glob)).join(", ");
  const { ignore } = config;
  return [
    "Say in catalog.yaml what they are (relcat ingest --suggest prints these lines):",
    suggestRules(files, config).trimEnd(),
    `or that they are not for download${ignore.length > 0 ? ", in ignore:" : ":"}`,
    ignore.length > 0 ? `  ${globs}` : `ignore: [${globs}]`,
    "For one run: --set package_type=…; for one file: FILE.relcat.yaml next to it.",
  ].join("\n");
}
