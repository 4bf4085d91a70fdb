import { z } from "zod";
import { date, version } from "../../../shared/fields.ts";
import { notesDocumentSchema } from "../site.ts";
import { count, document, flag, list, object, oneOf, problem, text, texts } from "./members.ts";

const status = z.int().min(0).max(70);

export const authoring = {
  init: document("The files of a new project.", {
    folder: text("Folder of the project."),
    files: texts("The written files, relative to the folder."),
    version: version.describe("Version of the first release."),
    relcat: text("Version or package file of relcat that package.json names."),
    locked: flag("Whether package-lock.json was written."),
  }),
  new: document("A release that was opened.", {
    version: version.describe("Version of the release."),
    date: date.describe("Date of the release."),
    folder: text("Folder of the release."),
    notes: texts("Names of the waiting notes that were moved into it."),
  }),
  "notes-show": notesDocumentSchema
    .extend({
      version: z
        .union([version, z.literal("next")])
        .describe("Version of the release; next for the waiting notes."),
    })
    .describe("The notes of a release: relcat schema release-notes."),
  "notes-lint": document("Problems in notes. Exit status 1 if one of them is an error.", {
    errors: count("Number of errors."),
    warnings: count("Number of warnings."),
    problems: list(problem, "All problems, in order of file, line and column."),
  }),
  "notes-add": document("A new note.", { file: text("The file that was written.") }),
};

export const tools = {
  "templates-list": document("The templates of pages.", {
    templates: list(
      object({
        name: text("Name of the template, with its ending."),
        version: count("Version of its values."),
        replaced: flag("Whether the project replaces it."),
        use: text("The page or part that it is for."),
      }),
      "All templates, sorted by name.",
    ),
  }),
  "templates-show": document("A template of relcat.", {
    name: text("Name of the template."),
    version: count("Version of its values."),
    text: text("Its content."),
  }),
  "templates-eject": document("A template that was copied into the project.", {
    name: text("Name of the template."),
    file: text("The file that was written."),
  }),
  schema: document("A JSON Schema.", {
    name: text("Name of the schema."),
    schema: z.looseObject({}).describe("The schema itself."),
  }),
  "schema-list": document("Printed with --list.", {
    schemas: texts("Names that relcat schema accepts, sorted."),
  }),
  completion: document("A completion script.", {
    shell: oneOf(["bash", "zsh", "fish", "powershell"], "The shell that reads it."),
    script: text("The script."),
  }),
  "help-topic": document("A topic of relcat help. Each topic has other members.", {
    topic: oneOf(["exit-codes", "environment", "configuration", "json"], "Name of the topic."),
    statuses: list(
      object({
        status: status.describe("The exit status."),
        meaning: text("Its meaning, for people."),
        codes: texts("Codes of problems that have this exit status."),
      }),
      "Topic exit-codes: all exit statuses.",
    ).optional(),
    commands: list(
      object({
        command: text("Words of the command."),
        statuses: list(status, "Exit statuses that it can have."),
      }),
      "Topic exit-codes: all commands.",
    ).optional(),
    variables: list(
      object({ name: text("Name of the variable."), purpose: text("Its purpose, for people.") }),
      "Topic environment: variables that relcat reads.",
    ).optional(),
    file: text("Topic configuration: the file.").optional(),
    keys: list(
      object({ key: text("Name of the key."), purpose: text("Its purpose, for people.") }),
      "Topic configuration: keys of the file.",
    ).optional(),
    schemas: text("Topic json: the command that lists the schemas.").optional(),
  }),
};
