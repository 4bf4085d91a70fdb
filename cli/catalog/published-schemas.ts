import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { OwnPackage } from "../terminal/host.ts";

const ending = ".schema.json";

const folderOf = ({ folder }: OwnPackage) => join(folder, "schemas");

/** The names that `relcat schema` accepts, sorted: one per file, and one per output of a command. */
export function schemaNames(own: OwnPackage): { documents: string[]; outputs: string[] } {
  const files = readdirSync(folderOf(own)).filter((file) => file.endsWith(ending));
  const { $defs } = JSON.parse(readSchema("output", own));
  // Definitions that outputs share have capitals.
  const outputs = Object.keys($defs).filter((name) => /^[a-z-]+$/.test(name));
  return {
    documents: files.map((file) => file.slice(0, -ending.length)).sort(),
    outputs: outputs.map((name) => `output-${name}`).sort(),
  };
}

export const readSchema = (name: string, own: OwnPackage): string =>
  readFileSync(join(folderOf(own), `${name}${ending}`), "utf8");
