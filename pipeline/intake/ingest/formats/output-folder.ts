import { basename, join, relative } from "node:path/posix";
import { decode } from "../../../../shared/source.ts";
import { readPresent } from "../../../system/files.ts";
import { listFiles } from "../../../system/folders.ts";
import { usualType } from "../built-in-rules.ts";
import { type Evidence, type FoundFile, gather, problem, wholeFile } from "../evidence.ts";
import { readProducts } from "./hydra-build.ts";
import { recognise } from "./recognise.ts";
import { storePathOf } from "./store-path.ts";

/**
 * Only the listed products are inputs, if there is a list, or GoReleaser's artifacts.json; otherwise each file is one.
 */
export async function readFolder(
  folder: string,
  realPath: string,
  readInput: (path: string) => Promise<Partial<Evidence>>,
): Promise<Evidence> {
  const hidden: string[] = [];
  const names = await listFiles(folder, undefined, (path) => hidden.push(path));
  if (names.includes("nix-support/failed")) {
    const message = `${folder} is the output of a build that failed (nix-support/failed)`;
    const hint = "Only a build that succeeded can be released.";
    return gather([
      { problems: [problem("build-failed", wholeFile(`${folder}/nix-support/failed`), message, hint)] },
    ]);
  }
  const [products, image] = ["nix-support/hydra-build-products", "nix-support/image-info.json"].map((name) =>
    names.includes(name) ? join(folder, name) : undefined,
  );
  if (products !== undefined || image !== undefined) {
    const found = [
      products === undefined ? {} : readProducts(decode(products, readPresent(products))),
      image === undefined ? {} : readImageInfo(image),
    ];
    return locate(gather(found), folder, realPath);
  }
  const goreleaser = names.includes("artifacts.json") && isGoreleaser(join(folder, "artifacts.json"));
  const inputs = goreleaser
    ? ["artifacts.json", "metadata.json"].filter((name) => names.includes(name))
    : [...names, ...hidden.filter(isNamedAsPackage)];
  const parts: Partial<Evidence>[] = [];
  for (const name of inputs)
    if (!name.startsWith("nix-support/")) parts.push(await readInput(join(folder, name)));
  const leftOut = goreleaser ? [] : hidden.filter((name) => !isNamedAsPackage(name));
  return gather([...parts, { leftOut: leftOut.map((name) => `${name} (its name begins with a dot)`) }]);
}

/** Its name is then an error, as if it were named itself. macOS writes `._NAME` next to a file NAME. */
const isNamedAsPackage = (path: string): boolean =>
  !path.endsWith("/") && !/(?:^|\/)\._[^/]*$/.test(path) && usualType(basename(path)) !== undefined;

function readImageInfo(file: string): Partial<Evidence> {
  const recognised = recognise(file, readPresent(file));
  if ("problem" in recognised) return { problems: [recognised.problem] };
  if ("known" in recognised) return recognised.known;
  const seen = "seen" in recognised ? recognised.seen : "a checksum file";
  const message = `${seen} is not what image builds write`;
  const hint = "Expected an object with label, system and file or disks.";
  return { problems: [problem("input-unknown", wholeFile(file), message, hint)] };
}

function isGoreleaser(file: string): boolean {
  const recognised = recognise(file, readPresent(file));
  return "known" in recognised && recognised.known.leftOut !== undefined;
}

/** If the folder is a copy of a product's store path, the file is looked up at the same relative path in the copy. */
function locate(evidence: Evidence, folder: string, realPath: string): Evidence {
  const own = storePathOf(realPath);
  const files = evidence.files.map((file): FoundFile => {
    const [path = ""] = file.paths;
    const store = storePathOf(path);
    const isOwn = store !== undefined && store !== path && (own === undefined || own === store);
    return {
      ...file,
      store: store ?? own,
      paths: isOwn ? [join(folder, relative(store, path)), path] : [path],
    };
  });
  return { ...evidence, files };
}
