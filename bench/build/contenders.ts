import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { bundle } from "../../cli/bundle.ts";
import { debianVersion, lacking } from "./debian.ts";
import { installEleventy, versionOf } from "./installed.ts";
import { makeRpms } from "./rpms.ts";
import type { Command } from "./runs.ts";

/** A program that makes the list, the releases and the pages out of a catalog. */
export interface Contender {
  name: string;
  /** With versions. */
  madeOf: string;
  /** Whether its outputs are those of the others. */
  isCompared: boolean;
  /** @param project the folder of a catalog with so many artifacts */
  command(project: string, artifacts: number): Promise<Command>;
}

/** Who builds, and who was left out, and why. */
export interface Field {
  contenders: Contender[];
  leftOut: string[];
}

const peers = join(import.meta.dirname, "peers");
const repository = join(import.meta.dirname, "../..");
export const ours = "relcat, the same outputs";

/** @param work where Eleventy is installed and what Node compiled is kept */
export async function gatherContenders(work: string): Promise<Field> {
  const field: Field = { contenders: [], leftOut: [] };
  // As an installed package would be, Node's programs are compiled: what strips types off must not count.
  const compiled = { NODE_COMPILE_CACHE: join(work, "compiled") };
  const own = join(work, "same-outputs");
  await bundle(own, join(import.meta.dirname, "same-outputs.ts"));
  writeFileSync(join(own, "package.json"), '{"type":"module"}\n');
  field.contenders.push(
    // In one file with its libraries, as the package is.
    nodeContender(ours, join(own, "main.js"), ["handlebars", "markdown-it", "yaml", "zod"], compiled),
    nodeContender("a careful script", join(peers, "floor.ts"), ["js-yaml", "markdown-it"], compiled),
    nodeContender(
      "a usual script",
      join(peers, "naive.ts"),
      ["fast-glob", "handlebars", "markdown-it", "yaml", "zod"],
      compiled,
    ),
  );
  await addEleventy(field, work, compiled);
  addDebian(
    field,
    "Python",
    ["python3", "python3-yaml", "python3-markdown"],
    ["/usr/bin/python3", "build.py"],
  );
  addDebian(field, "jq and shell", ["jq", "yq", "cmark"], ["sh", "jq/build.sh"]);
  addDebian(field, "Hugo", ["hugo"], ["sh", "hugo/build.sh"]);
  addCreaterepo(field, work);
  return field;
}

function nodeContender(name: string, file: string, libraries: string[], env: Command["env"]): Contender {
  const versions = libraries.map((library) => `${library} ${versionOf(repository, library)}`);
  const argv = [process.execPath, file] as const;
  return {
    name,
    madeOf: versions.join(", "),
    isCompared: true,
    command: async (project) => ({ argv, cwd: project, env: { ...env, IN: project } }),
  };
}

async function addEleventy(field: Field, work: string, env: Command["env"]): Promise<void> {
  try {
    const { folder, command } = await installEleventy(work);
    const argv = [process.execPath, command] as const;
    field.contenders.push({
      name: "Eleventy",
      madeOf: `Eleventy ${versionOf(folder, "@11ty/eleventy")}`,
      isCompared: true,
      command: async (project) => ({ argv, cwd: folder, env: { ...env, IN: project } }),
    });
  } catch {
    field.leftOut.push(`Eleventy: npm install fails in ${work}/eleventy; run it there to see why`);
  }
}

function addDebian(
  field: Field,
  name: string,
  packages: readonly string[],
  [program, file]: readonly [string, string],
): void {
  const argv = [program, join(peers, file)] as const;
  addInstalled(field, packages, {
    name,
    isCompared: true,
    command: async (project) => ({ argv, cwd: project, env: { IN: project } }),
  });
}

/** The reference in C: it reads as many packages and writes lists of them, but other ones. */
function addCreaterepo(field: Field, work: string): void {
  const script = 'mkdir -p "$OUT" && exec createrepo_c --quiet --no-database --outputdir "$OUT" "$RPMS"';
  addInstalled(field, ["createrepo-c", "rpm"], {
    name: "createrepo_c",
    isCompared: false,
    command: async (project, artifacts) => ({
      argv: ["sh", "-c", script],
      cwd: project,
      env: { RPMS: await makeRpms(work, artifacts) },
    }),
  });
}

function addInstalled(
  { contenders, leftOut }: Field,
  packages: readonly string[],
  contender: Omit<Contender, "madeOf">,
): void {
  const remedy = lacking(packages);
  const madeOf = packages.map((each) => `${each} ${debianVersion(each)}`).join(", ");
  if (remedy) leftOut.push(`${contender.name}: ${remedy}`);
  else contenders.push({ ...contender, madeOf });
}
