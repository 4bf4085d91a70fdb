import { failure, type Problem, RelcatError } from "../../../../shared/errors.ts";
import { parseJson } from "../../../../shared/json.ts";
import { decode, parseSource, placeAt } from "../../../../shared/source.ts";
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
  try {
    const source = decode(file, bytes, maxInputBytes);
    const { text } = source;
    if (text.trim() === "") {
      const message = "the file is empty, expected a build output";
      throw failure("json-syntax", message, "Was it written or copied only in part?", placeAt(source, 0));
    }
    if (isNarinfo(text)) return { known: readNarinfo(source) };
    if (isSums(text)) return { sums: true };
    const isJson = /^\s*[[{]/.test(text) || file.endsWith(".json");
    const syntax = parseSource(source, isJson ? parseJson : parseYaml);
    const shape = shapes.find(({ fits }) => fits(syntax.value));
    return shape ? { known: shape.read(source, syntax) } : { seen: describe(syntax.value) };
  } catch (error) {
    const [problem] = error instanceof RelcatError ? error.problems : [];
    if (!problem) throw error;
    return { problem };
  }
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
