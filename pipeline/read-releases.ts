import type { Config } from "./documents/config.ts";
import { type AuthoredFiles, filesIn } from "./outside/authored-files.ts";
import { fromBothEnds, type Said, type SecondThread, startThread } from "./outside/second-thread.ts";
import { threadFile } from "./outside/thread.ts";
import {
  type PackedRelease,
  packRelease,
  type ReadRelease,
  type ReleaseCache,
  unpacking,
  withoutSources,
} from "./release-cache.ts";
import { checkRelease } from "./stages/check.ts";
import type { ReleaseFiles } from "./stages/discover.ts";
import { normalizeRelease } from "./stages/normalize.ts";
import { pathsOfRelease, shapeRelease } from "./stages/parse.ts";

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
    const recalled = recall(release, reading);
    inARow = recalled ? 0 : inARow + 1;
    yield recalled ?? (await read(release, reading));
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
  const here = async (release: ReleaseFiles) => recall(release, reading) ?? (await read(release, reading));
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

const recall = (release: ReleaseFiles, { folder, config, cache }: Reading): ReadRelease | undefined =>
  cache?.recall(release, makerOf(release, folder, config));

async function read(release: ReleaseFiles, { folder, config, files, cache }: Reading): Promise<ReadRelease> {
  const make = makerOf(release, folder, config);
  const contents = await files.readAll(pathsOfRelease(release));
  if (cache) return cache.keep(release, packRelease(contents, make), make);
  const made = make(contents);
  return { ...made, release: withoutSources(made.release, folder, files) };
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
    const contents = await files.readAll(pathsOfRelease(release));
    const answer = packRelease(contents, makerOf(release, folder, config));
    return { answer, handedOver: [answer.bytes.buffer] };
  };
}
