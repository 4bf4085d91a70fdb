import { Fault, malformed } from "../verdict.ts";
import { tarText } from "./tar-header.ts";

/** Data before an entry that overrides fields of its header. */
export interface Names {
  path?: string;
  linkname?: string;
  size?: number;
}

/**
 * @param kind L and K: GNU long path and long link; x and g: pax attributes of one entry, of all following
 * entries
 * @param known data already read for the same entry
 * @throws Fault malformed, for a repeated value; unsupported-format, for pax sparse files
 */
export function readNames(kind: string, content: Uint8Array, known: Names): Names {
  const bytes = Buffer.from(content);
  const added =
    kind === "L" ? { path: tarText(bytes) } : kind === "K" ? { linkname: tarText(bytes) } : readPax(bytes);
  if (kind === "g" && Object.keys(added).length > 0)
    throw malformed("the tar archive has one path or size for all its entries");
  const again = Object.keys(added).find((name) => Object.hasOwn(known, name));
  if (again) throw malformed(`the tar archive says the ${again} of an entry twice`);
  return { ...known, ...added };
}

/** Records `length key=value` with a line feed; the length includes itself (POSIX pax, extended header). */
function readPax(bytes: Buffer): Names {
  const records = new Map<string, string>();
  for (let at = 0; at < bytes.length; ) {
    const space = bytes.indexOf(" ", at);
    const length = bytes.toString("latin1", at, space);
    const end = at + Number(length);
    const record = bytes.toString("utf8", space + 1, end - 1);
    const equals = record.indexOf("=");
    const isRecord =
      space > at && /^[1-9]\d{0,6}$/.test(length) && end <= bytes.length && bytes[end - 1] === 10;
    if (!isRecord || equals < 1) throw malformed("the tar archive has pax attributes that cannot be read");
    records.set(record.slice(0, equals), record.slice(equals + 1));
    at = end;
  }
  return namesOf(records);
}

function namesOf(records: ReadonlyMap<string, string>): Names {
  if ([...records.keys()].some((key) => key.startsWith("GNU.sparse.")))
    throw new Fault(
      "unsupported-format",
      "the tar archive describes holes by pax, expected tar --format=gnu",
    );
  const [path, linkname, size] = ["path", "linkpath", "size"].map((key) => records.get(key));
  if (`${path}${linkname}`.includes("\0")) throw malformed("the tar archive has a path with a zero byte");
  if (size !== undefined && !(/^\d+$/.test(size) && Number.isSafeInteger(Number(size))))
    throw malformed(`the tar archive has ${JSON.stringify(size)} for a size`);
  return {
    ...(path !== undefined && { path }),
    ...(linkname !== undefined && { linkname }),
    ...(size !== undefined && { size: Number(size) }),
  };
}
