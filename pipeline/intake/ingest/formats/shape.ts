import { z } from "zod";
import { expects, text } from "../../../documents/fields.ts";
import type { Problem } from "../../../errors.ts";
import { checkShape, type Located } from "../../../project/document.ts";
import type { Source, Syntax } from "../../../project/source.ts";
import type { Evidence } from "../evidence.ts";

/** A document that tools leave behind: how to know it, what it must look like, what it says. */
export interface Shape {
  /** As error messages list what is accepted. */
  title: string;
  /** Whether a value is meant to be this, judged by its form; never by a version number or file name. */
  fits(value: unknown): boolean;
  /** What a document of this shape says; where it is malformed, the problems say so. */
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

/** An object of another tool's: keys that relcat does not read may come and go. */
export const loose = <T extends z.core.$ZodLooseShape>(fields: T) =>
  z.looseObject(fields, expects("wrong-type", "an object"));

const wholeNumber = expects("size-range", "a whole number, 0 or more");

/** Whole numbers that some tools write as text. */
export const count = z.union(
  [z.int(wholeNumber).min(0, wholeNumber), text("size-range", /^\d{1,15}$/, "a whole number, 0 or more")],
  wholeNumber,
);

/** A list with something in it, all of it of one kind. */
export const isListOf = (value: unknown, each: (item: unknown) => boolean): value is unknown[] =>
  Array.isArray(value) && value.length > 0 && value.every(each);
