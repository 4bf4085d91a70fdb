import type { z } from "zod";
import { table } from "../../../../shared/fields.ts";
import type { Path } from "../../../../shared/source.ts";
import { isObject } from "../../../documents/is-object.ts";
import type { Located } from "../../../project/document.ts";
import type { Build, Evidence } from "../evidence.ts";
import { isListOf, loose, shape } from "./shape.ts";
import { anyPath, isStoreBase, isStorePath } from "./store-path.ts";

/** A content-addressed output has no path before it is built. */
const recipe = loose({ outputs: table(loose({ path: anyPath.optional() }), "an object of output: {path}") });
const recipes = table(recipe, "an object of derivation: {outputs}");

type Recipes = z.infer<typeof recipes>;

const isDerivation = (path: string) => path.endsWith(".drv") && (isStorePath(path) || isStoreBase(path));

/** `nix derivation show` as an object of path to recipe: full paths up to Nix 2.31, then without the store. */
export const derivationMap = shape({
  title: "nix derivation show",
  fits: (value) => isObject(value) && isListOf(Object.keys(value), (path) => isDerivation(String(path))),
  schema: recipes,
  read: (document) => collect(document, document.value, []),
});

/** Wrapped in an object with a version: Nix 2.33 and later. */
export const derivationWrapped = shape({
  title: "nix derivation show",
  fits: (value) => isObject(value) && isObject(value.derivations),
  schema: loose({ derivations: recipes }),
  read: (document) => collect(document, document.value.derivations as Recipes, ["derivations"]),
});

function collect({ place }: Located<unknown>, derivations: Recipes, where: Path): Partial<Evidence> {
  const builds = Object.entries(derivations).map(
    ([drv, { outputs }]): Build => ({
      drv,
      outputs: Object.fromEntries(
        Object.entries(outputs as Record<string, { path?: string }>).flatMap(([name, { path }]) =>
          path ? [[name, path]] : [],
        ),
      ),
      wanted: false,
      at: () => place([...where, drv]),
    }),
  );
  return { builds };
}
