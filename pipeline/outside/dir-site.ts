import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { basename, join } from "node:path";
import { headersDigest } from "../documents/file-headers.ts";
import { lease, type PublishTurn } from "../documents/publish-turn.ts";
import { relativePath } from "../documents/relative-path.ts";
import {
  isPublishName,
  publishName,
  type SiteIndex,
  siteIndexSchema,
  siteStateSchema,
} from "../documents/site-state.ts";
import type { KeptFile, Publication, SiteStore } from "../documents/site-store.ts";
import { failure, RelcatError } from "../errors.ts";
import { sha256 } from "../trust/metadata.ts";
import { accessFailure } from "./access-failure.ts";
import { exists, readIfPresent, replaceDurably, syncToDisk } from "./files.ts";
import { withLock } from "./lock.ts";
import { surveyBuild } from "./look-at-build.ts";
import { metadataIn } from "./metadata-source.ts";
import { parsedAs } from "./parsed-state.ts";
import { linkTo, type Placing, placeFile, placeHosting } from "./place-build.ts";
import { rootFolder } from "./root-folder.ts";

/** What a web server has as its root: a link that is flipped from one build to the next. */
const publicLink = "current";
/** What the web server is told, of the same build: it is nobody's to read. */
const hostingLink = "hosting";
const stateFile = "current.json";

const newText = (document: object) => new TextEncoder().encode(`${JSON.stringify(document)}\n`);

/**
 * A site in a folder: `builds/NAME/` for each publish, `current` a link to the live one, `files/` the artifacts,
 * which every build links to, and beside them what nobody is served: `current.json`, `state/`, and `hosting`, a link
 * to the live build's configuration for web servers.
 * @param pid of this process, for the lock
 */
export function dirSite(folder: string, pid: number): SiteStore {
  const at = (path: string) => join(folder, path);
  /** What attackers could have put a link in the place of. */
  const checkedAt = (path: string) => rootFolder(folder)(relativePath(path));
  const live = metadataIn(at(publicLink));
  const indexFile = (name: string) => checkedAt(`state/${name}.json`);
  const readIndex = async (name: string) => {
    const bytes = readIfPresent(indexFile(name));
    return bytes && parsedAs(siteIndexSchema, () => bytes, indexFile(name));
  };

  const readState = () => {
    const bytes = readIfPresent(checkedAt(stateFile));
    if (!bytes) return undefined;
    return { state: parsedAs(siteStateSchema, () => bytes, at(stateFile)), tag: sha256(bytes) };
  };
  const locked = <T>(work: () => T) => withLock(folder, pid, () => {}, work);

  return {
    place: `dir:${folder}`,
    requests: () => 0,
    readState: async () => readState(),
    writeState: (state, tag) =>
      locked(() => {
        const before = readIfPresent(at(stateFile));
        if ((before && sha256(before)) !== tag) return "changed" as const;
        const bytes = newText(state);
        replaceDurably(at(stateFile), bytes);
        return sha256(bytes);
      }),
    readIndex,
    async survey(request) {
      const current = liveFolder(folder);
      const index = current === undefined ? undefined : await readIndex(basename(current));
      const links = { [publicLink]: current, [hostingLink]: liveFolder(folder, hostingLink) };
      return surveyBuild(folder, links, index?.files ?? {}, request);
    },
    read: live.read,
    head: async (path) => {
      const stat = statSync(checkedAt(path), { throwIfNoEntry: false });
      return stat?.isFile() ? { size: stat.size, sha256: undefined } : undefined;
    },
    metadataNames: live.names,
    async publish(publication, turn) {
      const name = publishName(publication.build, turn.run);
      const target = at(`builds/${name}`);
      const hosting = `${target}.${hostingLink}`;
      const old = liveFolder(folder);
      liveFolder(folder, hostingLink);
      await locked(() => {
        turn.requireOurs(readState()?.tag);
        for (const path of [target, hosting]) rmSync(path, { recursive: true, force: true });
      });
      const folders = {
        target: rootFolder(target),
        old: old === undefined ? undefined : rootFolder(old),
        source: rootFolder(publication.folder),
      };
      await placeBuild({ publication, ...folders, written: [] }, { target, hosting }, turn);
      mkdirSync(at("files"), { recursive: true });
      await turn.step("index");
      replaceDurably(indexFile(name), newText(indexOf(publication)));
      await turn.renew("now");
      await turn.step("flip");
      await locked(() => {
        turn.requireOurs(readState()?.tag);
        flip(folder, publicLink, name);
        if (exists(hosting)) flip(folder, hostingLink, `${name}.${hostingLink}`);
      });
      return { files: name, bundles: [] };
    },
    async openKept(name) {
      const index = await readIndex(name);
      const build = at(`builds/${name}`);
      if (!index || !existsSync(build)) return undefined;
      return { files: index.files, read: (wanted) => readKept(build, wanted) };
    },
    async prune(turn) {
      await turn.step("prune");
      return locked(() => {
        const stored = readState();
        turn.requireOurs(stored?.tag);
        const kept = (stored?.state.history ?? []).map(({ files }) => files);
        const links = [liveFolder(folder), liveFolder(folder, hostingLink)].map((link) =>
          basename(link ?? ""),
        );
        const names = new Set([...kept, ...links.map(withoutHosting)]);
        // Dated by the same clock as the builds.
        const before = statSync(at(stateFile)).mtimeMs - lease;
        const old = publishesIn(folder).filter((name) => !names.has(name) && ageOf(folder, name) <= before);
        for (const name of old) {
          for (const path of [`builds/${name}`, `builds/${name}.${hostingLink}`, `state/${name}.json`])
            rmSync(at(path), { recursive: true, force: true });
        }
        return old.length;
      });
    },
  };
}

