import { isObject } from "../../../documents/is-object.ts";
import { type Manifest, manifestSchema } from "../../../documents/manifest.ts";
import type { Located } from "../../../project/document.ts";
import type { Evidence, FoundFile } from "../evidence.ts";
import { shape } from "./shape.ts";

export const finishedManifest = shape({
  title: "a build output manifest",
  fits: (value) => isObject(value) && "release" in value && "artifacts" in value,
  schema: manifestSchema,
  read: evidenceOf,
});

export function evidenceOf({ value, place }: Located<Manifest>): Partial<Evidence> {
  const { release, artifacts } = value;
  const files = artifacts.map(
    (artifact, index): FoundFile => ({
      name: artifact.file ?? artifact.name,
      paths: [],
      store: artifact.store?.path,
      sha256: artifact.sha256,
      size: artifact.size,
      finished: {
        value: artifact,
        place: (path) => place(["artifacts", index, ...path]),
        release: () => place(["release"]),
      },
      at: () => place(["artifacts", index]),
    }),
  );
  return { files, releases: [{ value: release, at: () => place(["release"]) }] };
}
