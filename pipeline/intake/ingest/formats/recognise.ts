import { type Problem, RelcatError } from "../../../../shared/errors.ts";
import { parseJson } from "../../../../shared/json.ts";
import { decode, placeAt, type Source, type Syntax, SyntaxProblem } from "../../../../shared/source.ts";
import { parseYaml } from "../../../project/yaml.ts";
import type { Evidence } from "../evidence.ts";
import { finishedManifest } from "./finished-manifest.ts";
import { goreleaserArtifacts, goreleaserMetadata } from "./goreleaser.ts";
import { hydraBuild, hydraRunCommand } from "./hydra-build.ts";
import { imageInfo } from "./image-info.ts";
import { isNarinfo, readNarinfo } from "./narinfo.ts";
import { derivations, nixBuild, nixFlake } from "./nix-build.ts";
import { pathInfos } from "./nix-path-info.ts";
import type { Shape } from "./shape.ts";
import { isSums } from "./sums.ts";

/** All supported documents. No value matches two of them. */
const shapes: readonly Shape[] = [
  nixBuild,
  ...pathInfos,
  ...derivations,
  nixFlake,
  hydraRunCommand,
  hydraBuild,
  imageInfo,
  goreleaserArtifacts,
  goreleaserMetadata,
  finishedManifest,
];

export const accepted: string = [
  ...new Set(shapes.map(({ title }) => title)),
  "a .narinfo",
  "an output folder",
  "a file for download",
].join(", ");

/** Large, because the closure of an image has thousands of store paths. */
export const maxInputBytes = 64 * 1024 * 1024;

export type Recognised =
  | { known: Partial<Evidence> }
  /** A checksum file, which belongs to --sums. */
  | { sums: true }
  /** For an unsupported document: a description of it, or the error that reading it caused. */
  | { seen: string }
  | { problem: Problem };

export const isNamedAsDocument = (name: string): boolean => /\.(json|ya?ml|narinfo)$/.test(name);

/** Tells a document from a downloadable file, by its first bytes or its name. */
export function mayBeDocument(name: string, head: Uint8Array): boolean {
  const text = new TextDecoder().decode(head);
  return isNamedAsDocument(name) || /^\s*[[{]/.test(text) || isNarinfo(text) || isSums(text);
}

export function recognise(file: string, bytes: Uint8Array): Recognised {
  let source: Source;
  try {
    source = decode(file, bytes, maxInputBytes);
  } catch (error) {
    const [problem] = error instanceof RelcatError ? error.problems : [];
    if (!problem) throw error;
    return { problem };
  }
  if (source.text.trim() === "") {
    const message = "the file is empty, expected a build output";
    const hint = "Was it written or copied only in part?";
    return { problem: { code: "json-syntax", severity: "error", message, hint, at: placeAt(source, 0) } };
  }
  if (isNarinfo(source.text)) return { known: readNarinfo(source) };
  if (isSums(source.text)) return { sums: true };
  return recogniseValue(source);
}

function recogniseValue(source: Source): Recognised {
  let syntax: Syntax;
  try {
    const isJson = /^\s*[[{]/.test(source.text) || source.file.endsWith(".json");
    syntax = isJson ? parseJson(source.text) : parseYaml(source.text);
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
    const { code, message, hint, offset } = error;
    return {
      problem: { code, severity: "error", message, ...(hint && { hint }), at: placeAt(source, offset) },
    };
  }
  const shape = shapes.find(({ fits }) => fits(syntax.value));
  return shape ? { known: shape.read(source, syntax) } : { seen: describe(syntax.value) };
}

function describe(value: unknown): string {
  if (Array.isArray(value)) {
    const first = value[0];
    return value.length === 0 ? "an empty list" : `a list of ${value.length}, the first ${describe(first)}`;
  }
  if (value === null || typeof value !== "object") return value === null ? "nothing" : `a ${typeof value}`;
  const keys = Object.keys(value);
  if (keys.length === 0) return "an empty object";
  const shown = keys.slice(0, 6).map((key) => JSON.stringify(key.length > 40 ? `${key.slice(0, 39)}…` : key));
  return `an object with ${shown.join(", ")}${keys.length > 6 ? ` and ${keys.length - 6} more keys` : ""}`;
}
