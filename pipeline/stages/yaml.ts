import { CORE_SCHEMA, defineMappingTag, load, mapTag } from "js-yaml";
import { type Document, isAlias, isMap, isNode, isScalar, type Node, parseDocument, visit, type YAMLError } from "yaml";
import { maxDepth, type Path, SyntaxProblem, type Syntax, tooDeep } from "./source.ts";

/**
 * YAML 1.2, core schema, unique text keys, one document. `yaml` is the authority; js-yaml, nine times
 * faster, reads the plain documents on which both agree, and what it rejects `yaml` judges again.
 * @throws SyntaxProblem yaml-syntax, duplicate-key, nesting-depth, alias-expansion, key-not-text
 */
export function parseYaml(text: string): Syntax {
  const fast = plain(text) ? loadFast(text) : undefined;
  let document: Document | undefined;
  const tree = () => {
    document ??= parseDocumentStrictly(text);
    return document;
  };
  const value = fast ? fast.value : toValue(tree());
  if (deeperThan(value, maxDepth)) throw tooDeep(0);
  return {
    value,
    locate: (path, part) => locate(tree(), path, part),
    spelling: (path) => {
      const node = tree().getIn(path, true);
      return isScalar(node) ? node.source : undefined;
    },
  };
}

/** Without anchors, aliases, tags, merge keys, directives and tabs there is little to disagree about. */
const plain = (text: string) => !/[&*!%\t\r]|<</.test(text) && !/[\u0085\u2028\u2029\uFEFF]/.test(text);

const strictMap = defineMappingTag<Record<string, unknown>>("tag:yaml.org,2002:map", {
  ...(mapTag as ReturnType<typeof defineMappingTag<Record<string, unknown>>>),
  addPair: (carrier, key, value) =>
    typeof key === "string" ? mapTag.addPair(carrier, key, value) : "keys must be text",
});
const fastSchema = CORE_SCHEMA.withTags(strictMap);

function loadFast(text: string): { value: unknown } | undefined {
  try {
    return { value: load(text, { schema: fastSchema }) };
  } catch {
    return undefined;
  }
}

function parseDocumentStrictly(text: string): Document {
  refuseRunaway(text);
  let document: Document;
  try {
    document = parseDocument(text, { version: "1.2", schema: "core", stringKeys: true, prettyErrors: false });
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep(0);
    throw error;
  }
  const first = [...document.errors, ...document.warnings].sort((a, b) => a.pos[0] - b.pos[0])[0];
  if (first) throw syntaxProblem(first);
  refuseMergeKeys(document);
  return document;
}

/** Depth that would exhaust the stack of a recursive parser, found without parsing. */
function refuseRunaway(text: string): void {
  const compact = /(?:[-?:] +){200}/.exec(text);
  if (compact) throw tooDeep(compact.index);
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (c === "[" || c === "{") {
      if (++depth > 1000) throw tooDeep(i);
    } else if (c === "]" || c === "}") depth--;
  }
}

function refuseMergeKeys(document: Document): void {
  visit(document, {
    Pair(_, pair) {
      if (!isScalar(pair.key) || pair.key.value !== "<<" || pair.key.type !== "PLAIN") return;
      throw new SyntaxProblem(
        "yaml-syntax",
        pair.key.range?.[0] ?? 0,
        "merge keys (<<) are not part of YAML 1.2",
        "Write the keys out, or use a whole alias as a value.",
      );
    },
  });
}

function toValue(document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    if (!(error instanceof ReferenceError || error instanceof RangeError)) throw error;
    if (error instanceof RangeError) throw tooDeep(0);
    let offset = 0;
    visit(document, {
      Alias(_, node) {
        offset = node.range?.[0] ?? 0;
        return visit.BREAK;
      },
    });
    throw new SyntaxProblem(
      "alias-expansion",
      offset,
      "aliases repeat anchors more than 100 times",
      "Write the values out instead of repeating anchors of anchors.",
    );
  }
}

const wording: Partial<Record<YAMLError["code"], { code?: "duplicate-key" | "key-not-text"; text: string; hint?: string }>> = {
  DUPLICATE_KEY: { code: "duplicate-key", text: "the key stands twice in one object", hint: "Remove one of them." },
  NON_STRING_KEY: {
    code: "key-not-text",
    text: "keys must be text",
    hint: 'Quote the key, such as "11": YAML reads a bare 11 as a number.',
  },
  TAB_AS_INDENT: { text: "a tab is used as indentation", hint: "Indent with spaces." },
  MULTIPLE_DOCS: { text: "the file holds more than one document", hint: "Keep one document per file; remove the `---`." },
  TAG_RESOLVE_FAILED: { text: "tags (!) are not supported", hint: "Write the plain value." },
};

function syntaxProblem(error: YAMLError): SyntaxProblem {
  const known = wording[error.code];
  if (known) return new SyntaxProblem(known.code ?? "yaml-syntax", error.pos[0], known.text, known.hint);
  return new SyntaxProblem("yaml-syntax", error.pos[0], `not valid YAML: ${error.message}`);
}

function deeperThan(value: unknown, levels: number): boolean {
  if (value === null || typeof value !== "object") return false;
  if (levels === 0) return true;
  return Object.values(value).some((item) => deeperThan(item, levels - 1));
}

function locate(document: Document, path: Path, part: "key" | "value"): number {
  for (let length = path.length; length >= 0; length--) {
    const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    if (part === "key" && length === path.length && length > 0) {
      const key = keyNode(document, path);
      if (key) return key.range?.[0] ?? 0;
    }
    if (isNode(node) && node.range && !(isAlias(node) && length < path.length)) return node.range[0];
  }
  return 0;
}

function keyNode(document: Document, path: Path): Node | undefined {
  const parent = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  if (!isMap(parent)) return undefined;
  const pair = parent.items.find((item) => isScalar(item.key) && item.key.value === path.at(-1));
  return isNode(pair?.key) ? pair.key : undefined;
}
