import type { PkgMetadata } from "../../../shared/package-metadata.ts";
import { architectureNamed } from "../../architecture.ts";
import { openXar } from "../../archives/xar.ts";
import type { ByteSource } from "../../bytes/byte-source.ts";
import type { XmlElement } from "../../bytes/xml.ts";
import { malformed } from "../../verdict.ts";
import { pkgFacts, readPkgDocuments } from "./facts.ts";

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
