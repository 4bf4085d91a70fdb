import { manifestSchema } from "../documents/manifest.ts";
import type { FoundFile } from "./evidence.ts";
import { isObject, shape } from "./shape.ts";

/** A manifest that is written already: checked, joined with what else is known, put into its place. */
export const finishedManifest = shape({
  title: "a build output manifest",
  fits: (value) => isObject(value) && "release" in value && "artifacts" in value,
  schema: manifestSchema,
  read({ value: { release, artifacts }, place }) {
    const files = artifacts.map(
      (finished, index): FoundFile => ({
        name: finished.file ?? finished.name,
        paths: [],
        store: finished.store?.path,
        sha256: finished.sha256,
        size: finished.size,
        finished,
        at: () => place(["artifacts", index]),
      }),
    );
    return { files, releases: [{ value: release, at: () => place(["release"]) }] };
  },
});
