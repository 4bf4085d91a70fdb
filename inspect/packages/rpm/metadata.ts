import { isUtf8 } from "node:buffer";
import {
  isPrimaryFile,
  type RpmChange,
  type RpmEntry,
  type RpmMetadata,
} from "../../../shared/package-metadata.ts";
import { knownArchitecture } from "../../architecture.ts";
import type { ByteSource } from "../../bytes/byte-source.ts";
import { malformed, refused } from "../../verdict.ts";
import { integersOf, longsOf, type RpmHeader, shortsOf, textsOf } from "./header.ts";
import { isSourcePackage, pathJoiner, type RpmLayout, readRpmLayout, signatureTags, tags } from "./layout.ts";

/** More files than any package has. */
const maxTexts = 1_000_000;

/** Control characters and symbols of ISO 8859-1, which other encodings use for quotation marks and letters. */
const symbols = /[\u0080-\u00bf]/g;

/**
 * Empty if the tag is missing. Old packages do not state their encoding. As createrepo_c does, a text that is not UTF-8
 * is read as ISO 8859-1 without control characters and symbols.
 * @throws Fault malformed, if the tag holds no text; refuse
 */
function decodedTextsOf(header: RpmHeader, tag: number): string[] {
  const value = header.tags.get(tag);
  if (value && value.count > maxTexts)
    throw refused(`tag ${tag} has ${value.count} texts, expected ${maxTexts} at most`);
  const texts = textsOf(header, tag);
  if (!value || isUtf8(value.bytes)) return texts;
  const inLatin1 = value.bytes.subarray(0, -1).toString("latin1").split("\0");
  return texts.map((text, index) => {
    const other = inLatin1[index] ?? "";
    return isUtf8(Buffer.from(other, "latin1")) ? text : other.replace(symbols, "");
  });
}

/** The first text, which is the one without translation; undefined if the tag is missing or empty. */
const decodedTextOf = (header: RpmHeader, tag: number): string | undefined =>
  decodedTextsOf(header, tag)[0] || undefined;

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
 * Reads the header as createrepo_c does, with the changelog for `other.xml`.
 * @param filelists whether to list every file, rather than those of `primary.xml`
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

function optionalTexts(main: RpmHeader): Partial<Record<keyof typeof texts, string>> {
  const found = Object.entries(texts).map(([field, tag]) => [field, decodedTextOf(main, tag)]);
  return Object.fromEntries(found.filter(([, text]) => text !== undefined));
}

