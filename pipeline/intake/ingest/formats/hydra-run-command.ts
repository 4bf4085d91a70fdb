import { basename } from "node:path/posix";
import { z } from "zod";
import { absolutePath, line, list, sha256 } from "../../../documents/fields.ts";
import { isObject } from "../../../documents/is-object.ts";
import type { Problem } from "../../../errors.ts";
import type { Located } from "../../../project/document.ts";
import { type FoundFile, problem } from "../evidence.ts";
import { hintOf, isDownload, leftOutProduct } from "./hydra-products.ts";
import { count, loose, shape } from "./shape.ts";
import { isStorePath, nameOf, storePath } from "./store-path.ts";

const product = loose({
  type: z.string(),
  subtype: z.string().nullable(),
  path: absolutePath,
  fileSize: count.nullable().optional(),
  sha256hash: sha256.nullable().optional(),
});

const build = loose({
  buildStatus: count.nullable(),
  job: line.optional(),
  drvPath: storePath,
  outputs: list(loose({ name: line, path: storePath.nullable() })),
  products: list(product),
});

type Document = Located<z.infer<typeof build>>;

/** Input of a Hydra RunCommand ($HYDRA_JSON): a build with measured products. */
export const hydraRunCommand = shape({
  title: "Hydra RunCommand JSON",
  fits: (value) => isObject(value) && "buildStatus" in value && "outputs" in value && "products" in value,
  schema: build,
  read(document) {
    const refused = refuse(document);
    if (refused) return { problems: [refused] };
    const { drvPath, outputs } = document.value;
    const made = Object.fromEntries(outputs.flatMap(({ name, path }) => (path ? [[name, path]] : [])));
    const files = document.value.products
      .map((_, index) => fileOf(document, index))
      .filter((file) => file !== undefined);
    const leftOut = document.value.products
      .filter((item) => !isDownload(item) && item.type !== "nix-build")
      .map(({ type, subtype, path }) => leftOutProduct({ type, subtype: subtype ?? "", path }));
    return {
      files,
      leftOut,
      builds: [{ drv: drvPath, outputs: made, wanted: true, at: () => document.place(["drvPath"]) }],
    };
  },
});

function refuse({ value, place }: Document): Problem | undefined {
  if (value.buildStatus !== null && Number(value.buildStatus) === 0) return undefined;
  const at = () => place(["buildStatus"]);
  const status = value.buildStatus === null ? "has not finished" : `failed with status ${value.buildStatus}`;
  const produced = Number(value.buildStatus) === 6 ? ", although it left an output" : "";
  return problem(
    "build-failed",
    at,
    `the build of ${value.drvPath} ${status}${produced}`,
    "Only a build with status 0 can be released.",
  );
}

function fileOf({ value, place }: Document, index: number): FoundFile | undefined {
  const item = value.products[index];
  if (!item || !isDownload(item)) return undefined;
  const { path, sha256hash, fileSize, subtype } = item;
  return {
    name: isStorePath(path) ? nameOf(path) : basename(path),
    paths: [path],
    store:
      value.outputs.find((output) => output.path === path || path.startsWith(`${output.path}/`))?.path ??
      undefined,
    sha256: sha256hash ?? undefined,
    size: fileSize === null || fileSize === undefined ? undefined : Number(fileSize),
    hint: hintOf({ subtype: subtype ?? "" }) ?? value.job,
    at: () => place(["products", index]),
  };
}
