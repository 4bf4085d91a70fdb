import { hash } from "node:crypto";
import { parseParagraph } from "../../shared/control-paragraph.ts";
import { architecture, expectedFormats, maxMetadataBytes } from "../../shared/package-metadata.ts";
import type { WrittenArtifact } from "../documents/manifest.ts";
import { display } from "../project/display.ts";
import type { ParsedRelease } from "../project/parse.ts";
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

export const metadataRules: readonly ArtifactRule[] = [
  metadataOfType,
  metadataIsBounded,
  documentsAreBeside,
  incusTarballIsItsOwn,
];

/** A bound distinguishes debs that the same machine could install, so a single deb needs none. */
export const debsHaveOneBound: ArtifactRule = function* ({ artifact, release, place }) {
  if (artifact.package_type !== "deb") return;
  const [min, max] = [artifact.min_os_version ?? null, artifact.max_os_version ?? null];
  if (min !== null && max !== null) {
    const message = "a deb has both min_os_version and max_os_version, expected at most one";
    const hint = "Remove the bound that is not needed to distinguish it from the other debs of the release.";
    yield error("deb-os-range", place(["max_os_version"]), message, hint);
  }
  if (min !== null || max !== null || !hasLike(artifact, release)) return;
  const message =
    "a deb has neither min_os_version nor max_os_version, and another one is of the same release, variant and architecture";
  const hint =
    "Set max_os_version on the build for the older systems, min_os_version on the one for the newer.";
  yield error("deb-os-range", place([]), message, hint);
};

/** True if a machine that can install the deb could also install another deb of the release. */
function hasLike(deb: WrittenArtifact, { manifests }: ParsedRelease): boolean {
  const own = deb.file ?? deb.name;
  const kind = kindOf(deb);
  return manifests.some(({ value }) =>
    value.artifacts.some(
      (other) =>
        other.package_type === "deb" &&
        (other.file ?? other.name) !== own &&
        kindOf(other) === kind &&
        !areOtherPackages(deb, other),
    ),
  );
}

/** apt installs packages with different names side by side. */
function areOtherPackages(one: WrittenArtifact, other: WrittenArtifact): boolean {
  const [own, its] = [packageName(one), packageName(other)];
  return own !== undefined && its !== undefined && own !== its;
}

/** Without metadata, for example of a control file that cannot be read, the file name says it: NAME_VERSION_ARCH.deb. */
function packageName({ package: metadata, file, name }: WrittenArtifact): string | undefined {
  const fields = metadata?.type === "deb" ? parseParagraph(metadata.control) : "";
  return typeof fields === "string"
    ? /^([^_]+)_[^_]+_[^_]+\.deb$/.exec(file ?? name)?.[1]
    : fields.get("package");
}

const kindOf = ({ file, name, gui_only, headless }: WrittenArtifact): string =>
  [gui_only ?? false, headless ?? false, architectureOf(file ?? name)].join();

/** Records have no architecture, so it is taken from the last part of the file name, if Debian knows it. */
function architectureOf(file: string): string {
  const last = /_([a-z0-9-]+)\.deb$/.exec(file)?.[1];
  return architecture.safeParse(last).data ?? "";
}
