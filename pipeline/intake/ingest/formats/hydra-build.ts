import { basename } from "node:path/posix";
import { z } from "zod";
import type { Problem } from "../../../../shared/errors.ts";
import { absolutePath, line, list, sha256, table } from "../../../../shared/fields.ts";
import { type Path, placeAt, type Source } from "../../../../shared/source.ts";
import { isObject } from "../../../documents/is-object.ts";
import { type At, type Evidence, type FoundFile, problem } from "../evidence.ts";
import { count, loose, shape } from "./shape.ts";
import { productName, storePath, storePathOf } from "./store-path.ts";

/** Input of a Hydra RunCommand ($HYDRA_JSON): a build with measured products. */
export const hydraRunCommand = shape({
  title: "Hydra RunCommand JSON",
  fits: (value) => isObject(value) && "buildStatus" in value && "outputs" in value && "products" in value,
  schema: loose({
    buildStatus: count.nullable(),
    job: line.optional(),
    drvPath: storePath,
    outputs: list(loose({ name: line, path: storePath.nullable() })),
    products: list(
      loose({
        type: z.string(),
        subtype: z.string().nullable(),
        path: absolutePath,
        fileSize: count.nullable().optional(),
        sha256hash: sha256.nullable().optional(),
      }),
    ),
  }),
  read: ({ value: { buildStatus, job, drvPath, outputs, products }, place }) =>
    evidenceOf({
      status: { value: buildStatus, at: () => place(["buildStatus"]) },
      job,
      drv: drvPath,
      at: () => place(["drvPath"]),
      outputs: outputs.map(({ name, path }) => [name, path]),
      products: products.map((product, index) => ({
        ...product,
        size: product.fileSize,
        at: () => place(["products", index]),
      })),
    }),
});

/** Hydra's answer for `/build/ID` as JSON. Products without a path were measured, but only Hydra has them. */
export const hydraBuild = shape({
  title: "a build from Hydra's REST API",
  fits: (value) => isObject(value) && "buildstatus" in value && "buildproducts" in value,
  schema: loose({
    buildstatus: count.nullable(),
    job: line.optional(),
    drvpath: storePath.nullable().optional(),
    buildoutputs: table(loose({ path: storePath.nullable() }), "an object of output: {path}"),
    buildproducts: table(
      loose({
        type: z.string(),
        subtype: z.string().nullable(),
        name: z.string(),
        path: absolutePath.nullable().optional(),
        filesize: count.nullable().optional(),
        sha256hash: sha256.nullable().optional(),
      }),
      "an object of number: product",
    ),
  }),
  read({ value: { buildstatus, job, drvpath, buildoutputs, buildproducts }, place }) {
    const at = (path: Path) => () => place(path);
    return evidenceOf({
      status: { value: buildstatus, at: at(["buildstatus"]) },
      job,
      drv: drvpath ?? undefined,
      at: at([drvpath ? "drvpath" : "buildoutputs"]),
      outputs: Object.entries(buildoutputs).map(([name, { path }]) => [name, path]),
      products: Object.entries(buildproducts).map(([number, product]) => ({
        ...product,
        path: product.path ?? product.name,
        size: product.filesize,
        at: at(["buildproducts", number]),
      })),
    });
  },
});

interface Product {
  type: string;
  subtype: string | null;
  /** Absolute, or only a name. */
  path: string;
  size: z.infer<typeof count> | null | undefined;
  sha256hash?: string | null | undefined;
  at: At;
}

interface HydraBuild {
  status: { value: z.infer<typeof count> | null; at: At };
  job: string | undefined;
  drv: string | undefined;
  at: At;
  outputs: [name: string, path: string | null][];
  products: Product[];
}

function evidenceOf(build: HydraBuild): Partial<Evidence> {
  const refused = refuse(build);
  if (refused) return { problems: [refused] };
  const { drv, at, outputs, products } = build;
  const made = Object.fromEntries(outputs.flatMap(([name, path]) => (path ? [[name, path]] : [])));
  return {
    files: products.filter(isDownload).map((product) => fileOf(product, build)),
    leftOut: products
      .filter((product) => !isDownload(product) && product.type !== "nix-build")
      .map(({ type, subtype, path }) => leftOutProduct({ type, subtype: subtype ?? "", path })),
    builds: [{ drv, outputs: made, wanted: true, at }],
  };
}

function refuse({ status: { value, at }, drv }: HydraBuild): Problem | undefined {
  if (value !== null && Number(value) === 0) return undefined;
  const status = value === null ? "has not finished" : `failed with status ${value}`;
  const produced = Number(value) === 6 ? ", although it left an output" : "";
  const message = `the build${drv === undefined ? "" : ` of ${drv}`} ${status}${produced}`;
  return problem("build-failed", at, message, "Only a build with status 0 can be released.");
}

function fileOf({ path, sha256hash, size, subtype, at }: Product, { outputs, job }: HydraBuild): FoundFile {
  return {
    name: productName(path),
    paths: path.startsWith("/") ? [path] : [],
    store:
      outputs.find(([, output]) => path === output || path.startsWith(`${output}/`))?.[1] ??
      storePathOf(path),
    through: outputs[0]?.[1] ?? undefined,
    sha256: sha256hash ?? undefined,
    size: size === null || size === undefined ? undefined : Number(size),
    hint: hintOf({ subtype: subtype ?? "" }) ?? job,
    at,
  };
}

/** One line of nix-support/hydra-build-products. */
interface ListedProduct {
  /** file, doc, report … */
  type: string;
  /** qcow2-image, iso, vma … */
  subtype: string;
  /** Absolute, as the build wrote it. */
  path: string;
  at: At;
}

/** Hydra's own form: `<type> <subtype> <path, quoted if it has spaces> [entry page]`. */
const form = /^([A-Za-z0-9_-]+)\s+([A-Za-z0-9_-]+)\s+(?:"([^"]+)"|([^\s<>"]+))(?:\s+[^\s<>]+)?\s*$/;

/** Hydra skips lines it cannot read; here they are problems, because a release would silently lose a file. */
export function readProducts(source: Source): { products: ListedProduct[]; problems: Evidence["problems"] } {
  const products: ListedProduct[] = [];
  const problems: Evidence["problems"] = [];
  for (const line of source.text.matchAll(/^.*\S.*$/gm)) {
    const at = () => placeAt(source, line.index);
    const [, type, subtype, quoted, bare] = form.exec(line[0].trim()) ?? [];
    const path = quoted ?? bare;
    if (type !== undefined && subtype !== undefined && path?.startsWith("/"))
      products.push({ type, subtype, path, at });
    else {
      const message =
        "the line names no product, expected <type> <subtype> <absolute path, in quotes where it has spaces> [default]";
      problems.push(problem("product-line", at, message, "Correct the build that writes it."));
    }
  }
  return { products, problems };
}

/** nixpkgs names the format of an image, which seldom determines its platform. */
const typesOfFormats = new Map([
  ["vma", "proxmox"],
  ["deb", "deb"],
  ["rpm", "rpm"],
  ["msi", "msi"],
  ["pkg", "pkg"],
]);

export const isDownload = ({ type }: Pick<ListedProduct, "type">): boolean =>
  type === "file" || typesOfFormats.has(type);

export const hintOf = ({ subtype }: Pick<ListedProduct, "subtype">): string | undefined =>
  typesOfFormats.get(subtype);

export const leftOutProduct = ({ type, subtype, path }: Omit<ListedProduct, "at">): string =>
  `${basename(path)} (a product of type ${type} ${subtype})`;
