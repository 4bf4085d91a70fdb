import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path/posix";
import { parseAst } from "rolldown/parseAst";
import { repository } from "../support/run.ts";

/** Imports of each file: paths of source files, or names of modules. Types count. */
export type Imports = ReadonlyMap<string, readonly string[]>;

function sourceFiles(): string[] {
  return ["cli", "controller", "inspect", "pipeline", "service", "shared"].flatMap((folder) =>
    readdirSync(join(repository, folder), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts"))
      .map((path) => `${folder}/${path}`),
  );
}

export const readImports = (): Imports =>
  new Map(sourceFiles().map((file) => [file, importsOf(file, readFileSync(join(repository, file), "utf8"))]));

export function importsOf(file: string, text: string): string[] {
  const found = new Set<string>();
  collect(parseAst(text, { lang: "ts" }, file), found);
  return [...found].map((name) => (name.startsWith(".") ? normalize(join(dirname(file), name)) : name));
}

/** `import` and `export … from`, `import()`, types by `import()`, and workers started by `new URL("./file.ts", …)`. */
function collect(node: unknown, found: Set<string>): void {
  if (Array.isArray(node)) for (const each of node) collect(each, found);
  else if (isNode(node)) {
    const name = node.source ?? (isUrl(node) ? node.arguments?.[0] : undefined);
    if (isNode(name) && typeof name.value === "string") found.add(name.value);
    for (const each of Object.values(node)) collect(each, found);
  }
}

interface Node {
  source?: unknown;
  callee?: { name?: string };
  arguments?: unknown[];
  value?: unknown;
}

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null;

const isUrl = ({ callee, arguments: given }: Node): boolean => {
  const path = given?.[0];
  return callee?.name === "URL" && isNode(path) && /^[.].*[.]ts$/.test(String(path.value));
};
