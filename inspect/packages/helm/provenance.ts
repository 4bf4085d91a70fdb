import { malformed } from "../../verdict.ts";

export interface Chart {
  name: string;
  version: string;
}

export interface Provenance extends Chart {
  /** Name of the signed file; its SHA-256 is in the same entry. */
  file: string;
  sha256: string;
}

/**
 * Format: Chart.yaml, a line `...`, then `files:` with one entry (https://helm.sh/docs/topics/provenance/).
 * @param text already verified
 * @throws Fault malformed
 */
export async function readProvenance(text: string, what: string): Promise<Provenance> {
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

export async function readChartFile(text: string, what: string): Promise<Chart> {
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
