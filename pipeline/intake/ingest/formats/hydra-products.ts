import { basename } from "node:path/posix";
import { placeAt, type Source } from "../../../../shared/source.ts";
import { type At, type Evidence, problem } from "../evidence.ts";

/** One line of nix-support/hydra-build-products. */
interface Product {
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
export function readProducts(source: Source): { products: Product[]; problems: Evidence["problems"] } {
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
  return { products, problems };
}

/** nixpkgs names the format of an image, which seldom determines its platform. */
const typesOfFormats: Readonly<Record<string, string>> = {
  vma: "proxmox",
  deb: "deb",
  rpm: "rpm",
  msi: "msi",
  pkg: "pkg",
};

export const isDownload = ({ type }: Pick<Product, "type">): boolean =>
  type === "file" || type in typesOfFormats;

export const hintOf = ({ subtype }: Pick<Product, "subtype">): string | undefined => typesOfFormats[subtype];

export const leftOutProduct = ({ type, subtype, path }: Omit<Product, "at">): string =>
  `${basename(path)} (a product of type ${type} ${subtype})`;
