import { z } from "zod";
import type { Problem } from "../../../../shared/errors.ts";
import { absolutePath, expects, line, list, size, table } from "../../../../shared/fields.ts";
import { isObject } from "../../../documents/is-object.ts";
import { type At, type Evidence, problem, type StoreObject } from "../evidence.ts";
import { isListOf, loose, shape } from "./shape.ts";
import { anyPath, isStoreBase, isStorePath } from "./store-path.ts";

const info = loose({
  path: anyPath.optional(),
  valid: z.boolean().optional(),
  deriver: anyPath.nullable().optional(),
  narHash: line.optional(),
  narSize: size.optional(),
  references: list(anyPath).optional(),
  signatures: list(
    z.union([line, loose({ keyName: line, sig: line })], expects("wrong-type", "a signature")),
  ).optional(),
});

type Info = z.infer<typeof info>;

/** `nix path-info --json` as a list: Nix up to 2.18 and Lix. */
export const pathInfoList = shape({
  title: "nix path-info --json",
  fits: (value) =>
    isListOf(value, (item) => isObject(item) && isStorePath(item.path)) &&
    (value as object[]).some((item) => "narHash" in item || "valid" in item),
  schema: z.array(info),
  read: ({ value, place }) =>
    collect(value.map((item, index) => [item.path ?? "", item, () => place([index])])),
});

/** An object keyed by path: Nix 2.19 and later. */
export const pathInfoMap = shape({
  title: "nix path-info --json",
  fits: (value) =>
    isObject(value) &&
    isListOf(Object.entries(value), (entry) => {
      const [path, item] = entry as [string, unknown];
      return isStorePath(path) && (item === null || (isObject(item) && !("outputs" in item)));
    }),
  schema: table(info.nullable(), "an object of store path: information"),
  read: ({ value, place }) =>
    collect(Object.entries(value).map(([path, item]) => [path, item, () => place([path])])),
});

/** Wrapped, with paths relative to the store: Nix 2.33 and later. */
export const pathInfoWrapped = shape({
  title: "nix path-info --json",
  fits: (value) => isObject(value) && isObject(value.info) && "storeDir" in value,
  schema: loose({
    storeDir: absolutePath,
    info: table(info.nullable(), "an object of store path: information"),
  }),
  read({ value: { storeDir, info }, place }) {
    const items = Object.entries(info as Record<string, Info | null>);
    return collect(
      items.map(([path, item]) => [path, item, () => place(["info", path])]),
      `${storeDir}/`,
    );
  },
});

type Entry = readonly [path: string, info: Info | null, at: At];

function collect(entries: readonly Entry[], store = ""): Partial<Evidence> {
  const whole = (path: string) => (isStoreBase(path) ? `${store}${path}` : path);
  const objects: StoreObject[] = [];
  const problems: Problem[] = [];
  for (const [path, item, at] of entries) {
    if (!item || item.valid === false || item.narHash === undefined || item.narSize === undefined) {
      const message = `${whole(path)} is not in the store that was asked`;
      problems.push(problem("store-path-invalid", at, message, "Build it, or copy it there, and ask again."));
      continue;
    }
    objects.push({
      path: whole(path),
      narHash: item.narHash,
      narSize: item.narSize,
      references: (item.references ?? []).map(whole),
      signatures: (item.signatures ?? []).map((signature) =>
        typeof signature === "string" ? signature : `${signature.keyName}:${signature.sig}`,
      ),
      deriver: item.deriver ? whole(item.deriver) : undefined,
      at,
    });
  }
  return { objects, problems };
}
