import { Fault, malformed } from "../verdict.ts";
import type { Header } from "./tar-header.ts";

export interface TarEntry {
  /** Without a leading `./` or a trailing `/`; `.` is the root folder. */
  path: string;
  /** Content size in bytes, including holes. */
  size: number;
  type: "file" | "directory" | "link" | "other";
  linkname?: string;
}

const types: Readonly<Record<string, TarEntry["type"]>> = {
  0: "file",
  S: "file",
  1: "link",
  2: "link",
  3: "other",
  4: "other",
  5: "directory",
  6: "other",
};

/** Accepts only entries whose paths stay inside the archive. @throws Fault malformed, for others */
export function pathGuard(): (header: Header) => TarEntry {
  const links = pathSet();
  return ({ kind, path: written, linkname, size }) => {
    const type = types[kind];
    if (!type) throw malformed(`the tar archive has an entry of the unknown type ${JSON.stringify(kind)}`);
    if (type !== "file" && size > 0) throw malformed(`${written} is not a file, but has ${size} bytes`);
    const path = inside(written);
    const through = ancestors(path).find((ancestor) => links.has(ancestor));
    if (through !== undefined) throw malformed(`the tar archive has ${path} behind the link ${through}`);
    if (type !== "link") return { path, size, type };
    if (kind === "1") inside(linkname);
    else if (climbsOut(path, linkname))
      throw malformed(`the link ${path} leads out of the archive, to ${linkname}`);
    if (kind === "2") links.add(path);
    return { path, size, type, linkname };
  };
}

/** Enough for 300,000 ordinary paths. */
const mostMemory = 1 << 25;
/** The usual path limit of operating systems. */
const maxPathCharacters = 4096;

/** A set with a memory limit. @returns `add` throws Fault refuse when the limit is reached */
export function pathSet(): { has(path: string): boolean; add(path: string): void } {
  const paths = new Set<string>();
  let memory = 0;
  return {
    has: (path) => paths.has(path),
    add(path) {
      memory += path.length + 64;
      if (memory > mostMemory)
        throw new Fault("refuse", `the tar archive has over ${paths.size} paths to remember`);
      paths.add(path);
    },
  };
}

function inside(path: string): string {
  const names = path.split("/");
  if (path === "" || path.length > maxPathCharacters || path.startsWith("/") || names.includes(".."))
    throw malformed(
      `the tar archive has the path ${JSON.stringify(path.slice(0, maxPathCharacters))}, expected one inside the archive`,
    );
  return names.filter((name) => name !== "" && name !== ".").join("/") || ".";
}

const ancestors = (path: string): string[] =>
  path.split("/").map((_, index, names) => names.slice(0, index + 1).join("/"));

function climbsOut(path: string, linkname: string): boolean {
  if (linkname === "") return true;
  if (linkname.startsWith("/")) return false;
  let depth = path.split("/").length - 1;
  return linkname.split("/").some((name) => {
    if (name === "..") depth--;
    else if (name !== "" && name !== ".") depth++;
    return depth < 0;
  });
}
