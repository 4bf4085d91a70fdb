import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { strictOutputSchema } from "../../cli/output/output-schema.ts";
import { commandOutputs, documents, type OutputName } from "../../cli/output/outputs.ts";

const schema = strictOutputSchema();
const ajv = new Ajv2020({ strict: true, validateFormats: false, allErrors: true });
const validators = new Map<string, ValidateFunction>();

function validatorOf(name: OutputName): ValidateFunction {
  if (validators.size === 0) ajv.addSchema(schema);
  const known = validators.get(name) ?? ajv.compile({ $ref: `${schema.$id}#/$defs/${name}` });
  validators.set(name, known);
  return known;
}

/** Errors of a value as this output, without room for members that the schema lacks. */
export function errorsAs(name: OutputName, value: unknown): string[] {
  const validate = validatorOf(name);
  if (validate(value)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${instancePath || "/"} ${message} ${JSON.stringify(params)}`,
  );
}

/** The command of a command line, without global options. */
export function commandOf(args: readonly string[]): string | undefined {
  const words = args.filter((word, index) => !word.startsWith("-") && args[index - 1] !== "-C");
  const starts = words.map((_, index) => words.slice(0, index + 1).join(" "));
  return starts.findLast((start) => start in commandOutputs);
}

/** Commands that print lines print no document when they succeed. */
const isDocument = (name: OutputName): boolean => name in documents;

/** Other forms of output, which have formats of their own. */
const otherForms = /^(--format(=|$)|--help$|-h$|--version$|-V$)/;

/**
 * Fails if --json printed something that cli/output/ does not describe: each run of each test is a test of the
 * published schema.
 * @throws Error that names the members
 */
export function requireKnownOutput(args: readonly string[], stdout: string): void {
  if (!args.includes("--json") || stdout === "" || args.some((word) => otherForms.test(word))) return;
  const command = commandOf(args);
  const document = parsed(stdout);
  if (command === undefined || document === undefined) return;
  const names: readonly OutputName[] = commandOutputs[command as keyof typeof commandOutputs];
  const possible = ["problems" as const, ...names.filter(isDocument)];
  // A manifest for standard output is an authored document.
  if (command === "ingest" && !("schema_version" in document)) return;
  const errors = possible.map((name) => ({ name, errors: errorsAs(name, document) }));
  if (errors.some((each) => each.errors.length === 0)) return;
  const nearest = errors.reduce((a, b) => (b.errors.length <= a.errors.length ? b : a));
  throw new Error(
    [
      `relcat ${args.join(" ")} printed a document that cli/output/ does not describe as "${nearest.name}":`,
      ...nearest.errors.map((error) => `  ${error}`),
      "Describe the member there, then run npm run schemas, and update docs/json-output.md:",
      "npx vitest run test/docs/json-output.test.ts -u",
    ].join("\n"),
  );
}

function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined; // lines, or output that a test damaged on purpose
  }
}
