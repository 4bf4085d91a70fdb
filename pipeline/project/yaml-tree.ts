import { type Document, isAlias, isMap, isNode, isScalar, isSeq, type Pair, type YAMLMap } from "yaml";
import type { Path } from "../../shared/source.ts";

/** Looks up locations with cached indexes per object. */
export class YamlTree {
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
export function startOf(node: unknown, parent?: unknown, otherwise = 0): number {
  if (isNode(node) && node.range) return node.range[0];
  return parent === undefined ? otherwise : startOf(parent);
}
