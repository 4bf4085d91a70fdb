import type { ByteSource } from "../../bytes/byte-source.ts";
import { malformed, refused, unsupported } from "../../verdict.ts";

export type Member = ReturnType<typeof memberAt>;

const magic = "!<arch>\n";
const headerSize = 60;
/** Far more than any package has: three members, one signature for each role, and those that dpkg ignores. */
const maxMembers = 1024;

/** deb-old(5): no ar archive, but a version, the size of the control archive, and both tar archives. */
export const isOldDeb = (head: Uint8Array): boolean => /^0\.93\d*\n\d/.test(latin1(head));

/** @throws Fault malformed; unsupported-format; refuse */
export function readArchive(source: ByteSource): Member[] {
  if (isOldDeb(source.read(0, Math.min(16, source.size))))
    throw unsupported(
      "it has the old format 0.939 of deb-old(5), expected 2.0; dpkg-deb -R and dpkg-deb -b convert it",
    );
  if (latin1(source.read(0, Math.min(magic.length, source.size))) !== magic)
    throw malformed("it does not begin as an ar archive");
  const members: Member[] = [];
  for (let at = magic.length; at < source.size; ) {
    const member = memberAt(source, at);
    members.push(member);
    if (members.length > maxMembers) throw refused(`it has over ${maxMembers} members`);
    at = member.at + member.size;
    if (at % 2 === 0) continue;
    if (latin1(source.read(at, 1)) !== "\n")
      throw malformed(`${member.name} is not followed by a line feed to an even length`);
    at++;
  }
  return members;
}

/** A member of an ar archive, restricted as in deb(5): the offsets of its header and content, and the content's size. */
function memberAt(source: ByteSource, headerAt: number) {
  const header = latin1(source.read(headerAt, headerSize));
  // dpkg skips a member whose name begins with "_", whatever follows.
  const name = header
    .slice(0, 16)
    .match(/^([\x21-\x2e\x30-\x7e]+|_.*?)\/? *$/s)?.[1]
    ?.replace(/[^ -~]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16).padStart(2, "0")}`);
  const size = header.slice(48, 58).match(/^(\d+) *$/)?.[1];
  if (!name || !size || header.slice(58) !== "`\n")
    throw malformed(`no member of an ar archive begins at byte ${headerAt}`);
  const member = { name, headerAt, at: headerAt + headerSize, size: Number(size) };
  if (member.at + member.size > source.size) throw malformed(`${name} reaches beyond the end`);
  return member;
}

const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("latin1");
