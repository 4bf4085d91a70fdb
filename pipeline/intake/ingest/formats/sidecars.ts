import { basename } from "node:path/posix";
import type { Code, Problem } from "../../../../shared/errors.ts";
import type { Located } from "../../../project/document.ts";
import { readBytes } from "../../../project/parse.ts";
import { readFiles } from "../../../system/files.ts";
import { pathInfo } from "../../../system/input-files.ts";
import { problem, wholeFile } from "../evidence.ts";
import { type Fields, fieldsSchema } from "../fields.ts";

const ending = ".relcat.yaml";

/** `FILE.relcat.yaml`: fields of FILE's artifact, written by the build that creates FILE. */
export const isSidecar = (path: string): boolean => path.endsWith(ending);

export type Sidecars = ReadonlyMap<string, Located<Fields>>;

/** @param given sidecars among the inputs; those next to a file are read too */
export async function readSidecars(
  given: readonly string[],
  files: readonly { name: string; paths: readonly string[] }[],
): Promise<{ sidecars: Sidecars; problems: Problem[] }> {
  const wanted = new Map<string, string>();
  const problems: Problem[] = [];
  for (const path of [...given, ...files.flatMap(({ paths }) => besides(paths))]) {
    const { kind, realPath } = pathInfo(path);
    if (kind === "missing")
      problems.push(problem("input-missing", wholeFile(path), `there is no file ${path}`, "Check the path."));
    else if (!wanted.has(realPath)) wanted.set(realPath, path);
  }
  const paths = [...wanted.values()].sort();
  const contents = await readFiles(paths);
  const sidecars = new Map<string, Located<Fields>>();
  for (const [index, path] of paths.entries()) {
    const target = basename(path).slice(0, -ending.length);
    const read = readBytes(path, contents[index] ?? new Uint8Array(), fieldsSchema);
    const other = sidecars.get(target);
    const report = (code: Code, message: string, hint: string) =>
      problems.push(problem(code, wholeFile(path), message, hint));
    if (other)
      report("ingest-conflict", `${target} has a second sidecar, ${other.file}`, "Keep one of them.");
    else if (!files.some(({ name }) => name === target)) {
      const hint = `Give ${target} too, or rename the sidecar.`;
      report("sidecar-unused", `no artifact of these inputs is called ${target}`, hint);
    } else if (read.document) sidecars.set(target, read.document);
    problems.push(...read.problems);
  }
  return { sidecars, problems };
}

const besides = (paths: readonly string[]) =>
  paths.map((path) => `${path}${ending}`).filter((path) => pathInfo(path).kind !== "missing");
