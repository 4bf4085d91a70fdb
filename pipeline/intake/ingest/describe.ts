import { architectureInName } from "../../../inspect/architecture.ts";
import type { Problem } from "../../../shared/errors.ts";
import { architectureOf } from "../../../shared/package-metadata.ts";
import { resolveAlias } from "../../../shared/package-types.ts";
import type { Store, Vendor } from "../../documents/attestation.ts";
import type { Settings } from "../../documents/config.ts";
import type { WrittenArtifact } from "../../documents/manifest.ts";
import { attestationOf } from "../../policy/attestation.ts";
import type { IncusStatement } from "../../records/incus-tarball.ts";
import { fieldsOf, ruleFor, unmatched, usualType } from "./built-in-rules.ts";
import { contradictions, type Statements } from "./contradictions.ts";
import { problem } from "./evidence.ts";
import { type Fields, overlay } from "./fields.ts";
import { baseOf, besides, hashPart, isStorePath } from "./formats/store-path.ts";
import type { Job, JobFile } from "./join.ts";
import type { Measured } from "./measure.ts";
import { incusStatement, type PackageClaims, packageOf } from "./package-of.ts";

/** Only images have a source revision in the catalog, so a missing one is an error. */
function imageProvenance(file: JobFile, fields: Fields, { job, config, revision }: Description) {
  const { path, problems } = storeOf(file, fields, job);
  const size = path === undefined ? undefined : job.objects.get(baseOf(path))?.narSize;
  const store: Store = { ...(path !== undefined && { path }), ...(size !== undefined && { size }) };
  const image = path !== undefined && isStorePath(path) ? recipeOf(path, job) : undefined;
  const vendor: Vendor = { ...(revision !== undefined && { rev: revision }), ...(image && { image }) };
  const known = revision ?? fields.vendor?.rev;
  if (known === undefined && config.require.vendor.includes("image")) {
    const message = `no input says which source revision ${file.name} was built from`;
    const hint =
      "Give --rev SHA, --rev ci or --rev git; or take image out of require.vendor in catalog.yaml.";
    problems.push(problem("revision-missing", file.at, message, hint));
  }
  return { provenance: { ...unlessEmpty("store", store), ...unlessEmpty("vendor", vendor) }, problems };
}

function recipeOf(path: string, job: Job): NonNullable<Vendor["image"]> {
  const drv = job.drvs.get(baseOf(path));
  return { ...(drv !== undefined && { drv: besides(drv, path) }), derivation: hashPart(path) };
}

const unlessEmpty = (key: string, value: object) => (Object.keys(value).length > 0 ? { [key]: value } : {});

/** Store path of a file; for a file copied out of the store, the job's only output. */
function storeOf(
  file: JobFile,
  fields: Fields,
  { outputs, objects }: Job,
): { path: string | undefined; problems: Problem[] } {
  const paths = [...objects.values()].map(({ path }) => path).filter((path) => !path.endsWith(".drv"));
  const named = file.store ?? fields.store?.path;
  if (named !== undefined) {
    const same = (path: string) => baseOf(path) === baseOf(named);
    return { path: outputs.find(same) ?? paths.find(same) ?? named, problems: [] };
  }
  const candidates = outputs.length > 0 ? outputs : paths;
  if (candidates.length < 2) return { path: candidates[0], problems: [] };
  const { name, at } = file;
  const shown = `${candidates.slice(0, 3).join(", ")}${candidates.length > 3 ? ", …" : ""}`;
  const message = `${name} may be of any of ${candidates.length} store paths: ${shown}`;
  const hint = `Give it by its path in the store, ingest each build by itself, or write store: { path: … } into ${name}.relcat.yaml.`;
  return { path: undefined, problems: [problem("store-ambiguous", at, message, hint)] };
}

export interface Description extends Statements {
  version: string;
  job: Job;
  config: Settings;
  revision: string | undefined;
  /** Package types of the built-in rules by file name, where the bytes were there to decide. */
  contentTypes?: ReadonlyMap<string, string | undefined>;
}

