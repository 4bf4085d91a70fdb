import { z } from "zod";
import { expects, line, table } from "../../../../shared/fields.ts";
import type { Path } from "../../../../shared/source.ts";
import { isObject } from "../../../documents/is-object.ts";
import type { Located } from "../../../project/document.ts";
import { type Build, type Evidence, problem } from "../evidence.ts";
import { isListOf, loose, shape } from "./shape.ts";
import { anyPath, isStoreBase, isStorePath, storePath } from "./store-path.ts";

/** Outputs that have a path. A content-addressed one has none before it is built. */
export const madeOutputs = (
  outputs: Iterable<readonly [string, string | null | undefined]>,
): Build["outputs"] =>
  Object.fromEntries([...outputs].flatMap(([name, path]) => (path ? [[name, path]] : [])));

const outputsOf = (out: string) => ({ drv: undefined, outputs: { out } });

const built = z.union(
  [
    storePath.transform(outputsOf),
    loose({
      drvPath: storePath,
      outputs: table(storePath.nullable(), "an object of output: store path"),
    }).transform(({ drvPath: drv, outputs }) => ({ drv, outputs: madeOutputs(Object.entries(outputs)) })),
    loose({ path: storePath }).transform(({ path }) => outputsOf(path)),
  ],
  expects("wrong-type", "a build with drvPath and outputs, or a store path"),
);

/** A bare path: older versions of Nix print that for a store path they did not build. */
const isOpaque = (item: unknown): boolean =>
  isObject(item) && Object.keys(item).length === 1 && isStorePath(item.path);

const dryRun = "nix build --dry-run builds nothing; run it without --dry-run.";

/** `nix build --json`: a list of recipes and their outputs; a bare path is an output whose recipe is unknown. */
export const nixBuild = shape({
  title: "nix build --json",
  fits: (value) =>
    isListOf(value, (item) => isStorePath(item) || isOpaque(item) || (isObject(item) && "drvPath" in item)),
  schema: z.array(built),
  read({ value, place }) {
    const all = value.map((item, index): Build => ({ ...item, wanted: true, at: () => place([index]) }));
    const isEmpty = ({ outputs }: Build) => Object.keys(outputs).length === 0;
    const builds = all.filter((build) => !isEmpty(build));
    const empty = all.filter(isEmpty);
    const problems = empty.map(({ drv, at }) => problem("build-failed", at, `${drv} has no outputs`, dryRun));
    return { builds, problems };
  },
});

const recipe = loose({ outputs: table(loose({ path: anyPath.optional() }), "an object of output: {path}") });
const recipes = table(recipe, "an object of derivation: {outputs}");

const isDerivation = (path: string) => path.endsWith(".drv") && (isStorePath(path) || isStoreBase(path));

export const derivations = [
  // An object of path to recipe: full paths up to Nix 2.31, then without the store.
  shape({
    title: "nix derivation show",
    fits: (value) => isObject(value) && isListOf(Object.keys(value), (path) => isDerivation(String(path))),
    schema: recipes,
    read: (document) => buildsOf(document, document.value, []),
  }),
  // Wrapped in an object with a version: Nix 2.33 and later.
  shape({
    title: "nix derivation show",
    fits: (value) => isObject(value) && isObject(value.derivations),
    schema: loose({ derivations: recipes }),
    read: (document) => buildsOf(document, document.value.derivations, ["derivations"]),
  }),
];

function buildsOf(
  { place }: Located<unknown>,
  derivations: z.infer<typeof recipes>,
  where: Path,
): Partial<Evidence> {
  const builds = Object.entries(derivations).map(
    ([drv, { outputs }]): Build => ({
      drv,
      outputs: madeOutputs(Object.entries(outputs).map(([name, { path }]) => [name, path])),
      wanted: false,
      at: () => place([...where, drv]),
    }),
  );
  return { builds };
}

/** `nix flake metadata --json`: the source revision, missing for uncommitted sources. */
export const nixFlake = shape({
  title: "nix flake metadata --json",
  fits: (value) =>
    isObject(value) && isObject(value.locked) && ("originalUrl" in value || "resolvedUrl" in value),
  schema: loose({ revision: line.optional(), dirtyRevision: line.optional() }),
  read({ value: { revision, dirtyRevision }, place }) {
    const at = () => place(revision === undefined ? ["dirtyRevision"] : ["revision"]);
    if (revision !== undefined) return { revisions: [{ value: revision, at }] };
    if (dirtyRevision === undefined) return {};
    const message = `the flake had changes that were not committed (${dirtyRevision})`;
    return { problems: [problem("revision-missing", at, message, "Commit them and build again.")] };
  },
});
