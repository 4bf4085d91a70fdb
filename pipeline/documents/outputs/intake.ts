import { z } from "zod";
import { verdicts } from "../../../inspect/verdict.ts";
import { id, version } from "../../../shared/fields.ts";
import { packageMetadataSchema } from "../../../shared/package-metadata.ts";
import { count, document, dryRun, list, object, oneOf, table, text, texts, warnings } from "./members.ts";

const wireName = object({
  name: text("Name of the key."),
  from: oneOf(
    ["given", "kept", "found", "default"],
    "given: with --wire; kept: used here; found: recognized; default: no record has it.",
  ),
  records: count("Number of records that have it."),
});

export type WireName = z.infer<typeof wireName>;

const verdict = oneOf(
  verdicts,
  "Only ok means that a signature is valid and by an allowed signer; docs/inspection.md explains each.",
);

const signer = text("Name of the signer.").optional();
const perArchitecture = table(z.string(), "By architecture.");

export const intake = {
  ingest: document("A manifest that was written. With --out - the manifest itself is printed.", {
    release: version.describe("Version of the artifacts."),
    file: text("The manifest."),
    result: oneOf(
      ["written", "replaced", "unchanged"],
      "Effect on the manifest; in a dry run, the effect that it would have.",
    ),
    artifacts: list(
      object({
        package_type: text("Package type."),
        file: text("Name of the file."),
        size: count("Size in bytes; null if it is not known.").nullable(),
        sha256: text("SHA-256 of the file, or unknown."),
      }),
      "The artifacts of the manifest.",
    ),
    left_out: texts("Inputs that are not artifacts."),
    warnings,
    dry_run: dryRun,
  }),
  "ingest-fill": document("With --fill: package metadata that was added to manifests.", {
    filled: list(
      object({
        manifest: text("The manifest."),
        version: version.describe("Version of its release."),
        file: text("Name of the artifact's file."),
        members: texts("Members that were added."),
      }),
      "Artifacts whose entry was completed.",
    ),
    absent: list(
      object({ version: version.describe("Version of the release."), file: text("Name of the file.") }),
      "Artifacts that were not found.",
    ),
    warnings,
    dry_run: dryRun,
  }),
  "ingest-suggest": document("With --suggest: lines for catalog.yaml. Nothing is written.", {
    suggestion: text("YAML to add to catalog.yaml; comments say what is left to decide."),
  }),
  import: document("Records that were imported.", {
    records: count("Number of records in the list."),
    added: count("Number of new records."),
    revised: count("Number of changed records."),
    restored: count("Number of unchanged records that no manifest had."),
    unchanged: count("Number of unchanged records."),
    kept: list(id, "Ids of records that were changed or withdrawn here, and so not imported."),
    gone: list(
      object({
        id: id.describe("Id of the record."),
        version: version.describe("Version of its release."),
        name: text("Its name."),
      }),
      "Records that were imported earlier, and that the list lacks now.",
    ),
    private: count("Number of records that are private here."),
    releases: texts("Versions with new or changed records."),
    wire: object({ vendor: wireName, cryptolib_post: wireName }).describe(
      "Keys inside data that the list uses for vendor and cryptolib_post.",
    ),
    catalog: object({
      wire: table(z.string(), "Names of keys inside data."),
      package_types: table(z.looseObject({}), "Rows of package types, by type."),
      platforms: table(z.string(), "Names of platforms, by number."),
    }).describe("Additions to catalog.yaml, in its form."),
    accepted: table(z.int(), "Number of violations that --accept-violations accepted, by code."),
    ledger_lines: count("Number of new ledger lines."),
    files: texts("The written files."),
    warnings,
    dry_run: dryRun,
  }),
  inspect: document("Facts and signatures of files. Exit status 1 unless every verdict is ok.", {
    artifacts: list(
      object({
        file: text("The file as given."),
        type: text("Format, such as rpm, msi or qcow2."),
        verdict,
        reason: text("Why the verdict is not ok, in one sentence; otherwise empty."),
        key_id: text("Key that made the signature; null if none is known.").nullable(),
        signature: object({
          signer: text("Name of the signer."),
          display: text("Name and key, for people."),
          fingerprint: text("Fingerprint of the key or certificate."),
        })
          .nullable()
          .describe("The signer; only a claim unless the verdict is ok."),
        file_signatures: list(
          object({
            name: text("Path inside the package."),
            signature: z
              .union([
                object({ signer, fingerprint: text("Fingerprint of the certificate.") }),
                object({ signer, fingerprint_per_arch: perArchitecture }),
              ])
              .nullable()
              .describe("The signer; null if the file is not signed."),
            verdict,
          }),
          "Signatures of files inside the package.",
        ),
        cryptolib_post: z
          .union([
            object({ expected_hash: text("The hash.") }),
            object({ expected_hash_per_arch: perArchitecture }),
          ])
          .nullable()
          .describe("Hash that the product's self-check expects; null if there is none."),
        facts: table(z.unknown(), "Statements of the file about itself; they depend on the format."),
        notes: texts("Remarks for people."),
        uncovered: list(
          object({
            from: count("First byte."),
            to: count("Byte after the last one."),
            why: text("Why no signature covers it."),
          }),
          "Bytes that the signature does not cover.",
        ),
        package: packageMetadataSchema
          .nullable()
          .describe("Metadata for package repositories, as in manifests; null if there is none."),
      }),
      "The files, in the given order.",
    ),
  }),
};
