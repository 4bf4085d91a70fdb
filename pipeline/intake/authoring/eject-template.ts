import { failure } from "../../../shared/errors.ts";
import { pageTemplates, templateFolder, templateMark } from "../../documents/pages/page-templates.ts";
import { discover } from "../../project/discover.ts";
import { createFile, exists, inProject, requireFolder } from "../../system/files.ts";
import { type CommandContext, withLock } from "../../system/lock.ts";

/** Names of the templates that a project replaces; none without a project. */
export const replacedTemplates = async (folder: string): Promise<string[]> =>
  exists(folder) ? (await discover(folder)).templates : [];

/** Writes a template's text with the version of its values. @throws RelcatError file-exists; folder-missing */
export async function ejectTemplate(
  folder: string,
  name: string,
  text: string,
  context: CommandContext,
): Promise<string> {
  requireFolder(folder);
  if (!(name in pageTemplates)) throw new Error(`${name} is not a template`);
  const path = `${folder}/${templateFolder}/${name}`;
  return withLock(folder, context.pid, context.onWait, () => {
    const hint = "Nothing was written. Edit that file, or move it away first.";
    if (exists(path)) throw failure("file-exists", `${path} exists already`, hint);
    createFile(path, `${templateMark(name)}${text}`, inProject(folder));
    return path;
  });
}
