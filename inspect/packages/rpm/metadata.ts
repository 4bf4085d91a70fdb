import { isPrimaryFile, type RpmChange, type RpmMetadata } from "../../../shared/package-metadata.ts";
import { knownArchitecture } from "../../architecture.ts";
import type { ByteSource } from "../../bytes/byte-source.ts";
import { malformed } from "../../verdict.ts";
import { rpmDependencies } from "./dependencies.ts";
import { integersOf, longOf, type RpmHeader, shortsOf } from "./header.ts";
import { isSourcePackage, type RpmLayout, readRpmLayout, signatureTags } from "./layout.ts";
import { decodedTextOf, decodedTextsOf } from "./texts.ts";

/** https://rpm-software-management.github.io/rpm/manual/tags.html */
const tags = {
  ...{ name: 1000, version: 1001, release: 1002, epoch: 1003, summary: 1004, description: 1005 },
  ...{ buildTime: 1006, buildHost: 1007, size: 1009, vendor: 1011, license: 1014, packager: 1015 },
  ...{ group: 1016, url: 1020, arch: 1022, fileModes: 1030, fileFlags: 1037, sourceRpm: 1044 },
  ...{ archiveSize: 1046, dirIndexes: 1116, baseNames: 1117, dirNames: 1118 },
  ...{ changelogTimes: 1080, changelogAuthors: 1081, changelogTexts: 1082, longSize: 5009 },
} as const;

/** Optional texts of the header. */
const texts = {
  url: tags.url,
  packager: tags.packager,
  license: tags.license,
  vendor: tags.vendor,
  group: tags.group,
  buildhost: tags.buildHost,
  sourcerpm: tags.sourceRpm,
} as const;

/**
 * Reads the header as createrepo_c does.
 * @param filelists whether to list every file, rather than those of `primary.xml`
 * @param changelogs whether to read the changelog for `other.xml`
 * @returns undefined for a source package, which repositories of packages do not list
 * @throws Fault malformed; refuse; unsupported-format
 */
export function rpmMetadata(
  source: ByteSource,
  { filelists, changelogs = false }: { filelists: boolean; changelogs?: boolean | undefined },
): RpmMetadata | undefined {
  const layout = readRpmLayout(source);
  const { main } = layout;
  if (isSourcePackage(main)) return undefined;
  const text = (tag: number) => decodedTextOf(main, tag);
  const [name, version, release, native] = [tags.name, tags.version, tags.release, tags.arch].map(text);
  if (!name || !version || !release || !native)
    throw malformed("the header does not say name, version, release and architecture");
  const arch = knownArchitecture(native);
  const primary = filesOf(main)
    .filter(({ path }) => isPrimaryFile(path))
    .toArray();
  return {
    type: "rpm",
    name,
    epoch: integersOf(main, tags.epoch)[0] ?? 0,
    version,
    release,
    ...(arch && { arch }),
    native_arch: native,
    summary: text(tags.summary) ?? "",
    description: text(tags.description) ?? "",
    ...optionalTexts(main),
    build_time: integersOf(main, tags.buildTime)[0] ?? 0,
    size: sizesOf(layout),
    header_range: [main.from, main.to],
    ...rpmDependencies(main, new Set(primary.map(({ path }) => path))),
    files: filelists ? [...filesOf(main)] : primary,
    ...(changelogs && { changelogs: changelogsOf(main) }),
  };
}

const optionalTexts = (main: RpmHeader): Partial<Record<keyof typeof texts, string>> =>
  Object.fromEntries(
    Object.entries(texts)
      .map(([field, tag]) => [field, decodedTextOf(main, tag)])
      .filter(([, text]) => text !== undefined),
  );

/** Sizes over 4 GiB have tags of their own. */
function sizesOf({ main, signatures }: RpmLayout): RpmMetadata["size"] {
  return {
    installed: longOf(main, tags.longSize) ?? integersOf(main, tags.size)[0] ?? 0,
    archive:
      longOf(signatures, signatureTags.longArchiveSize) ??
      integersOf(signatures, signatureTags.payloadSize)[0] ??
      integersOf(main, tags.archiveSize)[0] ??
      0,
  };
}

const fileKind = { mask: 0o170000, directory: 0o040000 };
const ghostFlag = 1 << 6;

function* filesOf(main: RpmHeader): Generator<RpmMetadata["files"][number]> {
  const folders = decodedTextsOf(main, tags.dirNames);
  const [indexes, flags] = [integersOf(main, tags.dirIndexes), integersOf(main, tags.fileFlags)];
  const modes = shortsOf(main, tags.fileModes);
  for (const [index, name] of decodedTextsOf(main, tags.baseNames).entries()) {
    const folder = folders[indexes[index] ?? -1];
    const [mode, flag] = [modes[index], flags[index]];
    if (folder === undefined || mode === undefined || flag === undefined)
      throw malformed(`the header does not say folder, mode and flags of the file ${JSON.stringify(name)}`);
    const isFolder = (mode & fileKind.mask) === fileKind.directory;
    yield { path: `${folder}${name}`, type: isFolder ? "dir" : flag & ghostFlag ? "ghost" : "file" };
  }
}

/** The default limit of createrepo_c. */
const maxChangelogs = 10;

/** The newest entries, the oldest of them first. As createrepo_c does, equal times are made different. */
function changelogsOf(main: RpmHeader): RpmChange[] {
  const authors = decodedTextsOf(main, tags.changelogAuthors);
  const texts = decodedTextsOf(main, tags.changelogTexts);
  const found: RpmChange[] = [];
  let last = 0;
  for (const [index, time] of integersOf(main, tags.changelogTimes).slice(0, maxChangelogs).entries()) {
    const [author, text] = [authors[index], texts[index]];
    if (author === undefined || text === undefined) break;
    let equal = time;
    for (const newer of time === last ? found : []) {
      if (newer.time !== equal) break;
      newer.time = ++equal;
    }
    found.unshift({ author: author.trimEnd(), time, text });
    last = time;
  }
  return found;
}
