import {
  cpSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { headersDigest } from "../documents/file-headers.ts";
import { relativePath } from "../documents/relative-path.ts";
import {
  isPublishName,
  publishName,
  type SiteIndex,
  siteIndexSchema,
  siteStateSchema,
} from "../documents/site-state.ts";
import type { PublicFile, SiteStore } from "../documents/site-store.ts";
import { failure, RelcatError } from "../errors.ts";
import { sha256 } from "../trust/metadata.ts";
import { accessFailure } from "./access-failure.ts";
import { exists, readIfPresent, replaceDurably, syncToDisk } from "./files.ts";
import { withLock } from "./lock.ts";
import { metadataIn } from "./metadata-source.ts";
import { numberTaken } from "./object-taken.ts";
import { parsedAs } from "./parsed-state.ts";
import { type RootFolder, rootFolder } from "./root-folder.ts";

/** What a web server has as its root: a link that is flipped from one build to the next. */
const publicLink = "current";
/** What the web server is told, of the same build: it is nobody's to read. */
const hostingLink = "hosting";
const stateFile = "current.json";
const siblings = ["", ".gz", ".br", ".zst"];

const newText = (document: object) => new TextEncoder().encode(`${JSON.stringify(document)}\n`);

/**
 * A site in a folder: `builds/NAME/` for each publish, `current` a link to the live one, `files/` the artifacts,
 * which every build links to, and beside them what nobody is served: `current.json`, `state/`, and `hosting`, a link
 * to the live build's configuration for web servers.
 * @param pid of this process, for the lock
 */
export function dirSite(folder: string, pid: number): SiteStore {
  const at = (path: string) => join(folder, path);
  const live = metadataIn(at(publicLink));
  const indexFile = (name: string) => at(`state/${name}.json`);
  const readIndex = async (name: string) => {
    const bytes = readIfPresent(indexFile(name));
    return bytes && parsedAs(siteIndexSchema, () => bytes, indexFile(name));
  };

  return {
    place: `dir:${folder}`,
    requests: () => 0,
    async readState() {
      const bytes = readIfPresent(at(stateFile));
      if (!bytes) return undefined;
      return { state: parsedAs(siteStateSchema, () => bytes, at(stateFile)), tag: sha256(bytes) };
    },
    writeState: (state, tag) =>
      withLock(
        folder,
        pid,
        () => {},
        () => {
          const before = readIfPresent(at(stateFile));
          if ((before && sha256(before)) !== tag) return "changed" as const;
          const bytes = newText(state);
          replaceDurably(at(stateFile), bytes);
          return sha256(bytes);
        },
      ),
    readIndex,
    // The link leads to a build that was whole before it was flipped: nothing can be half-way.
    async survey() {
      const current = liveFolder(folder);
      return (current === undefined ? undefined : await readIndex(basename(current)))?.files ?? {};
    },
    read: live.read,
    head: async (path) => {
      const stat = statSync(at(path), { throwIfNoEntry: false });
      return stat?.isFile() ? { size: stat.size, sha256: undefined } : undefined;
    },
    metadataNames: live.names,
    async publish(publication, run, heartbeat) {
      const name = publishName(publication.build, run);
      const target = at(`builds/${name}`);
      const hosting = `${target}.${hostingLink}`;
      const old = liveFolder(folder);
      liveFolder(folder, hostingLink);
      rmSync(target, { recursive: true, force: true });
      const written: string[] = [];
      const roots: Roots = {
        old: old === undefined ? undefined : rootFolder(old),
        target: rootFolder(target),
        source: rootFolder(publication.folder),
      };
      try {
        for (const [index, file] of publication.files.entries()) {
          if (index % 500 === 0) await heartbeat();
          place(file, roots, written);
        }
        for (const path of Object.keys(publication.leaving).map(relativePath)) {
          const from = roots.old?.(path);
          if (from !== undefined && exists(from)) linkTo(from, roots.target(path));
        }
        if (exists(join(publication.folder, hostingLink)))
          cpSync(join(publication.folder, hostingLink), hosting, { recursive: true });
        mkdirSync(at("files"), { recursive: true });
        symlinkSync("../../files", join(target, "files"));
        // Before the link leads to them: a power cut must not leave a build of empty files.
        for (const path of written) syncToDisk(path);
      } catch (error) {
        if (error instanceof RelcatError) throw error;
        throw accessFailure(`cannot write ${target}`, error);
      }
      const files = Object.fromEntries(
        publication.files.map(({ path, sha256, size, headers }) => [
          path,
          { sha256, size, headers: headersDigest(headers) },
        ]),
      );
      const index: SiteIndex = {
        schema_version: 1,
        build: publication.build,
        files,
        leaving: { ...publication.leaving },
      };
      replaceDurably(indexFile(name), newText(index));
      await heartbeat("now");
      flip(folder, publicLink, name);
      if (exists(hosting)) flip(folder, hostingLink, `${name}.${hostingLink}`);
      return { files: name, bundles: [] };
    },
    async restore(name, into) {
      const index = await readIndex(name);
      if (!index || !existsSync(at(`builds/${name}`))) return "gone";
      const [there, here] = [rootFolder(at(`builds/${name}`)), rootFolder(into)];
      for (const [path, file] of Object.entries(index.files)) {
        const kept = readIfPresent(there(relativePath(path)));
        if (!kept || sha256(kept) !== file.sha256) return { changed: at(`builds/${name}/${path}`) };
        for (const ending of siblings) {
          const sibling = relativePath(`${path}${ending}`);
          const from = there(sibling);
          if (existsSync(from)) cpSync(from, here(sibling), { preserveTimestamps: true });
        }
      }
      const hosting = at(`builds/${name}.${hostingLink}`);
      if (exists(hosting)) cpSync(hosting, join(into, hostingLink), { recursive: true });
      return "whole";
    },
    async prune(kept) {
      const names = new Set(kept.map(({ files }) => files));
      const current = liveFolder(folder);
      const builds = exists(at("builds")) ? readdirSync(at("builds")) : [];
      const isKept = (name: string) => names.has(name) || at(`builds/${name}`) === current;
      const old = builds.filter((folder) => {
        const name = folder.replace(/[.]hosting$/, "");
        return isPublishName(name) && !isKept(name);
      });
      for (const name of old) {
        rmSync(at(`builds/${name}`), { recursive: true, force: true });
        rmSync(indexFile(name), { force: true });
      }
      return old.length;
    },
  };
}

/** Where the link leads; undefined before the first publish. */
function liveFolder(folder: string, name = publicLink): string | undefined {
  const link = join(folder, name);
  const stat = lstatSync(link, { throwIfNoEntry: false });
  if (!stat) return undefined;
  const target = stat.isSymbolicLink() ? readlinkSync(link) : "";
  if (/^builds\/[^/]+$/.test(target)) return join(folder, target);
  throw failure(
    "folder-not-ours",
    `${link} is ${target === "" ? "no link" : `a link to ${target}`}, expected the one that relcat flips from build to build`,
    "Give the site a folder of its own.",
  );
}

/** By rename: between taking a link away and putting one there, readers would find nothing. */
function flip(folder: string, link: string, name: string): void {
  const temporary = join(folder, `.relcat-tmp-${link}`);
  try {
    rmSync(temporary, { force: true });
    symlinkSync(`builds/${name}`, temporary);
    renameSync(temporary, join(folder, link));
  } catch (error) {
    throw accessFailure(`cannot make ${join(folder, link)} lead to ${name}`, error);
  }
}

/** Of the build before, the one that is made, and the folder that it is made from. */
interface Roots {
  old: RootFolder | undefined;
  target: RootFolder;
  source: RootFolder;
}

/** Unchanged files are the same file as before: their times, their siblings and the disk they take stay. */
function place(
  { path, sha256: expected, isImmutable }: PublicFile,
  { old, target, source }: Roots,
  written: string[],
): void {
  const file = target(relativePath(path));
  const oldFile = old?.(relativePath(path));
  const before = oldFile === undefined ? undefined : readIfPresent(oldFile);
  if (oldFile !== undefined && before && sha256(before) === expected) {
    linkAll(oldFile, file);
    return;
  }
  if (before && isImmutable) throw numberTaken(file);
  mkdirSync(dirname(file), { recursive: true });
  for (const ending of siblings) {
    const from = source(relativePath(`${path}${ending}`));
    if (!existsSync(from)) continue;
    // Copies, with their times: what a later build does to its folder is not published.
    cpSync(from, `${file}${ending}`, { preserveTimestamps: true });
    written.push(`${file}${ending}`);
  }
  if (sha256(readFileSync(file)) !== expected)
    throw failure(
      "build-changed",
      `${source(relativePath(path))} changed meanwhile`,
      "Build and publish again.",
    );
}

function linkAll(from: string, to: string): void {
  for (const ending of siblings)
    if (existsSync(`${from}${ending}`)) linkTo(`${from}${ending}`, `${to}${ending}`);
}

function linkTo(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  linkSync(from, to);
}
