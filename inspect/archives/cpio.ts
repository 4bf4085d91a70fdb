import { pass, pushReader, type Steps, type TakePiece, type Wanted } from "../bytes/push.ts";
import { malformed } from "../verdict.ts";

export interface CpioEntry {
  path: string;
  size: number;
  type: "file" | "directory" | "link" | "other";
}

interface Header extends CpioEntry {
  /** Padding in bytes after name and content; some variants align to four bytes. */
  fill: (length: number) => number;
}

const end = "TRAILER!!!";
const maxNameBytes = 4096;

type OnEntry = (entry: CpioEntry) => TakePiece | undefined;
type Listed = (index: number) => CpioEntry | undefined;

/**
 * Reads a streamed cpio archive in the portable formats `070701`, `070702` (newc) and `070707` (odc).
 * @param listed the files of a package that may have the format `07070X`, whose entries are only their numbers
 * @throws Fault malformed, for a bad header, a path that leaves the archive, or a missing or invalid trailer
 */
export const cpioReader = (entry: OnEntry, listed?: Listed) =>
  pushReader(entries(entry, listed), "cpio archive");

function* entries(entry: OnEntry, listed: Listed | undefined): Steps {
  for (;;) {
    const header = yield* readHeader(listed);
    if (header.path === end) return;
    const take = entry({ path: plain(header.path), size: header.size, type: header.type });
    yield* pass(header.size, take);
    yield* pass(header.fill(header.size));
  }
}

function* readHeader(listed: Listed | undefined): Generator<Wanted, Header, Uint8Array> {
  const magic = text(yield { exactly: 6 });
  if (magic === "07070X" && listed) return yield* readNumber(listed);
  const isOld = magic === "070707";
  if (!isOld && magic !== "070701" && magic !== "070702")
    throw malformed(
      `the cpio archive has ${JSON.stringify(magic)} where an entry begins, expected 070701 or 070707`,
    );
  const rest = text(yield { exactly: isOld ? 70 : 104 });
  const field = (from: number, to: number) => number(rest.slice(from, to), isOld ? 8 : 16);
  const [mode, size, nameSize] = isOld
    ? [field(12, 18), field(59, 70), field(53, 59)]
    : [field(8, 16), field(48, 56), field(88, 96)];
  const fill = isOld ? () => 0 : (length: number) => -length & 3;
  if (nameSize < 2 || nameSize > maxNameBytes)
    throw malformed(`the cpio archive has a name of ${nameSize} bytes, expected 2 to ${maxNameBytes}`);
  const name = Buffer.from(yield { exactly: nameSize });
  if (name.indexOf(0) !== nameSize - 1)
    throw malformed("a name in the cpio archive does not end where it should");
  yield* pass(fill(6 + rest.length + nameSize));
  return { path: name.toString("utf8", 0, nameSize - 1), size, type: typeOf(mode), fill };
}

function* readNumber(listed: Listed): Generator<Wanted, Header, Uint8Array> {
  const index = number(text(yield { exactly: 8 }), 16);
  const entry = listed(index);
  if (!entry) throw malformed(`the cpio archive has file ${index}, which the package header does not list`);
  yield* pass(2);
  return { ...entry, fill: (length) => -length & 3 };
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString("latin1");

function number(digits: string, base: 8 | 16): number {
  const isNumber = base === 8 ? /^[0-7]+$/ : /^[0-9a-fA-F]+$/;
  if (!isNumber.test(digits)) throw malformed(`the cpio archive has ${JSON.stringify(digits)} for a number`);
  return Number.parseInt(digits, base);
}

/** File types of stat(2). */
const types = new Map<number, CpioEntry["type"]>([
  [0o100000, "file"],
  [0o040000, "directory"],
  [0o120000, "link"],
]);
const typeOf = (mode: number): CpioEntry["type"] => types.get(mode & 0o170000) ?? "other";

/** @throws Fault malformed, for a path that leaves the target folder */
function plain(path: string): string {
  const inside = path.replace(/^(?:\.\/)+/, "");
  if (inside.startsWith("/") || inside.split("/").includes(".."))
    throw malformed(`the cpio archive has the path ${JSON.stringify(path)}, which leads out of it`);
  return inside;
}
