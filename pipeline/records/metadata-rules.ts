import { expectedFormats, maxMetadataBytes } from "../documents/package-metadata.ts";
import { display } from "../project/display.ts";
import { type ArtifactRule, error } from "./report.ts";

const metadataOfType: ArtifactRule = function* ({ artifact, type, place }) {
  if (!type || !artifact.package) return;
  const expected = expectedFormats(artifact.package_type, type.kind);
  if (expected.includes(artifact.package.type)) return;
  const message = `package is that of ${artifact.package.type}, expected ${expected.join(" or ")} for the package type ${artifact.package_type}`;
  yield error("package-metadata", place(["package", "type"]), message, again);
};

const metadataIsBounded: ArtifactRule = function* ({ artifact, place }) {
  if (!artifact.package) return;
  const size = Buffer.byteLength(JSON.stringify(artifact.package));
  if (size <= maxMetadataBytes) return;
  const message = `package has ${size} bytes as JSON, expected ${maxMetadataBytes} at most`;
  yield error("package-metadata", place(["package"]), message, again);
};

/** Clients look for a document under the address of the artifact with an ending. */
const documentsAreBeside: ArtifactRule = function* ({ artifact, file, place }) {
  for (const [index, document] of (artifact.documents ?? []).entries()) {
    if (document.file.startsWith(`${file}.`)) continue;
    const message = `the document is called ${display(document.file)}, expected ${file} with an ending`;
    const hint = "Rename it, such as chart.tgz.prov for chart.tgz.";
    yield error("package-metadata", place(["documents", index, "file"]), message, hint);
  }
};

const again = "Let relcat ingest write it, or leave it out.";

/** Rules for what a package states about itself. */
export const metadataRules: readonly ArtifactRule[] = [metadataOfType, metadataIsBounded, documentsAreBeside];