/** @param measured undefined: not yet measured, so statements are accepted as they are */
export function describeFile(
  file: JobFile,
  measured: Measured | undefined,
  context: Description,
): { artifact: WrittenArtifact | undefined; incus?: IncusStatement | undefined; problems: Problem[] } {
  const { config, sidecars, settings, version, contentTypes } = context;
  const rule = file.finished ? undefined : ruleFor(file.name, config);
  // In ascending precedence: name, build, sidecar, caller.
  const layers = [
    rule ? fieldsOf(rule) : {},
    file.finished?.value ?? {},
    sidecars.get(file.name)?.value ?? {},
    settings,
  ];
  const fields = layers.reduce<Fields>((under, over) => overlay(under, over), {});
  const hinted = file.hint === undefined ? undefined : typeOfHint(file.hint, config);
  const usual = contentTypes?.has(file.name) ? contentTypes.get(file.name) : usualType(file.name);
  const stated = fields.package_type ?? hinted ?? usual;
  if (stated === undefined) return { artifact: undefined, problems: [unmatched(file.name, file.at)] };
  const package_type = resolveAlias(stated, config.packageTypes);
  const type = config.packageTypes.get(package_type);
  const { provenance, problems } =
    type?.kind === "image" ? imageProvenance(file, fields, context) : { provenance: {}, problems: [] };
  const { inspection, inspected } = measured?.seen ?? {};
  const facts: Fields = {
    ...provenance,
    ...(measured && { sha256: measured.sha256, size: measured.size }),
    ...(inspected && { inspected }),
    attestation: {
      ...(fields.attestation?.sha256 !== undefined && digestOf(measured)),
      ...(inspection && type && attestationOf(inspection, package_type, type)),
    },
  };
  const { metadata, problems: untrue } = packageOf(file, {
    packageType: package_type,
    kind: type?.kind ?? "client",
    read: measured?.found?.package,
    bytes: measured ? bytesOf(measured) : "unread",
    stated: fields.package,
    arch: fields.arch,
  });
  const documents = measured?.found?.documents ?? fields.documents;
  const sha256 = measured?.sha256 ?? fields.sha256 ?? fields.attestation?.sha256 ?? unknownDigest;
  const { arch: _, package: __, documents: ___, ...kept } = overlay(fields, facts);
  const artifact: WrittenArtifact = {
    ...kept,
    name: fields.name ?? fields.file ?? file.name,
    package_type,
    sha256,
    ...(metadata && { package: metadata }),
    ...(documents && { documents }),
  };
  if (artifact.name !== file.name) artifact.file ??= file.name;
  if (artifact.file === artifact.name) delete artifact.file;
  // A client's attestation contains at least its checksum.
  if (type?.kind === "client") artifact.attestation = { sha256, ...artifact.attestation };
  else if (Object.keys(artifact.attestation ?? {}).length === 0) delete artifact.attestation;
  // No format that Incus starts states an architecture, so it is known before the bytes are read.
  const arch = fields.arch ?? architectureOf(fields.package) ?? architectureInName(file.name);
  return {
    artifact,
    incus: incusStatement({ version, packageType: package_type, arch, stated: fields.package, config }),
    problems: [
      ...problems,
      ...contradictions(file, fields, facts, inspection !== undefined, context),
      ...untrue,
    ],
  };
}

const bytesOf = ({ found }: Measured): PackageClaims["bytes"] =>
  found ? (found.isUnreadable ? "unreadable" : "read") : "absent";

/** An imported record may describe a file that is no longer available. */
const digestOf = (measured: Measured | undefined) =>
  measured && measured.sha256 !== "unknown" && { sha256: measured.sha256 };

const unknownDigest = "0".repeat(64);

/** The whole hint or one part of it names the type, as in images.qcow-efi. @returns undefined if several do */
export function typeOfHint(
  hint: string,
  { packageTypes }: Pick<Settings, "packageTypes">,
): string | undefined {
  const parts = [hint, ...hint.split(".")].map((part) => resolveAlias(part, packageTypes));
  const known = new Set(parts.filter((part) => packageTypes.has(part)));
  return known.size === 1 ? [...known][0] : undefined;
}
