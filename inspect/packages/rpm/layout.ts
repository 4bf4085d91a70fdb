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

const verity = "fs-verity signatures, which are not checked";
const sizes = "sizes in the signature header, which rpm does not use";
const reserved = "reserved space of the signature header, which rpm does not use";
const { binary, int32, int64, text, texts } = rpmTypes;
/**
 * Tags of the signature header, by rpm's names (include/rpm/rpmtag.h), with their types. Those with a text have values
 * that no check depends on.
 */
const table = {
  ecc: [267, binary],
  rsa: [268, binary],
  sha1: [269, text],
  longSize: [270, int64, sizes],
  longArchiveSize: [271, int64, sizes],
  sha256: [273, text],
  fileSignatures: [274, texts],
  fileSignatureLength: [275, int32, sizes],
  veritySignatures: [276, texts, verity],
  verityAlgorithm: [277, int32, verity],
  openpgp: [278, texts],
  sha3: [279, text],
  space: [999, binary, reserved],
  size: [1000, int32, sizes],
  legacyRsa: [1002, binary],
  md5: [1004, binary],
  legacyDsa: [1005, binary],
  payloadSize: [1007, int32, sizes],
  reserved: [1008, binary, reserved],
} as const satisfies Record<string, readonly [number, RpmType, string?]>;

const entries: [string, readonly [number, RpmType, string?]][] = Object.entries(table);
const tagsByName = Object.fromEntries(entries.map(([name, [tag]]) => [name, tag]));
export const signatureTags = tagsByName as Record<keyof typeof table, number>;
const known = new Map(entries.map(([, [tag, type, unchecked]]) => [tag, { type, unchecked }]));

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
    const { type: expected, unchecked } = known.get(tag) ?? {};
    if (expected === undefined)
      notes.push(`Its signature header has the unknown tag ${tag}, which is not checked.`);
    else if (tags.has(tag))
      notes.push(`Its signature header has the tag ${tag} again. As in rpm, only the first one is checked.`);
    else if (value.type === expected) tags.set(tag, value);
    else if (unchecked)
      notes.push(
        `Its signature header has the tag ${tag} with the type ${value.type}, which is not checked.`,
      );
    else throw malformed(`tag ${tag} of the signature header has type ${value.type}, expected ${expected}`);
    if (unchecked === reserved && !areZeros(value.bytes))
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

const capitals = "whether a digest in the signature header has small or capital letters";

/** Why nothing notices another value. */
function openness(signatures: RpmHeader, tag: number, at: number): string | undefined {
  const found = known.get(tag);
  if (!found) return "a tag that relcat does not know";
  if (found.unchecked || signatures.tags.get(tag)?.at === at) return found.unchecked;
  return "a tag that is repeated; rpm uses the first one";
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
        ...(known.get(tag)?.type === text ? [{ from: at, to: at + bytes.length - 1, why: capitals }] : []),
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
