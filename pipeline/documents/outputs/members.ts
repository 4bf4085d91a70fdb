import { z } from "zod";

/** Each member of an output has a description, from which docs/json-output.md is generated. */
export const text = (description: string) => z.string().describe(description);
export const count = (description: string) => z.int().min(0).describe(description);
export const flag = (description: string) => z.boolean().describe(description);
export const list = <T extends z.ZodType>(each: T, description: string) =>
  z.array(each).describe(description);
export const texts = (description: string) => list(z.string(), description);
export const oneOf = <const T extends readonly string[]>(values: T, description: string) =>
  z.enum(values).describe(description);
export const table = <T extends z.ZodType>(each: T, description: string) =>
  z.record(z.string(), each).describe(description);

export const object = z.strictObject;

export const document = <T extends z.core.$ZodLooseShape>(description: string, shape: T) =>
  z.strictObject({ schema_version: schemaVersion, ...shape }).describe(description);

/** A document as a function returns it: printing adds schema_version. */
export type Result<T extends z.ZodType> = Omit<z.infer<T>, "schema_version">;

export const line = <T extends z.core.$ZodLooseShape>(description: string, shape: T) =>
  z.strictObject(shape).describe(description);

const schemaVersion = z.literal(1).describe("Version of the format.");

export const dryRun = flag("Whether it was a dry run, which writes nothing.");

const position = z.int().min(1).nullable();

export const problem = object({
  code: text("Stable name of the kind of problem, such as version-format."),
  severity: oneOf(["error", "warning"], "Only errors make a command fail."),
  message: text("One sentence for people."),
  hint: text("How to fix it, for people.").nullable(),
  file: text("File that has the problem.").nullable(),
  line: position.describe("Line, from 1."),
  column: position.describe("Column, from 1, in UTF-16 units."),
}).meta({ id: "Problem", description: "Something that is wrong, with its place." });

export const warnings = list(problem, "Problems that did not prevent the command from finishing.");

export const problems = document(
  "Printed by every command that refuses or fails, instead of its own output.",
  {
    problems: list(problem, "All problems, in order of file, line and column."),
  },
);
