import { z } from "zod";
import { expects, line, table } from "../../../../shared/fields.ts";
import { isObject } from "../../../documents/is-object.ts";
import { type Build, problem } from "../evidence.ts";
import { isListOf, loose, shape } from "./shape.ts";
import { isStorePath, storePath } from "./store-path.ts";

const built = z.union(
  [
    storePath,
    loose({ drvPath: storePath, outputs: table(storePath.nullable(), "an object of output: store path") }),
    loose({ path: storePath }),
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
    const builds: Build[] = [];
    const problems = [];
    for (const [index, item] of value.entries()) {
      const at = () => place([index]);
      if (typeof item === "string" || !("drvPath" in item)) {
        const out = typeof item === "string" ? item : (item.path as string);
        builds.push({ drv: undefined, outputs: { out }, wanted: true, at });
      } else {
        const { drvPath: drv, outputs } = item as { drvPath: string; outputs: Record<string, string | null> };
        const made = Object.fromEntries(
          Object.entries(outputs).flatMap(([name, path]) => (path ? [[name, path]] : [])),
        );
        if (Object.keys(made).length > 0) builds.push({ drv, outputs: made, wanted: true, at });
        else problems.push(problem("build-failed", at, `${drv} has no outputs`, dryRun));
      }
    }
    return { builds, problems };
  },
});

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
