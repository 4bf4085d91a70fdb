import { z } from "zod";
import { expects } from "../../../shared/fields.ts";
import type { Path } from "../../../shared/source.ts";
import type { Settings } from "../../documents/config.ts";
import type { Manifest, WrittenArtifact } from "../../documents/manifest.ts";
import { packageRecordSchema } from "../../documents/package-record.ts";
import { checkShape, type Located } from "../../project/document.ts";
import { neutralData, recordShape } from "../../records/verbatim.ts";
import type { PostedBody } from "./read-posted.ts";
import { refuseInvalid } from "./refused.ts";

type Wire = Settings["wire"];

/**
 * Converts one record to a manifest with one artifact; problems refer to the record's fields.
 * @returns `ignored`: unknown members, and members that the ledger decides
 * @throws PostRefused with every invalid field
 */
export function manifestOfRecord(
  { source, syntax, value }: PostedBody & { kind: "record" },
  { wire }: Settings,
): { manifest: Located<Manifest>; ignored: string[] } {
  const schema = writableSchema(wire);
  const { document, problems } = checkShape(source, syntax, schema);
  if (!document) refuseInvalid(problems);
  const { value: record, place, file } = document as Located<z.infer<typeof schema>>;
  return {
    manifest: {
      file,
      value: { release: record.version, artifacts: [artifactOf(record, wire)] },
      place: (path, part) => place(pathInRecord(path, wire), part),
    },
    ignored: Object.keys(value).filter((member) => !Object.hasOwn(schema.shape, member)),
  };
}

/** The 14 fields that the author of a record sets; except the identity, all have defaults. */
function writableSchema(wire: Wire) {
  const { id: _, created_date: _created, modified_date: _modified, ...writable } = recordShape(wire).shape;
  const { name, version, checksum, package_type } = packageRecordSchema.shape;
  const required = { name, version, checksum, package_type };
  return z.object({ ...writable, ...required }, expects("wrong-type", "an object"));
}

type Writable = z.infer<ReturnType<typeof writableSchema>>;

function artifactOf({ version: _, checksum, data, ...rest }: Writable, wire: Wire): WrittenArtifact {
  const fields = { ...rest, sha256: checksum, ...neutralData(data, wire) };
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as WrittenArtifact;
}

/** Field of a record that corresponds to `path` in its manifest. */
function pathInRecord([top, , field, ...rest]: Path, wire: Wire): Path {
  if (top === "release") return ["version"];
  if (field === undefined) return [];
  if (field === "sha256") return ["checksum"];
  if (field === "file") return ["name"];
  if (field === "store") return ["data", field, ...rest];
  if (field === "vendor") return ["data", wire.vendor, ...rest];
  if (field !== "attestation") return [field, ...rest];
  const named = rest.map((key, index) =>
    index === 0 && key === "cryptolib_post" ? wire.cryptolib_post : key,
  );
  return ["data", field, ...named];
}
