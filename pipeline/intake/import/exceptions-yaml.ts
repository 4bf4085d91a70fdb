import { parseDocument } from "yaml";
import type { Exception } from "../../documents/exceptions.ts";

/**
 * Writes exceptions.yaml; existing entries come first and change only their counts.
 * @param text current content, undefined if the file is missing
 * @param schemas folder of the JSON Schemas, relative to the project
 */
export function exceptionsYaml(
  text: string | undefined,
  exceptions: readonly Exception[],
  schemas: string,
): string {
  if (text === undefined) return newFile(exceptions, schemas);
  const document = parseDocument(text);
  if (document.contents === null) return text.replace(/\n*$/, "\n") + lines(exceptions);
  for (const [index, exception] of exceptions.entries()) {
    if (document.hasIn([index])) document.setIn([index, "count"], exception.count);
    else document.addIn([], document.createNode(exception, { flow: true }));
  }
  return document.toString({ lineWidth: 0, flowCollectionPadding: true });
}

const newFile = (exceptions: readonly Exception[], schemas: string) =>
  `# yaml-language-server: $schema=../${schemas}/exceptions.schema.json
#
# What imported records break, accepted as history: so many problems of a rule in these versions, not one more.
${lines(exceptions)}`;

const lines = (exceptions: readonly Exception[]) =>
  exceptions
    .map(({ rule, versions, count }) => `- { rule: ${rule}, versions: "${versions}", count: ${count} }\n`)
    .join("");
