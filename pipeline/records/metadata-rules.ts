import { hash } from "node:crypto";
import { expectedFormats, maxMetadataBytes } from "../../shared/package-metadata.ts";
import { display } from "../project/display.ts";
import { incusTarball } from "./incus-tarball.ts";
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

/** Incus refuses an image whose digests are those of another tarball. */
const incusTarballIsItsOwn: ArtifactRule = function* ({ artifact, version, place }) {
  if (artifact.package?.type !== "image" || !artifact.package.incus) return;
  const { arch, incus } = artifact.package;
  const at = (member: string) => place(["package", "incus", member]);
  if (arch === undefined) {
    const message = "package has incus but no arch, expected both";
    yield error("package-metadata", place(["package", "incus"]), message, again);
    return;
  }
  if (incus.release !== version) {
    const message = `package.incus.release is ${incus.release}, expected ${version}`;
    yield error("package-metadata", at("release"), message, again);
    return;
  }
  const tarball = incusTarball({ ...incus, arch });
  if (incus.metadata_sha256 === hash("sha256", tarball) && incus.metadata_size === tarball.length) return;
  const message = "package.incus is not what its metadata_sha256 and metadata_size were computed from";
  yield error("package-metadata", at("metadata_sha256"), message, again);
};

const again = "Let relcat ingest write it, or leave it out.";

/** Rules for what a package states about itself. */
export const metadataRules: readonly ArtifactRule[] = [
  metadataOfType,
  metadataIsBounded,
  documentsAreBeside,
  incusTarballIsItsOwn,
];
