import type { ChartMetadata } from "../../../documents/feeds/package-metadata.ts";
import { malformed } from "../../../documents/verdict.ts";
import type { ByteSource } from "../../../system/byte-source.ts";
import { textInTar } from "../../archives/packed-tar.ts";
import { readMapping } from "./provenance.ts";

/** Chart.yaml of a chart that `helm package` wrote. @throws Fault; whatever decompress throws */
export const chartText = (source: ByteSource, limit: number): Promise<string> =>
  textInTar({ source, compression: "gzip" }, limit, /^[^/]+\/Chart\.yaml$/, "Chart.yaml");

/**
 * Reads Chart.yaml as an object. Its fields are texts, except those that Helm declares as true or false.
 * @throws Fault; whatever decompress throws
 */
export async function chartMetadata(
  source: ByteSource,
  { limit }: { limit: number },
): Promise<ChartMetadata> {
  const { name, version, ...rest } = await readMapping(await chartText(source, limit), "Chart.yaml");
  if (typeof name !== "string" || typeof version !== "string")
    throw malformed("Chart.yaml does not say name and version of the chart");
  const { deprecated, dependencies } = rest;
  return {
    type: "helm",
    chart: {
      name,
      version,
      ...rest,
      ...(deprecated !== undefined && { deprecated: asFlag(deprecated, "deprecated") }),
      ...(Array.isArray(dependencies) && { dependencies: dependencies.map(dependency) }),
    },
  };
}

function dependency(written: unknown): unknown {
  if (!(written instanceof Object) || !("enabled" in written)) return written;
  return { ...written, enabled: asFlag(written.enabled, "enabled of a dependency") };
}

/** Spellings of YAML 1.1, which Helm reads. */
const flags = new Map([
  ...["true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"].map((word) => [word, true] as const),
  ...["false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"].map((word) => [word, false] as const),
]);

function asFlag(value: unknown, what: string): boolean {
  const flag = flags.get(String(value));
  if (flag !== undefined) return flag;
  throw malformed(`Chart.yaml has ${JSON.stringify(value)} for ${what}, expected true or false`);
}
