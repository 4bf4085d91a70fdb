import { readXml, type XmlElement } from "../bytes/xml.ts";
import { malformed } from "../verdict.ts";
import type { OvaFile } from "./ova-manifest.ts";

/** The fields of an OVF that concern files. */
export interface Envelope {
  /** In the order that the archive must have. */
  files: readonly { path: string; size: number | undefined }[];
  /** Declared capacity in bytes. */
  disks: readonly { file: string | undefined; capacity: number | undefined }[];
  name: string | null;
}

/** @throws Fault malformed */
export async function readEnvelope(text: string): Promise<Envelope> {
  const envelope = await readXml(text, ["Envelope", "ovf:Envelope"], "the OVA's description");
  const files = within(envelope, "References", "File").map((file) => ({
    id: attributeOf(file, "id"),
    path: attributeOf(file, "href") ?? "",
    size: numberOf(attributeOf(file, "size")),
  }));
  const paths = new Map(files.flatMap(({ id, path }) => (id ? [[id, path]] : [])));
  const disks = within(envelope, "DiskSection", "Disk").map((disk) => ({
    file: paths.get(attributeOf(disk, "fileRef") ?? ""),
    capacity: capacityOf(disk),
  }));
  const [system] = named(envelope, "VirtualSystem");
  return { files, disks, name: system ? (named(system, "Name")[0]?.text ?? null) : null };
}

const named = (element: XmlElement, name: string): XmlElement[] => [
  ...element.all(name),
  ...element.all(`ovf:${name}`),
];

const within = (element: XmlElement, section: string, name: string): XmlElement[] =>
  named(element, section).flatMap((found) => named(found, name));

const attributeOf = ({ attributes }: XmlElement, name: string): string | undefined =>
  attributes[`ovf:${name}`] ?? attributes[name];

const numberOf = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;

/** The unit is bytes, or an expression such as `byte * 2^20`. */
function capacityOf(disk: XmlElement): number | undefined {
  const capacity = numberOf(attributeOf(disk, "capacity"));
  const unit = (attributeOf(disk, "capacityAllocationUnits") ?? "byte").match(
    /^byte(?:\s*\*\s*2\^(\d{1,2}))?$/,
  );
  return capacity !== undefined && unit ? capacity * 2 ** Number(unit[1] ?? 0) : undefined;
}

const isSeal = ({ path }: OvaFile) => /\.(?:mf|cert)$/.test(path);

/**
 * Required order: description, then manifest and certificate (here or last), then the referenced files in
 * their listed order.
 * @throws Fault malformed
 */
export function refuseOrder(files: readonly OvaFile[], { files: wanted }: Envelope): void {
  const [, ...others] = files;
  const content = others.filter((file) => !isSeal(file));
  for (const [index, { path, size }] of content.entries()) {
    const expected = wanted[index];
    if (expected?.path !== path)
      throw malformed(
        `the OVA has ${path}, expected ${expected?.path ?? "nothing that its description does not name"}`,
      );
    if (expected.size !== undefined && expected.size !== size)
      throw malformed(`${path} has ${size} bytes, the OVA's description says ${expected.size}`);
  }
  const missing = wanted[content.length];
  if (missing) throw malformed(`the OVA has no ${missing.path}, which its description names`);
  const seals = others.map(isSeal).join(" ");
  const inPlace = /^(?:true ?){0,2}(?:false ?)*$|^(?:false ?)*(?:true ?){0,2}$/.test(seals);
  const kinds = others.filter(isSeal).map(({ path }) => path.replace(/^.*\./, ""));
  if (!inPlace || !["", "mf", "mf cert", "cert"].includes(kinds.join(" ")))
    throw malformed("the OVA has its manifest or certificate in a place where no reader looks");
}
