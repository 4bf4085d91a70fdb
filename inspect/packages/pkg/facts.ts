import { inflateSync } from "node:zlib";
import type { Xar } from "../../archives/xar.ts";
import { partOf } from "../../bytes/byte-source.ts";
import { mostBytes, readSmall, utf8 } from "../../bytes/small-file.ts";
import { readXml, type XmlElement } from "../../bytes/xml.ts";
import type { Fact } from "../../inspection.ts";
import { malformed } from "../../verdict.ts";

/** Reads the Distribution and each component's PackageInfo. @throws Fault malformed */
export async function pkgFacts(xar: Xar): Promise<Record<string, Fact>> {
  const { distribution, packages } = await readPkgDocuments(xar);
  const components = packages.map(({ attributes }) => ({
    identifier: attributes.identifier ?? null,
    version: attributes.version ?? null,
  }));
  const product = distribution?.first("product")?.attributes ?? {};
  const [first, ...others] = new Set(components.map(({ version }) => version));
  return {
    name: distribution?.first("title")?.text || null,
    identifier: product.id ?? (components.length === 1 ? (components[0]?.identifier ?? null) : null),
    // Without a version of its own, the installer gets that of its components, if they agree.
    version: product.version ?? (others.length === 0 ? (first ?? null) : null),
    components,
  };
}

/** @throws Fault malformed */
export async function readPkgDocuments(xar: Xar) {
  const [distribution] = await documents(xar, "Distribution", ["installer-gui-script", "installer-script"]);
  return { distribution, packages: await documents(xar, "PackageInfo", ["pkg-info"]) };
}

function documents(xar: Xar, name: string, roots: readonly string[]): Promise<XmlElement[]> {
  const files = xar.files.filter(({ path }) => path.split("/").at(-1) === name);
  return Promise.all(files.map((file) => readXml(textOf(xar, file), roots, file.path)));
}

function textOf({ heap }: Xar, { path, parts: [content] }: Xar["files"][number]): string {
  if (!content) throw malformed(`${path} has no content`);
  const bytes = readSmall(partOf(heap, content.offset, content.size, path));
  if (content.encoding !== "application/x-gzip") return utf8(bytes, path);
  try {
    return utf8(inflateSync(bytes, { maxOutputLength: mostBytes }), path);
  } catch (error) {
    throw malformed(`${path} cannot be unpacked: ${(error as Error).message}`);
  }
}
