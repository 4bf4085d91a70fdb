import { areZeros, type ByteSource, type Uncovered } from "../../bytes/byte-source.ts";
import { malformed, refused } from "../../verdict.ts";
import {
  type RpmHeader,
  type RpmType,
  type RpmValue,
  readRpmHeader,
  rpmTypes,
  tagNumberAt,
} from "./header.ts";

export type RpmLayout = ReturnType<typeof readRpmLayout>;

/** Signature header tags that are read, by rpm's names (include/rpm/rpmtag.h), with their types. */
export const signatureTags = {
  ecc: 267,
  rsa: 268,
  sha1: 269,
  longSize: 270,
  longArchiveSize: 271,
  sha256: 273,
  fileSignatures: 274,
  fileSignatureLength: 275,
  veritySignatures: 276,
  verityAlgorithm: 277,
  openpgp: 278,
  sha3: 279,
  /** Space that rpm 6 reserves. */
  space: 999,
  size: 1000,
  legacyRsa: 1002,
  md5: 1004,
  legacyDsa: 1005,
  payloadSize: 1007,
  reserved: 1008,
} as const;

/** Tags of the header, by name (https://rpm-software-management.github.io/rpm/manual/tags.html). */
export const tags = {
  ...{ name: 1000, version: 1001, release: 1002, epoch: 1003, summary: 1004, description: 1005 },
  ...{ buildTime: 1006, buildHost: 1007, size: 1009, vendor: 1011, license: 1014, packager: 1015 },
  ...{ group: 1016, url: 1020, arch: 1022, fileSizes: 1028, fileModes: 1030, fileDigests: 1035 },
  ...{ fileFlags: 1037, sourceRpm: 1044, archiveSize: 1046, requireNames: 1049 },
  ...{ changelogTimes: 1080, changelogAuthors: 1081, changelogTexts: 1082 },
  ...{ fileDevices: 1095, fileInodes: 1096, dirIndexes: 1116, baseNames: 1117, dirNames: 1118 },
  ...{ payloadFormat: 1124, longFileSizes: 5008, longSize: 5009, fileDigestAlgorithm: 5011 },
  /** Number of the package format, from rpm 6 on. */
  format: 5114,
} as const;

const { binary, int32, int64, text, texts } = rpmTypes;
const tagsOfTypes = [
  [binary, ["ecc", "rsa", "space", "legacyRsa", "md5", "legacyDsa", "reserved"]],
  [text, ["sha1", "sha256", "sha3"]],
  [texts, ["fileSignatures", "veritySignatures", "openpgp"]],
  [int32, ["fileSignatureLength", "verityAlgorithm", "size", "payloadSize"]],
  [int64, ["longSize", "longArchiveSize"]],
] as const;
const typesOfTags = new Map<number, RpmType>(
  tagsOfTypes.flatMap(([type, names]) => names.map((name) => [signatureTags[name], type])),
);

const lead = { size: 96, magic: "edabeedb", signatureType: 5 };
/** rpm adds tags with smaller numbers itself when it reads a package, except translations. */
const firstMainTag = 1000;
const translations = 100;

/**
 * Reads the parts of a package (https://rpm-software-management.github.io/rpm/manual/format_v4.html).
 * @returns `size`: of the file, where the payload ends; `notes`: on values that rpm ignores, one sentence each
 * @throws Fault malformed; refuse
 */
export function readRpmLayout(source: ByteSource) {
  refuseOtherLead(Buffer.from(source.read(0, lead.size)));
  const read = readRpmHeader(source, lead.size, { name: "signature header", region: 62, isBare: true });
  const { tags, notes } = checkedTags(read);
  const signatures = { ...read, tags };
  const from = Math.ceil(signatures.to / 8) * 8;
  if (!areZeros(source.read(signatures.to, from - signatures.to)))
    throw malformed("the space after the signature header holds something, expected zeros");
  const main = readRpmHeader(source, from, { name: "header", region: 63, isBare: false });
  for (const tag of main.tags.keys())
    if (tag < firstMainTag && tag !== translations)
      throw malformed(`the header has tag ${tag}, which belongs to the signature header`);
  return { signatures, main, size: source.size, uncovered: uncoveredOf(signatures), notes };
}