const withoutHosting = (name: string) => name.replace(/[.]hosting$/, "");

/** Names of what publishers left, whole or not. */
function publishesIn(folder: string): string[] {
  const names = (path: string) => (exists(join(folder, path)) ? readdirSync(join(folder, path)) : []);
  const all = [
    ...names("builds").map(withoutHosting),
    ...names("state").flatMap((name) => (name.endsWith(".json") ? name.slice(0, -".json".length) : [])),
  ];
  return [...new Set(all)].filter(isPublishName);
}

/** When a publish was last written to, in milliseconds since 1970. */
function ageOf(folder: string, name: string): number {
  const paths = [`builds/${name}`, `builds/${name}.${hostingLink}`, `state/${name}.json`];
  const stats = paths.map((path) => lstatSync(join(folder, path), { throwIfNoEntry: false })?.mtimeMs ?? 0);
  return Math.max(...stats);
}

const indexOf = ({ build, files, leaving }: Publication): SiteIndex => ({
  schema_version: 1,
  build,
  files: Object.fromEntries(
    files.map(({ path, sha256, size, headers }) => [path, { sha256, size, headers: headersDigest(headers) }]),
  ),
  leaving: { ...leaving },
});

/** Puts a build together in a folder of its own, where no reader sees it yet. */
async function placeBuild(
  placing: Placing,
  { target, hosting }: Readonly<Record<"target" | "hosting", string>>,
  turn: PublishTurn,
): Promise<void> {
  const { publication, written } = placing;
  try {
    for (const [index, file] of publication.files.entries()) {
      if (index % 500 === 0) await turn.renew();
      await turn.step("place");
      await placeFile(placing, file);
      publication.onFile();
    }
    for (const path of Object.keys(publication.leaving).map(relativePath)) {
      const from = placing.old?.(path);
      if (from !== undefined && exists(from)) linkTo(from, placing.target(path));
    }
    placeHosting(placing, rootFolder(hosting));
    symlinkSync("../../files", join(target, "files"));
    // Before the link leads to them: a power cut must not leave a build of empty files.
    for (const path of written) syncToDisk(path);
  } catch (error) {
    if (error instanceof RelcatError) throw error;
    throw accessFailure(`cannot write ${target}`, error);
  }
}

/** A build's own files, and from the folder beside it those that web servers are configured with. */
async function* readKept(build: string, wanted: Iterable<KeptFile>) {
  const [own, hosting] = [rootFolder(build), rootFolder(`${build}.${hostingLink}`)];
  for (const { path, size } of wanted) {
    const inside = path.startsWith(`${hostingLink}/`) ? path.slice(hostingLink.length + 1) : undefined;
    const file = inside === undefined ? own(relativePath(path)) : hosting(relativePath(inside));
    const bytes = readIfPresent(file);
    if (bytes && (size === undefined || size === bytes.length)) yield { path, bytes };
  }
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
