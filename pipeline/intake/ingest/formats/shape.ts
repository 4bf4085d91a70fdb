import { z } from "zod";
import type { Problem } from "../../../../shared/errors.ts";
import { expects, text } from "../../../../shared/fields.ts";
import type { Source, Syntax } from "../../../../shared/source.ts";
import { checkShape, type Located } from "../../../project/document.ts";
import type { Evidence } from "../evidence.ts";

/** A document type of another tool: how to recognize, validate and read it. */
export interface Shape {
  title: string;
  /** Recognizes a value by its structure, never by a version number or file name. */
  fits(value: unknown): boolean;
  /** Reads a document; the result contains the problems of a malformed one. */
  read(source: Source, syntax: Syntax): Partial<Evidence>;
}

export function shape<S extends z.ZodType>(definition: {
  title: string;
  fits(value: unknown): boolean;
  schema: S;
  read(document: Located<z.infer<S>>): Partial<Evidence>;
}): Shape {
  const { title, fits, schema, read } = definition;
  return {
    title,
    fits,
    read(source, syntax) {
      const { document, problems } = checkShape(source, syntax, schema);
      return document ? read(document) : { problems: problems as Problem[] };
    },
  };
}

/** Objects of other tools may have unknown keys, which can change between versions. */
export const loose = <T extends z.core.$ZodLooseShape>(fields: T) =>
  z.looseObject(fields, expects("wrong-type", "an object"));

const wholeNumber = expects("size-range", "a whole number, 0 or more");

/** Some tools write whole numbers as text. */
export const count = z.union(
  [z.int(wholeNumber).min(0, wholeNumber), text("size-range", /^\d{1,15}$/, "a whole number, 0 or more")],
  wholeNumber,
);

/** True for a list that is not empty and whose items all match. */
export const isListOf = (value: unknown, each: (item: unknown) => boolean): value is unknown[] =>
  Array.isArray(value) && value.length > 0 && value.every(each);
