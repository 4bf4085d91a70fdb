import type { ModificationOptions } from "jsonc-parser";
import type { WrittenArtifact } from "../../documents/manifest.ts";
import { failure } from "../../errors.ts";

/** Members to set in an artifact of a manifest. */
export type Additions = Partial<Pick<WrittenArtifact, "package" | "documents">>;

/**
 * Sets members of artifacts in the text of a manifest. Everything else keeps its text and, in YAML, its comments.
 * @param additions by the index of the artifact
 * @throws RelcatError artifact-conflict, if an entry of a YAML list is an alias
 */
export async function withAdditions(
  file: string,
  text: string,
  additions: ReadonlyMap<number, Additions>,
): Promise<string> {
  return file.endsWith(".json") ? inJson(text, additions) : inYaml(file, text, additions);
}

async function inJson(text: string, additions: ReadonlyMap<number, Additions>): Promise<string> {
  const { applyEdits, modify } = await import("jsonc-parser");
  const options = formattingOf(text);
  let edited = text;
  for (const [index, members] of additions)
    for (const [member, value] of Object.entries(members))
      edited = applyEdits(edited, modify(edited, ["artifacts", index, member], value, options));
  return edited;
}

/** As the manifest is written: with its indentation, or on one line. */
function formattingOf(text: string): ModificationOptions {
  const indent = /^([ \t]{1,8})\S/m.exec(text)?.[1];
  if (indent === undefined) return {};
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  return { formattingOptions: { insertSpaces: !indent.startsWith("\t"), tabSize: indent.length, eol } };
}

async function inYaml(
  file: string,
  text: string,
  additions: ReadonlyMap<number, Additions>,
): Promise<string> {
  const { isMap, parseDocument } = await import("yaml");
  const document = parseDocument(text);
  for (const [index, members] of additions) {
    if (!isMap(document.getIn(["artifacts", index], true)))
      throw failure(
        "artifact-conflict",
        `artifacts[${index}] of ${file} is an alias, to which nothing can be added`,
        "Write the artifact out in full.",
      );
    for (const [member, value] of Object.entries(members))
      document.setIn(["artifacts", index, member], document.createNode(value));
  }
  return document.toString({ lineWidth: 0 });
}
