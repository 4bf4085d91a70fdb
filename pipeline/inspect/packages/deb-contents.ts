import { malformed } from "../../documents/verdict.ts";
import type { Compression } from "../archives/decompress.ts";
import { type PackedTar, textInTar } from "../archives/packed-tar.ts";

const compressions = new Map<string, Compression>([
  ["", "none"],
  [".gz", "gzip"],
  [".xz", "xz"],
  [".zst", "zstd"],
  [".bz2", "bzip2"],
  [".lzma", "lzma"],
]);

/** Compression by the suffix of a member such as `data.tar.xz` (deb(5)); undefined: another member. */
export function compressionOfMember(name: string, stem: string): Compression | undefined {
  return name.startsWith(`${stem}.tar`) ? compressions.get(name.slice(stem.length + 4)) : undefined;
}

/** Far more than scripts and lists next to the control file need. */
const mostControlBytes = 64 << 20;

/**
 * Reads the control file (deb-control(5)).
 * @throws Fault malformed; whatever decompress throws
 */
export async function readControl(packed: PackedTar) {
  const text = await textInTar(packed, mostControlBytes, /^control$/, "the control file");
  const fields = fieldsOf(text);
  const [name, version, architecture] = ["package", "version", "architecture"].map((field) =>
    fields.get(field),
  );
  if (!name || !version || !architecture)
    throw malformed("its control file does not say Package, Version and Architecture");
  return { name, version, architecture };
}

/**
 * Parses one paragraph: names are case-insensitive, and a line that starts with white space continues a field
 * (deb822(5)).
 */
function fieldsOf(text: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const line of text.replace(/\n+$/, "").split("\n")) {
    if (/^[ \t]/.test(line)) continue;
    const [, name, value = ""] = line.match(/^([!-9;-~]+):[ \t]*(.*?)[ \t]*$/) ?? [];
    if (!name)
      throw malformed(`its control file has the line ${JSON.stringify(line)}, expected "Field: value"`);
    if (fields.has(name.toLowerCase())) throw malformed(`its control file has ${name} twice`);
    fields.set(name.toLowerCase(), value);
  }
  return fields;
}
