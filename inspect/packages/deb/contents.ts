import { controlFault, parseParagraph } from "../../../shared/control-paragraph.ts";
import { architecture, type DebMetadata } from "../../../shared/package-metadata.ts";
import type { Compression } from "../../archives/decompress.ts";
import { type PackedTar, textsInTar } from "../../archives/packed-tar.ts";
import { type ByteSource, partOf, readSmall } from "../../bytes/byte-source.ts";
import { malformed, unsupported } from "../../verdict.ts";
import { type Member, readArchive } from "./archive.ts";

const compressions = new Map<string, Compression>([
  ["", "none"],
  [".gz", "gzip"],
  [".xz", "xz"],
  [".zst", "zstd"],
  [".bz2", "bzip2"],
  [".lzma", "lzma"],
]);

/** Compression by the suffix of a member such as `data.tar.xz` (deb(5)); undefined: another member. */
function compressionOfMember(name: string, stem: string): Compression | undefined {
  return name.startsWith(`${stem}.tar`) ? compressions.get(name.slice(stem.length + 4)) : undefined;
}

/** Far more than scripts and lists next to the control file need. */
const maxControlBytes = 64 << 20;

/** The control file (deb-control(5)) without its final line feeds. @throws Fault; whatever decompress throws */
async function controlText(packed: PackedTar): Promise<string> {
  const what = "the control file";
  const text = (await textsInTar(packed, maxControlBytes, { [what]: /^control$/ }))[what];
  if (text === undefined) throw malformed(`${packed.source.name} lacks ${what}`);
  let end = text.length;
  while (text[end - 1] === "\n") end--;
  return text.slice(0, end);
}

/** @throws Fault malformed; whatever decompress throws */
export async function readControl(packed: PackedTar) {
  const fields = parseParagraph(await controlText(packed));
  if (typeof fields === "string") throw malformed(`its control file ${fields}`);
  const [name, version, architecture] = ["package", "version", "architecture"].map((field) =>
    fields.get(field),
  );
  if (!name || !version || !architecture)
    throw malformed("its control file does not say Package, Version and Architecture");
  return { name, version, architecture };
}

export const signatureName = /^_gpg[a-z]+$/;

export const upToData = (members: readonly Member[]): Member[] =>
  members.slice(0, members.findIndex(({ name }) => name.startsWith("data.tar")) + 1);

/** Members that deb(5) allows before the data; dpkg and APT ignore them. Signatures may be there too. */
export const ignoredMembers = (members: readonly Member[]): Member[] =>
  upToData(members)
    .slice(1)
    .filter(({ name }) => name.startsWith("_") && !signatureName.test(name));

/**
 * A package has three members in fixed order. dpkg ignores all that follow, but no signature covers them, so only
 * signatures may follow in an intact package.
 * @returns `joined`: the parts that a signature covers: debian-binary, control and data
 * @throws Fault malformed
 */
export function contentsOf(source: ByteSource, all: readonly Member[]) {
  const ignored = new Set(ignoredMembers(all));
  const members = all.filter((member) => !ignored.has(member));
  const parts = members.filter(({ name }) => !signatureName.test(name));
  const [version, control, data, ...others] = parts;
  const packed = (member: Member | undefined, stem: string): PackedTar | undefined => {
    const compression = member && compressionOfMember(member.name, stem);
    return compression && { source: partOf(source, member.at, member.size, member.name), compression };
  };
  const [controlTar, dataTar] = [packed(control, "control"), packed(data, "data")];
  const names = members.map(({ name }) => name);
  const isOther = others.length > 0 || new Set(names).size < names.length;
  if (all[0] !== version || version?.name !== "debian-binary" || !controlTar || !dataTar || isOther)
    throw malformed(
      `it has ${names.join(", ")}, expected debian-binary, control.tar.*, data.tar.* and then signatures, each once`,
    );
  const format = Buffer.from(readSmall(partOf(source, version.at, version.size, version.name))).toString(
    "latin1",
  );
  if (!/^2\.\d+\n/.test(format)) throw malformed(`it has the format ${JSON.stringify(format)}, expected 2.0`);
  return { control: controlTar, data: dataTar, joined: parts };
}

/** Reads the control paragraph as dpkg does, which ignores members after the data and does not unpack it. @throws Fault; whatever decompress throws */
export async function debMetadata(source: ByteSource): Promise<DebMetadata> {
  const control = await controlText(contentsOf(source, upToData(readArchive(source))).control);
  const fault = controlFault(control);
  const fields = parseParagraph(control);
  if (fault !== undefined || typeof fields === "string") throw malformed(`its control file ${fault}`);
  const arch = fields.get("architecture") ?? "";
  if (!architecture.safeParse(arch).success)
    throw unsupported(`its architecture is ${JSON.stringify(arch)}, which dpkg does not know`);
  return { type: "deb", arch, control };
}
