import { basename } from "node:path/posix";
import type { Code, Problem } from "../../../shared/errors.ts";
import type { Settings } from "../../documents/config.ts";
import { type Manifest, manifestSchema, type WrittenArtifact } from "../../documents/manifest.ts";
import type { WrittenRelease } from "../../documents/release.ts";
import { checkShape, type Located } from "../../project/document.ts";
import type { ParsedRelease } from "../../project/parse.ts";
import { normalizeRelease, type Release } from "../../records/normalize.ts";
import { checkRelease } from "../../records/read-release.ts";
import { type At, wholeFile } from "./evidence.ts";

export interface Described {
  artifact: WrittenArtifact;
  at: At;
  problems: readonly Problem[];
}

/** Follow-up problems that are not reported when their cause already is. */
const consequences: Partial<Record<Code, readonly Code[]>> = {
  "store-ambiguous": ["store-required", "vendor-required"],
  "revision-missing": ["vendor-required"],
};

/** Hints that name ingest's own options. */
const waysOut: Partial<Record<Code, string>> = {
  "attestation-required":
    "Give --set attestation.cryptolib_post.expected_hash=… or FILE.relcat.yaml, or take the kind out of require.attestation in catalog.yaml.",
  "store-required":
    "Give nix path-info --json of its output too, or --set store.path=…; or take the kind out of require.store in catalog.yaml.",
  "foreign-version": "Is it the file of another release, or is --release wrong?",
  "deb-os-range":
    "Let rules in ingest: of catalog.yaml say by the file names which systems they are for: max_os_version on the build for the older, min_os_version on the one for the newer.",
};

/** Problems with facts that an inspection adds. */
const inspected: readonly Code[] = [
  ...(["attestation-required", "hash-per-arch", "fingerprint-missing", "fingerprint-per-arch"] as const),
];

/** True if the bytes may refute a problem: the control file of a deb says which package it is, for example. */
const dependsOnBytes = (code: Code, { package_type }: WrittenArtifact, { policies }: Settings): boolean =>
  code === "deb-os-range" || (policies.has(package_type) && inspected.includes(code));

/**
 * Orders artifacts as ids are assigned. Problems point to the inputs, because the manifest does not exist yet.
 * @param release images must have one of its revisions
 * @param isRead false before the bytes are read: problems that depend on them are not reported yet
 */
export function checkManifest(
  described: readonly Described[],
  version: string,
  config: Settings,
  release: Located<WrittenRelease> | undefined,
  isRead: boolean,
): { manifest: Manifest; release: Release | undefined; problems: Problem[] } {
  const shape = described.flatMap((each) => shapeProblems(each, version));
  const artifacts = described.map(({ artifact }) => artifact);
  if (shape.length > 0)
    return { manifest: { release: version, artifacts }, release: undefined, problems: shape };
  const whole = asParsed(described, version, release);
  const { release: normalized, problems } = normalizeRelease(whole, config);
  artifacts.sort(inOrderOf(normalized));
  // One artifact at a time, so that each problem names its artifact; `check` judges the release date.
  const found = described.flatMap((each) => {
    const known = each.problems.flatMap(({ code }) => consequences[code] ?? []);
    return checkRelease(asParsed([each], version, release), config, whole)
      .filter(({ code }) => code !== "release-date" && !known.includes(code))
      .filter(({ code }) => isRead || !dependsOnBytes(code, each.artifact, config))
      .map((problem) => toldOf(each, problem));
  });
  return {
    manifest: { release: version, artifacts },
    release: normalized,
    problems: [...found, ...problems],
  };
}

/** Compares artifacts by their order in the release, in which ids are assigned. */
export function inOrderOf({ artifacts }: Release): (a: WrittenArtifact, b: WrittenArtifact) => number {
  const order = new Map(artifacts.map(({ file }, index) => [file, index]));
  const position = ({ file, name }: WrittenArtifact) => order.get(file ?? name) ?? -1;
  return (a, b) => position(a) - position(b);
}

/** A release of these artifacts, located at their inputs. */
function asParsed(
  described: readonly Described[],
  version: string,
  release: Located<WrittenRelease> | undefined,
): ParsedRelease {
  const value: Manifest = { release: version, artifacts: described.map(({ artifact }) => artifact) };
  const place: Located<Manifest>["place"] = ([, index]) =>
    (described[Number(index)]?.at ?? wholeFile("the manifest"))();
  return {
    version,
    folder: version,
    release,
    notes: [],
    manifests: [{ file: "the manifest", value, place }],
    problems: [],
  };
}

function toldOf({ artifact, at }: Described, found: Problem): Problem {
  const name = artifact.file ?? artifact.name;
  const isNamed = basename(at().file) === name || found.message.includes(name);
  const hint = waysOut[found.code] ?? found.hint;
  return {
    ...found,
    message: isNamed ? found.message : `${name}: ${found.message}`,
    ...(hint !== undefined && { hint }),
  };
}

function shapeProblems({ artifact, at }: Described, version: string): Problem[] {
  const value = { release: version, artifacts: [artifact] };
  const syntax = { value, locate: () => 0, spelling: () => undefined };
  const { problems } = checkShape({ file: "the manifest", text: "" }, syntax, manifestSchema);
  return problems.map((found: Problem) => ({
    ...found,
    message: found.message.replace(/^artifacts\[0\]\./, ""),
    at: at(),
  }));
}
