import { type Problem, RelcatError } from "../../../shared/errors.ts";
import { decode } from "../../../shared/source.ts";
import type { TemplateOverride } from "../../documents/pages/brand.ts";
import {
  markedVersion,
  pageTemplates,
  templateFolder,
  templateMark,
} from "../../documents/pages/page-templates.ts";
import type { AuthoredFiles } from "../authored-files.ts";
import { display } from "../display.ts";
import type { Fault } from "./template-markup.ts";

/**
 * Reads a project's own templates, and checks each one alone. Values that a template uses are checked when a
 * page is rendered.
 * @param folder the releases folder, for messages
 * @param names of the files in its template folder
 */
export async function readTemplateOverrides(
  folder: string,
  names: readonly string[],
  files: AuthoredFiles,
): Promise<{ value: TemplateOverride[]; problems: Problem[] }> {
  const templates: TemplateOverride[] = [];
  const problems: Problem[] = [];
  for (const name of names) {
    const file = `${folder}/${templateFolder}/${name}`;
    const report = (fault: Fault) => problems.push(problemIn(file, fault));
    const text = textIn(file, files.read(`${templateFolder}/${name}`) ?? new Uint8Array(), problems);
    if (text === undefined) continue;
    const fault = headFault(name, text);
    if (fault) report(fault);
    else if (name.endsWith(".hbs")) {
      // Imported lazily, because few projects have templates.
      const { templateFaults } = await import("./template-faults.ts");
      for (const each of templateFaults(name, text)) report(each);
    }
    templates.push({ name, file, text });
  }
  return { value: problems.length > 0 ? [] : templates, problems };
}

const problemIn = (file: string, { message, hint, line, column }: Fault): Problem => ({
  code: "template",
  severity: "error",
  message,
  hint,
  at: { file, line, column },
});

function textIn(file: string, bytes: Uint8Array, problems: Problem[]): string | undefined {
  try {
    return decode(file, bytes).text;
  } catch (error) {
    if (!(error instanceof RelcatError)) throw error;
    problems.push(...error.problems);
    return undefined;
  }
}

function headFault(name: string, text: string): Fault | undefined {
  const top = { line: 1, column: 1 };
  const current = pageTemplates[name]?.version;
  if (current === undefined) {
    const expected = `expected one of ${Object.keys(pageTemplates).join(", ")}`;
    return {
      ...top,
      message: `relcat has no template ${display(name)}, ${expected}`,
      hint: "Rename or remove the file; relcat templates lists what each template is for.",
    };
  }
  const version = markedVersion(name, text);
  const mark = templateMark(name).trim();
  if (version === undefined) {
    return {
      ...top,
      message: `the first line does not say which version of ${name} it replaces, expected ${mark}`,
      hint: `Write that line, or start from relcat's own: relcat templates eject ${name}.`,
    };
  }
  if (version === current) return undefined;
  return {
    ...top,
    message: `the template was written for version ${version} of ${name}, expected ${current}`,
    hint: `Compare it with relcat's own, which relcat templates show ${name} prints, then write ${mark} as its first line.`,
  };
}
