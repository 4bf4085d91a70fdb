import { isDeepStrictEqual } from "node:util";
import type { ModificationOptions } from "jsonc-parser";
import { isMap, type Node, parseDocument, type Scalar, stringify, type YAMLMap } from "yaml";
import { failure } from "../../../shared/errors.ts";
import type { WrittenArtifact } from "../../documents/manifest.ts";

export type Additions = Partial<Pick<WrittenArtifact, "package" | "documents">>;

/**
 * Sets members of artifacts in the text of a manifest. Everything else keeps its text, also its comments.
 * @param additions by the index of the artifact
 * @throws RelcatError artifact-conflict, if YAML has an alias or a layout to which nothing can be added
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

function formattingOf(text: string): ModificationOptions {
  const indent = /^([ \t]{1,8})\S/m.exec(text)?.[1];
  if (indent === undefined) return {};
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  return { formattingOptions: { insertSpaces: !indent.startsWith("\t"), tabSize: indent.length, eol } };
}

function inYaml(file: string, text: string, additions: ReadonlyMap<number, Additions>): string {
  const expected = parseDocument(text);
  let edited = text;
  for (const [index, members] of additions) {
    requireMap(file, index, expected.getIn(["artifacts", index], true));
    for (const [member, value] of Object.entries(members)) {
      expected.setIn(["artifacts", index, member], value);
      edited = withMember(edited, index, member, value);
    }
  }
  if (isDeepStrictEqual(parseDocument(edited).toJS(), expected.toJS())) return edited;
  const message = `${file} is written in a way to which nothing can be added`;
  throw failure("artifact-conflict", message, "Write its artifacts in block style, or as JSON.");
}

function requireMap(file: string, index: number, node: unknown): void {
  if (isMap(node)) return;
  const message = `artifacts[${index}] of ${file} is an alias, to which nothing can be added`;
  throw failure("artifact-conflict", message, "Write the artifact out in full.");
}

/** Sets a member by a change of the text alone, so that everything else keeps its layout. */
function withMember(text: string, index: number, member: string, value: unknown): string {
  const map = parseDocument(text).getIn(["artifacts", index], true) as YAMLMap<Scalar, Node>;
  const [first, last] = [map.items[0], map.items.at(-1)];
  const old = map.items.find(({ key }) => key.value === member);
  const end = endOf(old ?? last);
  if (map.flow) {
    const start = old ? startOf(old) : end;
    return `${text.slice(0, start)}${old ? "" : ", "}"${member}": ${JSON.stringify(value)}${text.slice(end)}`;
  }
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const indent = " ".repeat(startOf(first) - lineStart(text, startOf(first)));
  const lines = stringify({ [member]: value }, { lineWidth: 0 })
    .trimEnd()
    .split("\n");
  const added = lines.map((line) => (line === "" ? "" : indent + line)).join(eol) + eol;
  const rest = nextLine(text, end);
  if (old) return text.slice(0, startOf(old)) + added.slice(indent.length) + text.slice(rest);
  const before = text.slice(0, rest);
  return `${before}${before.endsWith("\n") ? "" : eol}${added}${text.slice(rest)}`;
}

type Item = { key: Scalar; value: Node | null } | undefined;

const startOf = (item: Item): number => item?.key.range?.[0] ?? 0;
const endOf = (item: Item): number => item?.value?.range?.[1] ?? item?.key.range?.[1] ?? 0;

const lineStart = (text: string, at: number): number => text.lastIndexOf("\n", at - 1) + 1;

function nextLine(text: string, at: number): number {
  if (text[at - 1] === "\n") return at;
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end + 1;
}
