import { z } from "zod";
import { absolutePath, expects, line, list, size, table } from "../../../../shared/fields.ts";
import { isObject } from "../../../documents/is-object.ts";
import { type At, type Evidence, gather, problem } from "../evidence.ts";
import { isListOf, loose, shape } from "./shape.ts";
import { anyPath, isStoreBase, isStorePath } from "./store-path.ts";

const signature = z.union(
  [line, loose({ keyName: line, sig: line }).transform(({ keyName, sig }) => `${keyName}:${sig}`)],
  expects("wrong-type", "a signature"),
);

const info = loose({
  path: anyPath.optional(),
  valid: z.boolean().optional(),
  deriver: anyPath.nullable().optional(),
  narHash: line.optional(),
  narSize: size.optional(),
  references: list(anyPath).default([]),
  signatures: list(signature).default([]),
});

const title = "nix path-info --json";
const byPath = table(info.nullable(), "an object of store path: information");

export const pathInfos = [
  // A list: Nix up to 2.18 and Lix.
  shape({
    title,
    fits: (value) =>
      isListOf(value, (item) => isObject(item) && isStorePath(item.path)) &&
      (value as object[]).some((item) => "narHash" in item || "valid" in item),
    schema: z.array(info),
    read: ({ value, place }) =>
      together(value.map((item, index) => objectOf(item.path ?? "", item, () => place([index])))),
  }),
  // An object keyed by path: Nix 2.19 and later.
  shape({
    title,
    fits: (value) =>
      isObject(value) &&
      isListOf(Object.entries(value), (entry) => {
        const [path, item] = entry as [string, unknown];
        return isStorePath(path) && (item === null || (isObject(item) && !("outputs" in item)));
      }),
    schema: byPath,
    read: ({ value, place }) =>
      together(Object.entries(value).map(([path, item]) => objectOf(path, item, () => place([path])))),
  }),
  // Wrapped, with paths relative to the store: Nix 2.33 and later.
  shape({
    title,
    fits: (value) => isObject(value) && isObject(value.info) && "storeDir" in value,
    schema: loose({ storeDir: absolutePath, info: byPath }),
    read: ({ value: { storeDir, info }, place }) =>
      together(
        Object.entries(info).map(([path, item]) =>
          objectOf(path, item, () => place(["info", path]), `${storeDir}/`),
        ),
      ),
  }),
];

/** The result has no `leftOut`, because only GoReleaser's list may make a folder one of GoReleaser. */
function together(parts: readonly Partial<Evidence>[]): Partial<Evidence> {
  const { objects, problems } = gather(parts);
  return { objects, problems };
}

function objectOf(path: string, item: z.infer<typeof info> | null, at: At, store = ""): Partial<Evidence> {
  const whole = (path: string) => (isStoreBase(path) ? `${store}${path}` : path);
  if (!item || item.valid === false || item.narHash === undefined || item.narSize === undefined) {
    const message = `${whole(path)} is not in the store that was asked`;
    const hint = "Build it, or copy it there, and ask again.";
    return { problems: [problem("store-path-invalid", at, message, hint)] };
  }
  const { narHash, narSize, references, signatures } = item;
  const deriver = item.deriver ? whole(item.deriver) : undefined;
  const object = { path: whole(path), narHash, narSize, references: references.map(whole), signatures };
  return { objects: [{ ...object, deriver, at }] };
}
