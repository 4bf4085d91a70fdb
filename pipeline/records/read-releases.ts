import type { Config } from "../documents/config.ts";
import { collectMuch } from "../journal/heap.ts";
import {
  type PackedRelease,
  packRelease,
  type ReadRelease,
  type ReleaseCache,
  unpacking,
  withoutSources,
} from "../journal/release-cache.ts";
import { type AuthoredFiles, filesIn } from "../project/authored-files.ts";
import type { ReleaseFiles } from "../project/discover.ts";
import { pathsOfRelease, shapeRelease } from "../project/parse.ts";
import { fromBothEnds, type Said, type SecondThread, startThread } from "../system/second-thread.ts";
import { threadFile } from "../system/thread.ts";
import { checkRelease } from "./check.ts";
import { normalizeRelease } from "./normalize.ts";

/** What each release's reading needs besides its files. */
export interface Reading {
  /** The releases folder. */
  folder: string;
  config: Config;
  files: AuthoredFiles;
  /** Undefined: nothing is kept. */
  cache: ReleaseCache | undefined;
  /** Whether `files` are the folder's own, which another thread can read as well. */
  inFolder: boolean;
}

/** After so many releases in a row that had to be read, it is believed of the others: a thread takes as long to start. */
const worthAThread = 40;

/**
 * Reads, checks and normalizes releases, each a pure function of its files and the configuration; many new ones on two
 * threads.
 * @returns in the order of `releases`
 */
export async function* readReleases(
  releases: readonly ReleaseFiles[],
  reading: Reading,
): AsyncGenerator<ReadRelease> {
  let inARow = 0;
  let index = 0;
  for (const release of releases) {
    if (inARow === worthAThread && reading.inFolder && releases.length - index > worthAThread) break;
    index++;
    const { read, isNew } = await readOne(release, reading);
    inARow = isNew ? inARow + 1 : 0;
    yield read;
  }
  if (index < releases.length) yield* onTwoThreads(releases.slice(index), reading);
}

async function* onTwoThreads(
  releases: readonly ReleaseFiles[],
  reading: Reading,
): AsyncGenerator<ReadRelease> {
  const { folder, config, cache, files } = reading;
  const thread = secondReader({ folder, config });
  const unpack = unpacking(folder, files);
  const here = async (release: ReleaseFiles) => (await readOne(release, reading)).read;
  const there = async (release: ReleaseFiles) => {
    const packed = await thread.ask(release);
    return cache?.keep(release, packed, makerOf(release, folder, config)) ?? unpack(packed);
  };
  try {
    yield* fromBothEnds(releases, here, there);
  } finally {
    await thread.stop();
  }
}

/** @returns whether it had to be made of its files */
async function readOne(release: ReleaseFiles, { folder, config, files, cache }: Reading) {
  const make = makerOf(release, folder, config);
  const recalled = cache?.recall(release, make);
  if (recalled?.kept) return { read: recalled.kept, isNew: false };
  const contents = recalled?.contents ?? (await files.readAll(pathsOfRelease(release)));
  if (cache) return { read: cache.keep(release, packRelease(contents, make), make), isNew: true };
  const made = make(contents);
  withoutSources(made.release.artifacts, folder, files);
  return { read: made, isNew: true };
}

const makerOf =
  (files: ReleaseFiles, folder: string, config: Config) =>
  (contents: readonly Uint8Array[]): ReadRelease => {
    const parsed = shapeRelease(folder, files, contents);
    const { release, problems } = normalizeRelease(parsed, config);
    return { release, problems: [...parsed.problems, ...problems], findings: checkRelease(parsed, config) };
  };

type Setting = Pick<Reading, "folder" | "config">;

const secondReader = (setting: Setting): SecondThread<ReleaseFiles, PackedRelease> =>
  startThread(threadFile(import.meta.url, "read-thread"), setting);

/** What the other thread does: the same, as far as it is plain data. */
export function packingReader({
  folder,
  config,
}: Setting): (release: ReleaseFiles) => Promise<Said<PackedRelease>> {
  const files = filesIn(folder);
  return async (release) => {
    collectMuch(8 << 20);
    const contents = await files.readAll(pathsOfRelease(release));
    const answer = packRelease(contents, makerOf(release, folder, config));
    return { answer, handedOver: [answer.bytes.buffer] };
  };
}
