import type { Storage, Stream } from "../../archives/compound-file.ts";
import type { Uncovered } from "../../bytes/ranges.ts";
import { shifted } from "../../bytes/ranges.ts";
import { signatureNames } from "./digest.ts";

/** Byte ranges of the fields of a directory entry (MS-CFB, 2.6.1). */
const fields = {
  name: [0, 64],
  color: [67, 68],
  classId: [80, 96],
  state: [96, 100],
  times: [100, 116],
  first: [116, 120],
  size: [120, 124],
  upperSize: [124, 128],
} as const;
type Field = keyof typeof fields;

/**
 * Directory fields that the signature does not cover. Without `MsiDigitalSignatureEx` it covers only the
 * storages' class ids, and indirectly the fields that locate signed content.
 */
export function uncoveredEntries(root: Storage, isExtended: boolean): Uncovered[] {
  const open: Field[] = isExtended ? [] : ["name", "state", "times"];
  const stream = (stream: Stream): Uncovered[] => {
    const isSignature = (Object.values(signatureNames) as string[]).includes(stream.entry.name);
    const more: Field[] = stream.entry.size === 0 ? ["classId", "first"] : ["classId"];
    return entryRanges(stream, [...(isSignature ? (["state", "times"] as const) : open), ...more]);
  };
  const inside = ({ streams, storages }: Storage): Uncovered[] => [
    ...streams.flatMap(stream),
    ...storages.flatMap((storage) => [
      ...entryRanges(storage, [...open, "first", "size"]),
      ...inside(storage),
    ]),
  ];
  // The root's name and times are never used; its size is that of the mini stream, which may be longer than
  // its used part.
  const top: Field[] = ["name", "times", "size", ...(isExtended ? [] : (["state"] as const))];
  return [...entryRanges(root, root.entry.size === 0 ? [...top, "first"] : top), ...inside(root)];
}

/** @param names additional fields, besides those that are never covered */
function entryRanges({ place, entry: { rawName } }: Stream | Storage, names: readonly Field[]): Uncovered[] {
  const open = ([...names, "color", "upperSize"] as const).map((name) => range(fields[name], name));
  // Bytes after a name's terminating zero are not covered, even if the name is.
  if (!names.includes("name")) open.push(range([rawName.length + 2, fields.name[1]], "name"));
  return open.filter(({ from, to }) => from < to).map(shifted(place));
}

const range = ([from, to]: readonly [number, number], field: Field): Uncovered => ({
  from,
  to,
  why: `${reasons[field]} in the compound file's directory`,
});

const reasons: Record<Field, string> = {
  name: "a name",
  color: "a colour of the tree",
  classId: "the class of a stream",
  state: "state bits",
  times: "times",
  first: "the first sector of nothing",
  size: "the size of a storage",
  upperSize: "the unused half of a size",
};
