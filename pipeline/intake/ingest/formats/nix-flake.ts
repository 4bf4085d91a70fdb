import { line } from "../../../../shared/fields.ts";
import { isObject } from "../../../documents/is-object.ts";
import { problem } from "../evidence.ts";
import { loose, shape } from "./shape.ts";

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
