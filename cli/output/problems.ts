import { z } from "zod";
import { document, list, object, oneOf, text } from "./members.ts";

const position = z.int().min(1).nullable();

export const problem = object({
  code: text("Stable name of the kind of problem, such as version-format."),
  severity: oneOf(["error", "warning"], "Only errors make a command fail."),
  message: text("One sentence for people."),
  hint: text("How to fix it, for people.").nullable(),
  file: text("File that has the problem.").nullable(),
  line: position.meta({ description: "Line, from 1." }),
  column: position.meta({ description: "Column, from 1, in UTF-16 units." }),
}).meta({ id: "Problem", description: "Something that is wrong, with its place." });

export const warnings = list(problem, "Problems that did not prevent the command from finishing.");

export const problems = document(
  "Printed by every command that refuses or fails, instead of its own output.",
  {
    problems: list(problem, "All problems, in order of file, line and column."),
  },
);
