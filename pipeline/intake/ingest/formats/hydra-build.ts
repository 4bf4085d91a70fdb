import { basename } from "node:path/posix";
import { z } from "zod";
import { absolutePath, line, list, sha256, table } from "../../../../shared/fields.ts";
import { placeAt, type Source } from "../../../../shared/source.ts";
import { isObject } from "../../../documents/is-object.ts";
import { type At, type Evidence, type FoundFile, problem } from "../evidence.ts";
import { madeOutputs } from "./nix-build.ts";
import { count, loose, shape } from "./shape.ts";
import { productName, storePath, storePathOf } from "./store-path.ts";

const product = {
  type: z.string(),
  subtype: z.string().nullable(),
  sha256hash: sha256.nullable().optional(),
};

/** Input of a Hydra RunCommand ($HYDRA_JSON): a build with measured products. */
export const hydraRunCommand = shape({
  title: "Hydra RunCommand JSON",
  fits: (value) => isObject(value) && "buildStatus" in value && "outputs" in value && "products" in value,
  schema: loose({
    buildStatus: count.nullable(),
    job: line.optional(),
    drvPath: storePath,
    outputs: list(loose({ name: line, path: storePath.nullable() })),
    products: list(loose({ ...product, path: absolutePath, fileSize: count.nullable().optional() })),
  }),
  read: ({ value: { buildStatus, job, drvPath, outputs, products }, place }) =>
    evidenceOf({
      status: { value: buildStatus, at: () => place(["buildStatus"]) },
      job,
      drv: drvPath,
      at: () => place(["drvPath"]),
      outputs: outputs.map(({ name, path }) => [name, path]),
      products: products.map((each, index) => ({
        ...each,
        size: each.fileSize,
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
        ...product,
        name: z.string(),
        path: absolutePath.nullable().optional(),
        filesize: count.nullable().optional(),
      }),
      "an object of number: product",
    ),
  }),
  read: ({ value: { buildstatus, job, drvpath, buildoutputs, buildproducts }, place }) =>
    evidenceOf({
      status: { value: buildstatus, at: () => place(["buildstatus"]) },
      job,
      drv: drvpath ?? undefined,
      at: () => place([drvpath ? "drvpath" : "buildoutputs"]),
      outputs: Object.entries(buildoutputs).map(([name, { path }]) => [name, path]),
      products: Object.entries(buildproducts).map(([number, each]) => ({
        ...each,
        path: each.path ?? each.name,
        size: each.filesize,
        at: () => place(["buildproducts", number]),
      })),
    }),
});

interface Product {
  /** file, doc, report … */
  type: string;
  /** qcow2-image, iso, vma … */
  subtype: string | null;
  /** Absolute, or only a name. */
  path: string;
  size?: z.infer<typeof count> | null | undefined;
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

function evidenceOf({ status, job, drv, at, outputs, products }: HydraBuild): Partial<Evidence> {
  if (status.value === null || Number(status.value) !== 0) {
    const state = status.value === null ? "has not finished" : `failed with status ${status.value}`;
    const produced = Number(status.value) === 6 ? ", although it left an output" : "";
    const message = `the build${drv === undefined ? "" : ` of ${drv}`} ${state}${produced}`;
    const hint = "Only a build with status 0 can be released.";
    return { problems: [problem("build-failed", status.at, message, hint)] };
  }
  const own = products.filter(({ type }) => type !== "nix-build");
  const builds = [{ drv, outputs: madeOutputs(outputs), wanted: true, at }];
  return { ...filesOf(own, outputs, job), builds };
}

function filesOf(products: readonly Product[], outputs: HydraBuild["outputs"] = [], job?: string) {
  const isDownload = ({ type }: Product) => type === "file" || typesOfFormats.has(type);
  const files = products.filter(isDownload).map(
    ({ path, sha256hash, size, subtype, at }): FoundFile => ({
      name: productName(path),
      paths: path.startsWith("/") ? [path] : [],
      store:
        outputs.find(([, output]) => path === output || path.startsWith(`${output}/`))?.[1] ??
        storePathOf(path),
      through: outputs[0]?.[1] ?? undefined,
      sha256: sha256hash ?? undefined,
      size: size === null || size === undefined ? undefined : Number(size),
      hint: typesOfFormats.get(subtype ?? "") ?? job,
      at,
    }),
  );
  const leftOut = products
    .filter((each) => !isDownload(each))
    .map(({ type, subtype, path }) => `${basename(path)} (a product of type ${type} ${subtype ?? ""})`);
  return { files, leftOut };
}

/** nixpkgs names the format of an image, which seldom determines its platform. */
const typesOfFormats = new Map([
  ["vma", "proxmox"],
  ["deb", "deb"],
  ["rpm", "rpm"],
  ["msi", "msi"],
  ["pkg", "pkg"],
]);

/** Hydra's own form: `<type> <subtype> <path, quoted if it has spaces> [entry page]`. */
const form = /^([A-Za-z0-9_-]+)\s+([A-Za-z0-9_-]+)\s+(?:"([^"]+)"|([^\s<>"]+))(?:\s+[^\s<>]+)?\s*$/;

/**
 * Reads nix-support/hydra-build-products. Hydra skips lines that it cannot read; here they are problems, because a
 * release would silently lose a file.
 */
export function readProducts(source: Source): Partial<Evidence> {
  const products: Product[] = [];
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
  return { ...filesOf(products), problems };
}
