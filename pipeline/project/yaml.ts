import {
  Composer,
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  type Pair,
  Parser,
  visit,
  type YAMLMap,
} from "yaml";
import {
  duplicateKey,
  maxDepth,
  type Path,
  type Syntax,
  SyntaxProblem,
  tooDeep,
} from "../../shared/source.ts";
import { type Fault, noTags, syntaxProblem } from "./yaml-faults.ts";

/**
 * YAML 1.2, core schema, unique text keys, one document.
 * @throws SyntaxProblem yaml-syntax, duplicate-key, nesting-depth, alias-expansion, key-not-text
 */
export function parseYaml(text: string): Syntax {
  const document = parseDocumentStrictly(text);
  let known: YamlTree | undefined;
  // Only problems need a tree again. One for each file of a project would take twenty times the memory of its text.
  const tree = () => {
    known ??= new YamlTree(parseDocumentStrictly(text));
    return known;
  };
  const value = toValue(document);
  const budget = { values: Math.max(text.length, 10_000) };
  const deep = firstBeyond(value, maxDepth, budget);
  if (budget.values < 0) throw aliasProblem(document);
  if (deep) throw tooDeep(tree().locate(deep, "value"));
  return {
    value,
    locate: (path, part) => tree().locate(path, part),
    spelling: (path) => tree().spelling(path),
  };
}

/**
 * The first value that is too deep. Only aliases give more values than the text has characters: the budget ends those.
 */
function firstBeyond(
  value: unknown,
  levels: number,
  budget: { values: number },
): (string | number)[] | undefined {
  if (--budget.values < 0 || value === null || typeof value !== "object") return undefined;
  if (levels === 0) return [];
  for (const key of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    const path = firstBeyond((value as Record<string | number, unknown>)[key], levels - 1, budget);
    if (path) return [key, ...path];
    if (budget.values < 0) return undefined;
  }
  return undefined;
}

function parseDocumentStrictly(text: string): Document {
  const { documents, faults } = compose(text);
  const [document, second] = documents;
  if (faults.length > 0 || !document) throw syntaxProblem(faults, text);
  if (second) {
    const message = "the file contains more than one document";
    const hint = "Keep one document per file; remove the `---`.";
    throw new SyntaxProblem("yaml-syntax", second.range?.[0] ?? 0, message, hint);
  }
  checkNodes(document, text);
  return document;
}

/** At most two documents, because the second is an error, and a hundred errors: garbage gives one per character. */
function compose(text: string): { documents: Document[]; faults: Fault[] } {
  // checkNodes checks keys, because the library compares each key with all earlier ones.
  const composer = new Composer({ version: "1.2", schema: "core", uniqueKeys: false, prettyErrors: false });
  const faults: Fault[] = [];
  const enough = new Error();
  Reflect.set(
    composer,
    "onError",
    (source: number | number[] | { offset: number }, code: Fault["code"], message: string) => {
      if (faults.length === 100) throw enough;
      const offset =
        typeof source === "number" ? source : Array.isArray(source) ? (source[0] ?? 0) : source.offset;
      faults.push({ code, offset, message });
    },
  );
  const documents: Document[] = [];
  try {
    for (const document of composer.compose(boundedTokens(text), true, text.length)) {
      for (const { code, pos, message } of [...document.errors, ...document.warnings]) {
        faults.push({ code, offset: pos[0], message });
      }
      if (documents.push(document) === 2) break;
    }
  } catch (error) {
    if (error !== enough) throw error;
  }
  return { documents, faults };
}

/** Rejects deep nesting before any recursive code sees the tokens. */
function* boundedTokens(text: string) {
  const parser = new Parser();
  let errors = 0;
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) {
      yield token;
      if (token.type === "error" && ++errors === 100) return;
    }
    const open = parser.stack.length > maxDepth ? parser.stack.filter(isCollection) : [];
    if (open.length > maxDepth) throw tooDeep(open[maxDepth]?.offset ?? 0);
  }
  yield* parser.end();
}

const isCollection = ({ type }: Parser["stack"][number]) =>
  type === "block-map" || type === "block-seq" || type === "flow-collection";

