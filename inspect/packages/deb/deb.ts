import { readPackedTar } from "../../archives/packed-tar.ts";
import { type ByteSource, hashRanges, partOf, readSmall, type Uncovered } from "../../bytes/byte-source.ts";
import {
  type Found,
  type InspectOptions,
  isBroken,
  type Reader,
  refuseWorst,
  settled,
} from "../../inspection.ts";
import { selfCheckFinder, withSelfCheck } from "../../self-check.ts";
import { claimedSignature, type OpenPgpSignature, verifierOf } from "../../signatures/openpgp.ts";
import { isCleartext } from "../../signatures/openpgp-text.ts";
import { unsigned, unsupported } from "../../verdict.ts";
import { type Member, readArchive } from "./archive.ts";
import { contentsOf, ignoredMembers, readControl, signatureName, upToData } from "./contents.ts";

/** Debian packages signed with debsigs: `_gpgorigin` signs the concatenation of the first three members. */
export const inspectDeb: Reader = async (source, options) => {
  const found: Found = {};
  const finder = selfCheckFinder(options.selfCheck);
  let isRead = false;
  const inspection = await settled("deb", found, async () => {
    const members = readArchive(source);
    const ignored = new Set(ignoredMembers(members));
    const early = new Set(upToData(members));
    found.notes = notesOf([...ignored]);
    found.uncovered = members.flatMap((member) => {
      const { headerAt: from, at, size } = member;
      if (ignored.has(member)) return { from, to: at + size, why: "a member that dpkg ignores" };
      return uncoveredOf(member, early.has(member));
    });
    const signature = await settled("deb", found, async () => {
      const signatures = await signaturesOf(source, members, options, found);
      const { joined } = contentsOf(source, members);
      const verifiers = signatures.map((signature) => verifierOf(signature, "binary", options));
      await hashRanges(
        source,
        verifiers.flatMap(({ hash }) => joined.map(({ at, size }) => ({ from: at, to: at + size, hash }))),
      );
      for (const { conclude } of verifiers) await conclude();
      if (signatures.length === 0) throw unsigned("it has no signature");
    });
    if (isBroken(signature)) return refuseWorst(signature);
    const contents = await settled("deb", found, async () => {
      const { control, data } = contentsOf(source, members);
      found.facts = await readControl(control);
      await readPackedTar(data, options.limit, ({ path, type }) =>
        type === "file" ? finder.file(path) : undefined,
      );
      isRead = true;
    });
    return refuseWorst(signature, contents);
  });
  return isRead ? withSelfCheck(inspection, finder) : inspection;
};

const maxNotes = 3;

function notesOf(ignored: readonly Member[]): string[] {
  const notes = ignored.map(({ name }) => `Its member ${name} is not checked, because dpkg ignores it.`);
  if (notes.length <= maxNotes) return notes;
  const more = `${notes.length - maxNotes} more members are not checked, because dpkg ignores them.`;
  return [...notes.slice(0, maxNotes), more];
}

const origin = "_gpgorigin";

/**
 * debsigs signs only content: name and size are checked, other header fields are not, and neither is the role
 * of additional signatures. Before the data, such a signature with another name would be a member that dpkg ignores.
 */
function uncoveredOf({ name, headerAt }: Member, isEarly: boolean): Uncovered[] {
  const end = headerAt + name.length;
  const fields = [
    // System V ar ends names with a slash.
    { from: end, to: end + 1, why: `the slash that may follow ${name} in the archive` },
    { from: headerAt + 16, to: headerAt + 48, why: `date, owner and mode of ${name} in the archive` },
  ];
  if (!signatureName.test(name) || name === origin) return fields;
  const role = isEarly
    ? { from: headerAt + 1, to: headerAt + 16 }
    : { from: headerAt + "_gpg".length, to: end };
  return [{ ...role, why: `role of the signature ${name}` }, ...fields];
}

/** Every signature must be valid; the origin's signer is reported. */
async function signaturesOf(
  source: ByteSource,
  members: readonly Member[],
  options: InspectOptions,
  found: Found,
): Promise<OpenPgpSignature[]> {
  const roles = members.filter(({ name }) => signatureName.test(name));
  if (roles.length > 0 && !roles.some(({ name }) => name === origin))
    throw unsupported(`it is signed as ${roles[0]?.name} alone, expected ${origin}`);
  roles.sort((a, b) => Number(b.name === origin) - Number(a.name === origin));
  const signatures: OpenPgpSignature[] = [];
  for (const { name, at, size } of roles) {
    const bytes = readSmall(partOf(source, at, size, name));
    if (isCleartext(bytes)) throw unsupported(`${name} is a signed text, expected a detached signature`);
    signatures.push(await claimedSignature(bytes, { base: at, what: name, style: "gpg", options, found }));
  }
  return signatures;
}
