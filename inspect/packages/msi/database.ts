import { type CompoundFile, openCompoundFile, type Storage } from "../../archives/compound-file.ts";
import type { ByteSource } from "../../bytes/byte-source.ts";
import { Fault, malformed } from "../../verdict.ts";

/** Class id of an installer's root: {000C1084-0000-0000-C000-000000000046}. */
const installerClass = "84100c0000000000c000000000000046";

/** @throws Fault malformed; unsupported-format, if it is another compound file */
export function openInstaller(source: ByteSource): CompoundFile {
  const file = openCompoundFile(source);
  if (file.root.entry.classId.toString("hex") !== installerClass)
    throw new Fault("unsupported-format", `${source.name} is a compound file, but not an installer package`);
  return file;
}

export const summaryName = "\u0005SummaryInformation";

/** Properties of the summary (https://learn.microsoft.com/windows/win32/msi/summary-information-stream-property-set). */
export interface InstallerSummary {
  /** Platform and languages, such as `x64;1033`. */
  template: string;
  /** Bits that describe the source files. */
  wordCount: number;
}

const ids = { template: 7, wordCount: 15 };
const types = { integer: 3, text: 30 };
/** Larger than any summary; the texts are short. */
const mostBytes = 1 << 16;
const sectionAt = 44;

/** Reads the first property set (MS-OLEPS 2.21). @throws Fault malformed */
export function installerSummary({ streams }: Storage): InstallerSummary {
  const content = streams.find(({ entry }) => entry.name === summaryName)?.content;
  if (!content || content.size > mostBytes) throw malformed("it has no summary information, or too much");
  const bytes = Buffer.from(content.read(0, content.size));
  const number = (at: number) => {
    if (at + 4 <= bytes.length) return bytes.readUInt32LE(at);
    throw malformed(`its summary information ends at byte ${bytes.length}, expected a number at ${at}`);
  };
  const section = number(sectionAt);
  /** Offset of the value; 0 if there is none of this type. */
  const valueAt = (id: number, type: number): number => {
    const count = Math.min(number(section + 4), bytes.length >> 3);
    for (let at = section + 8; at < section + 8 + count * 8; at += 8) {
      const value = section + number(at + 4);
      if (number(at) === id && number(value) === type) return value + 4;
    }
    return 0;
  };
  const [text, words] = [valueAt(ids.template, types.text), valueAt(ids.wordCount, types.integer)];
  return {
    template: text === 0 ? "" : latin1(bytes.subarray(text + 4, text + 4 + number(text))),
    wordCount: words === 0 ? 0 : number(words),
  };
}

const latin1 = (bytes: Buffer): string => bytes.toString("latin1").split("\0", 1).join("");
