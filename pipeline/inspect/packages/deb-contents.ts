import type { Compression } from "../archives/decompress.ts";
import { type PackedTar, textInTar } from "../archives/packed-tar.ts";
import { malformed } from "../inspection.ts";

const compressions = new Map<string, Compression>([
  ["", "none"],
  [".gz", "gzip"],
  [".xz", "xz"],
  [".zst", "zstd"],
  [".bz2", "bzip2"],
  [".lzma", "lzma"],
]);

/** How a member such as `data.tar.xz` is compressed, by its name (deb(5)); undefined: it is no such member. */
export function compressionOfMember(name: string, stem: string): Compression | undefined {
  return name.startsWith(`${stem}.tar`) ? compressions.get(name.slice(stem.length + 4)) : undefined;
}

/** Far more than the scripts and lists beside the control file take. */
const mostControlBytes = 64 << 20;

/**
 * What the package says of itself (deb-control(5)).
 * @throws Fault malformed; what decompress throws
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

/** Of one paragraph; names do not depend on case, and lines that begin with white space go on (deb822(5)). */
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
