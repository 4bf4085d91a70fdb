import { inflateSync } from "node:zlib";
import type { PkgMetadata } from "../../../shared/package-metadata.ts";
import { architectureNamed } from "../../architecture.ts";
import { openXar, type Xar } from "../../archives/xar.ts";
import { type ByteSource, maxSmallFileBytes, partOf, readSmall, utf8 } from "../../bytes/byte-source.ts";
import { readXml, type XmlElement } from "../../bytes/xml.ts";
import type { Fact } from "../../inspection.ts";
import { malformed, refused } from "../../verdict.ts";

/** Reads the table of contents and the descriptions, without the payloads. @throws Fault */
export async function pkgMetadata(source: ByteSource): Promise<PkgMetadata> {
  const xar = await openXar(source);
  const { identifier, version } = await pkgFacts(xar);
  if (typeof identifier !== "string" || typeof version !== "string")
    throw malformed("it does not say one identifier and one version for the whole installer");
  const { distribution, packages } = await readPkgDocuments(xar);
  const arch = soleArchitecture(distribution);
  const minOs = only([
    ...(distribution ? minimaOf(distribution) : []),
    ...packages.map(({ attributes }) => attributes.minimumSystemVersion),
  ]);
  return { type: "pkg", identifier, version, ...(arch && { arch }), ...(minOs && { min_os: minOs }) };
}

/** Undefined: the package installs on both architectures, or does not declare any. */
function soleArchitecture(distribution: XmlElement | undefined) {
  const hosts = distribution?.first("options")?.attributes.hostArchitectures?.split(",") ?? [];
  const [host, ...others] = hosts.map((name) => name.trim()).filter((name) => name !== "");
  return host === undefined || others.length > 0 ? undefined : architectureNamed(host);
}

const minimaOf = (distribution: XmlElement) =>
  [distribution, ...distribution.all("volume-check")]
    .flatMap((parent) => parent.all("allowed-os-versions"))
    .flatMap((allowed) => allowed.all("os-version"))
    .map(({ attributes }) => attributes.min);

function only(values: readonly (string | undefined)[]): string | undefined {
  const [value, ...others] = new Set(values.filter((each) => each !== undefined && each !== ""));
  return others.length === 0 ? value : undefined;
}

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
async function readPkgDocuments(xar: Xar) {
  const [distribution] = await documents(xar, "Distribution", ["installer-gui-script", "installer-script"]);
  return { distribution, packages: await documents(xar, "PackageInfo", ["pkg-info"]) };
}

/** More than the descriptions of any installer. Packed, thousands of them have the size of one. */
const maxDocumentBytes = 1 << 25;

async function documents(xar: Xar, name: string, roots: readonly string[]): Promise<XmlElement[]> {
  const files = xar.files.filter(({ path }) => path.split("/").at(-1) === name);
  let size = 0;
  const texts = files.map((file) => {
    const text = textOf(xar, file);
    size += text.length;
    if (size > maxDocumentBytes)
      throw refused(`its files called ${name} have over ${maxDocumentBytes} bytes together`);
    return { text, path: file.path };
  });
  return Promise.all(texts.map(({ text, path }) => readXml(text, roots, path)));
}

function textOf({ heap }: Xar, { path, parts: [content] }: Xar["files"][number]): string {
  if (!content) throw malformed(`${path} has no content`);
  const bytes = readSmall(partOf(heap, content.offset, content.size, path));
  if (content.encoding !== "application/x-gzip") return utf8(bytes, path);
  try {
    return utf8(inflateSync(bytes, { maxOutputLength: maxSmallFileBytes }), path);
  } catch (error) {
    throw malformed(`${path} cannot be unpacked: ${(error as Error).message}`);
  }
}