/** rpm reads the first value of a tag, and neither unknown tags nor sizes. @throws Fault malformed */
function checkedTags({ entries }: RpmHeader): { tags: RpmHeader["tags"]; notes: string[] } {
  const tags = new Map<number, RpmValue>();
  const notes: string[] = [];
  for (const { tag, ...value } of entries) {
    const expected = typesOfTags.get(tag);
    if (expected === undefined)
      notes.push(`Its signature header has the unknown tag ${tag}, which is not checked.`);
    else if (tags.has(tag))
      notes.push(`Its signature header has the tag ${tag} again. As in rpm, only the first one is checked.`);
    else if (value.type === expected) tags.set(tag, value);
    else if (unchecked.has(tag))
      notes.push(
        `Its signature header has the tag ${tag} with the type ${value.type}, which is not checked.`,
      );
    else throw malformed(`tag ${tag} of the signature header has type ${value.type}, expected ${expected}`);
    if (unchecked.get(tag) === reservedSpace && !areZeros(value.bytes))
      notes.push("The reserved space of its signature header is not empty, and is not checked.");
  }
  return { tags, notes };
}

/** More than the paths of any package have. Many files may share one folder with a very long name. */
const maxPathCharacters = 50_000_000;

/** Joins the folder and the name of each file of a header. @throws Fault refuse, if the paths are too long together */
export function pathJoiner(): (folder: string, name: string) => string {
  let left = maxPathCharacters;
  return (folder, name) => {
    left -= folder.length + name.length;
    if (left < 0) throw refused(`the paths of its files have over ${maxPathCharacters} characters together`);
    return folder + name;
  };
}

/** As rpm and createrepo_c decide, because old source packages do not have the tag of source packages. */
export const isSourcePackage = (main: RpmHeader): boolean => !main.tags.has(tags.sourceRpm);

function refuseOtherLead(bytes: Buffer): void {
  const [major, type] = [bytes[4] ?? 0, bytes.readUInt16BE(78)];
  const isLead = bytes.toString("hex", 0, 4) === lead.magic && type === lead.signatureType;
  if (!isLead || major < 3 || major > 4)
    throw malformed("it does not begin as a package of rpm 3 or 4 with a signature header");
}

const verity = "fs-verity signatures, which are not checked";
const sizes = "sizes in the signature header, which rpm does not use";
const reservedSpace = "reserved space of the signature header, which rpm does not use";
/** Values of the signature header that no check depends on. */
const unchecked = new Map<number, string>([
  [signatureTags.veritySignatures, verity],
  [signatureTags.verityAlgorithm, verity],
  [signatureTags.fileSignatureLength, sizes],
  [signatureTags.size, sizes],
  [signatureTags.longSize, sizes],
  [signatureTags.payloadSize, sizes],
  [signatureTags.longArchiveSize, sizes],
  [signatureTags.space, reservedSpace],
  [signatureTags.reserved, reservedSpace],
]);
const capitals = "whether a digest in the signature header has small or capital letters";
const hexadecimal: ReadonlySet<number> = new Set([
  signatureTags.sha1,
  signatureTags.sha256,
  signatureTags.sha3,
]);

/** Why nothing notices another value. */
function openness(signatures: RpmHeader, tag: number, at: number): string | undefined {
  if (!typesOfTags.has(tag)) return "a tag that relcat does not know";
  if (unchecked.has(tag)) return unchecked.get(tag);
  return signatures.tags.get(tag)?.at === at ? undefined : "a tag that is repeated; rpm uses the first one";
}

function uncoveredOf(signatures: RpmHeader): Uncovered[] {
  const { entries, to: end } = signatures;
  const values = entries.flatMap(({ tag, at, bytes }, position) => {
    const number = tagNumberAt(signatures, position);
    const why = openness(signatures, tag, at);
    const numbers = "tag numbers of the signature header, which nothing signs";
    if (why === undefined)
      return [
        { from: number, to: number + 4, why: numbers },
        ...(hexadecimal.has(tag) ? [{ from: at, to: at + bytes.length - 1, why: capitals }] : []),
      ];
    // Padding before the next value counts as part of this value, because another text may reach into it.
    const to = entries[position + 1]?.at ?? end;
    return [
      { from: number, to: number + 4, why: numbers },
      { from: number + 4, to: number + 16, why },
      { from: at, to, why },
    ];
  });
  return [{ from: 4, to: lead.size, why: "lead, which rpm does not use" }, ...values];
}
