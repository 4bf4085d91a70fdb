import type { ChartMetadata } from "../../../shared/package-metadata.ts";
import { textsInTar } from "../../archives/packed-tar.ts";
import type { ByteSource } from "../../bytes/byte-source.ts";
import { malformed } from "../../verdict.ts";

/** Helm refuses charts whose files have more than 100 MiB. The headers of the archive need more. */
const maxUnpackedBytes = 128 << 20;

/** Reads the files of a chart, as `helm package` wrote it, that describe it. @throws Fault; whatever decompress throws */
export async function chartTexts(source: ByteSource, limit: number) {
  const texts = await textsInTar({ source, compression: "gzip" }, Math.min(limit, maxUnpackedBytes), {
    "Chart.yaml": /^[^/]+\/Chart\.yaml$/,
    "requirements.yaml": /^[^/]+\/requirements\.yaml$/,
  });
  const chart = texts["Chart.yaml"];
  if (chart === undefined) throw malformed(`${source.name} lacks Chart.yaml in a folder at its top`);
  return { chart, requirements: texts["requirements.yaml"] };
}

/** Fields are texts, except those that Helm declares as true or false. @throws Fault; whatever decompress throws */
export async function chartMetadata(
  source: ByteSource,
  { limit }: { limit: number },
): Promise<ChartMetadata> {
  const texts = await chartTexts(source, limit);
  const { name, version, ...rest } = await readMapping(texts.chart, "Chart.yaml");
  if (typeof name !== "string" || typeof version !== "string")
    throw malformed("Chart.yaml does not say name and version of the chart");
  const { deprecated } = rest;
  const dependencies = (await required(texts.requirements)) ?? rest.dependencies;
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

/** Helm reads requirements.yaml, the file of apiVersion v1, in charts of any version, and prefers it to Chart.yaml. */
async function required(requirements: string | undefined): Promise<unknown[] | undefined> {
  if (requirements === undefined) return undefined;
  const { dependencies } = await readMapping(requirements, "requirements.yaml");
  return Array.isArray(dependencies) && dependencies.length > 0 ? dependencies : undefined;
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

export type Provenance = Awaited<ReturnType<typeof readProvenance>>;

/**
 * Format: Chart.yaml, a line `...`, then `files:` with one entry (https://helm.sh/docs/topics/provenance/).
 * @param text already verified @throws Fault malformed
 */
export async function readProvenance(text: string, what: string) {
  const [description, files, ...more] = text.split("\n...\n");
  if (description === undefined || files === undefined || more.length > 0)
    throw malformed(`${what} is not Chart.yaml, a line of three dots, and the files`);
  const { files: sums, ...others } = await readMapping(files, what);
  const entries = Object.entries(sums instanceof Object ? sums : {});
  const [entry] = entries;
  if (!entry || entries.length > 1 || Object.keys(others).length > 0)
    throw malformed(`${what} signs ${entries.length} files, expected one under "files:" and nothing else`);
  const sha256 = String(entry[1]).match(/^sha256:([0-9a-f]{64})$/)?.[1];
  if (!sha256) throw malformed(`${what} has ${JSON.stringify(entry[1])} for ${entry[0]}, expected sha256:…`);
  return { ...(await readChartFile(description, what)), file: entry[0], sha256 };
}

export async function readChartFile(text: string, what: string) {
  const { name, version } = await readMapping(text, what);
  if (typeof name !== "string" || typeof version !== "string" || name === "" || version === "")
    throw malformed(`${what} does not say name and version of the chart`);
  return { name, version };
}

/** Reads YAML with all values as text. @throws Fault malformed */
export async function readMapping(text: string, what: string): Promise<Record<string, unknown>> {
  const { parse } = await import("yaml");
  try {
    // The failsafe schema keeps a version such as 1.10 as text instead of the number 1.1.
    const value: unknown = parse(text, { schema: "failsafe", logLevel: "error" }) ?? {};
    if (value instanceof Object && !Array.isArray(value)) return { ...value };
  } catch (error) {
    // The lines after the first quote the text around the fault.
    const [message = ""] = (error instanceof Error ? error.message : String(error)).split("\n", 1);
    throw malformed(`${what} cannot be read: ${message.replace(/:$/, "")}`);
  }
  throw malformed(`${what} is not a mapping`);
}