function checkNodes(document: Document, text: string): void {
  visit(document, {
    Node(_, node) {
      const tagged = "tag" in node && node.tag;
      if (tagged) throw new SyntaxProblem("yaml-syntax", startOfTag(text, startOf(node)), ...noTags);
      if (isMap(node)) checkKeys(node, text);
    },
  });
}

/** The tag comes before its value; `!!str` begins with two. */
function startOfTag(text: string, value: number): number {
  const mark = text.lastIndexOf("!", value);
  return text[mark - 1] === "!" ? mark - 1 : mark;
}

function checkKeys(map: YAMLMap, text: string): void {
  const seen = new Map<string, number>();
  for (const pair of map.items) {
    const key = textKey(pair, map);
    const offset = startOf(pair.key, map);
    const first = seen.get(key);
    if (first !== undefined) throw duplicateKey(key, text, first, offset);
    seen.set(key, offset);
  }
}

function textKey({ key }: Pair, map: YAMLMap): string {
  const offset = startOf(key, map);
  if (!isScalar(key) || typeof key.value !== "string") {
    const bare = isScalar(key) && key.source;
    const hint = bare ? `Quote it: "${bare}".` : "Write the key as text, in quotes where it is empty.";
    const message = `a key is ${bare ? `the bare ${bare}` : "not text"}, expected text`;
    throw new SyntaxProblem("key-not-text", offset, message, hint);
  }
  if (key.value !== "<<" || key.type !== "PLAIN") return key.value;
  const hint = "Write the keys out, or use a whole alias as a value.";
  throw new SyntaxProblem("yaml-syntax", offset, "merge keys (<<) are not part of YAML 1.2", hint);
}

function toValue(document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error;
    throw aliasProblem(document);
  }
}

function aliasProblem(document: Document): SyntaxProblem {
  const anchors = new Set<string>();
  let first: number | undefined;
  let problem: SyntaxProblem | undefined;
  visit(document, {
    Node(_, node) {
      if ("anchor" in node && node.anchor) anchors.add(node.anchor);
      if (!isAlias(node)) return undefined;
      first ??= startOf(node);
      if (anchors.has(node.source)) return undefined;
      const message = `the alias *${node.source} has no anchor &${node.source} before it`;
      problem = new SyntaxProblem("yaml-syntax", startOf(node), message, "Quote text that starts with *.");
      return visit.BREAK;
    },
  });
  const hint = "Write the values out instead of repeating anchors of anchors.";
  const message = "aliases repeat anchors more than 100 times, or by more than the file's own length";
  return problem ?? new SyntaxProblem("alias-expansion", first ?? 0, message, hint);
}

class YamlTree {
  readonly document: Document;
  private readonly pairs = new WeakMap<YAMLMap, Map<unknown, Pair>>();

  constructor(document: Document) {
    this.document = document;
  }

  locate(path: Path, part: "key" | "value"): number {
    let node: unknown = this.document.contents;
    let offset = startOf(node);
    for (const [index, step] of path.entries()) {
      const pair = this.child(node, step);
      if (!pair) break;
      if (part === "key" && index === path.length - 1 && pair.key)
        return startOf(pair.key, undefined, offset);
      node = pair.value;
      offset = startOf(node, undefined, offset);
    }
    return offset;
  }

  spelling(path: Path): string | undefined {
    let node: unknown = this.document.contents;
    for (const step of path) node = this.child(node, step)?.value;
    return isScalar(node) && node.type === "PLAIN" ? node.source : undefined;
  }

  private child(parent: unknown, step: string | number): { key?: unknown; value: unknown } | undefined {
    const node = isAlias(parent) ? parent.resolve(this.document) : parent;
    if (isSeq(node))
      return typeof step === "number" && step < node.items.length ? { value: node.items[step] } : undefined;
    return isMap(node) ? this.pairsOf(node).get(step) : undefined;
  }

  private pairsOf(map: YAMLMap): Map<unknown, Pair> {
    const known =
      this.pairs.get(map) ??
      new Map(map.items.map((pair) => [isScalar(pair.key) ? pair.key.value : pair.key, pair]));
    this.pairs.set(map, known);
    return known;
  }
}

/** Offset of a node, or of its parent if it has none. */
function startOf(node: unknown, parent?: unknown, otherwise = 0): number {
  if (isNode(node) && node.range) return node.range[0];
  return parent === undefined ? otherwise : startOf(parent);
}