/** Sizes over 4 GiB have tags of their own. */
function sizesOf({ main, signatures }: RpmLayout): RpmMetadata["size"] {
  return {
    installed: longsOf(main, tags.longSize)[0] ?? integersOf(main, tags.size)[0] ?? 0,
    archive:
      longsOf(signatures, signatureTags.longArchiveSize)[0] ??
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
  const join = pathJoiner();
  for (const [index, name] of decodedTextsOf(main, tags.baseNames).entries()) {
    const folder = folders[indexes[index] ?? -1];
    const [mode, flag] = [modes[index], flags[index]];
    if (folder === undefined || mode === undefined || flag === undefined)
      throw malformed(`the header does not say folder, mode and flags of the file ${JSON.stringify(name)}`);
    const isFolder = (mode & fileKind.mask) === fileKind.directory;
    yield { path: join(folder, name), type: isFolder ? "dir" : flag & ghostFlag ? "ghost" : "file" };
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

type Tags = readonly [names: number, flags: number, versions: number];

/** Dependencies as createrepo_c writes them to `primary.xml`. @param files paths that it lists @throws Fault malformed */
function rpmDependencies(main: RpmHeader, files: ReadonlySet<string>) {
  const entries = (...tags: Tags) => [...readEntries(main, tags)].map(({ entry }) => entry);
  const provided = entries(1047, 1112, 1113);
  const own = new Set(provided.map(keyOf));
  const required = [...readEntries(main, [1049, 1048, 1050])]
    .filter(({ entry }) => !entry.name.startsWith("rpmlib(") && !own.has(keyOf(entry)))
    .filter(({ entry }) => !files.has(entry.name))
    .map(({ entry, isPre }) => ({ ...entry, ...(isPre && { pre: true }) }));
  return {
    provides: provided,
    requires: highestLibcOnly(required.filter(differsFromLast())),
    conflicts: entries(1054, 1053, 1055),
    obsoletes: entries(1090, 1114, 1115),
    recommends: entries(5046, 5048, 5047),
    suggests: entries(5049, 5051, 5050),
    supplements: entries(5052, 5054, 5053),
    enhances: entries(5055, 5057, 5056),
  };
}

const keyOf = (entry: RpmEntry) => JSON.stringify(entry);

/** As createrepo_c: an entry is compared with the last one of its name only. */
function differsFromLast(): (entry: RpmEntry) => boolean {
  const last = new Map<string, string>();
  return (entry) => {
    const isOther = last.get(entry.name) !== keyOf(entry);
    last.set(entry.name, keyOf(entry));
    return isOther;
  };
}

/** Bits of `flags`: a comparison, and whether scripts of the installation need the dependency. */
const comparisons = new Map<number, NonNullable<RpmEntry["flags"]>>([
  [2, "LT"],
  [4, "GT"],
  [8, "EQ"],
  [10, "LE"],
  [12, "GE"],
]);
const preFlags = (1 << 6) | (1 << 9) | (1 << 10);

function* readEntries(main: RpmHeader, [names, flags, versions]: Tags) {
  const [all, bits] = [decodedTextsOf(main, names), integersOf(main, flags)];
  const bounds = decodedTextsOf(main, versions);
  if (bits.length !== all.length || bounds.length !== all.length)
    throw malformed(
      `tag ${names} has ${all.length} names, tag ${flags} ${bits.length} flags, tag ${versions} ${bounds.length} versions`,
    );
  for (const [index, name] of all.entries()) {
    const bit = bits[index] ?? 0;
    const comparison = comparisons.get(bit & 15);
    const entry: RpmEntry = { name, ...(comparison && { flags: comparison, ...bound(bounds[index] ?? "") }) };
    yield { entry, isPre: (bit & preFlags) !== 0 };
  }
}

/** Epoch, version and release of `epoch:version-release`. As createrepo_c does, an epoch that is not a number is 0. */
function bound(text: string): Pick<RpmEntry, "epoch" | "version" | "release"> {
  if (text === "") return {};
  const [, epoch = "", version = "", release] = /^(?:([^:]*):)?([^-]*)(?:-(.*))?$/s.exec(text) ?? [];
  return {
    epoch: /^\d+$/.test(epoch) ? epoch : "0",
    ...(version !== "" && { version }),
    ...(release && { release }),
  };
}

const libc = "libc.so.6";

/** Requirements of the C library are symbol versions; the highest one includes the others, and comes last. */
function highestLibcOnly(entries: readonly RpmEntry[]): RpmEntry[] {
  const [first, ...more] = entries
    .filter(({ name }) => name.startsWith(libc))
    .map((entry) => ({ entry, version: symbolVersion(entry.name) }));
  if (!first) return [...entries];
  const highest = more.reduce((most, each) => (isHigher(each.version, most.version) ? each : most), first);
  return [...entries.filter(({ name }) => !name.startsWith(libc)), highest.entry];
}

function isHigher(one: readonly number[], other: readonly number[]): boolean {
  for (let index = 0; index < Math.max(one.length, other.length); index++) {
    const difference = (one[index] ?? -1) - (other[index] ?? -1);
    if (difference !== 0) return difference > 0;
  }
  return false;
}

/** 2.34 of `libc.so.6(GLIBC_2.34)(64bit)`; empty if there is none. */
function symbolVersion(name: string): number[] {
  const [, symbol = ""] = /^[^(]*\(([^)]*)\)/.exec(name) ?? [];
  return (/\d[\d.]*/.exec(symbol)?.[0] ?? "").split(".").filter(Boolean).map(Number);
}
