import type { Place } from "../../shared/errors.ts";
import { versionsWithin } from "../../shared/version.ts";
import { display } from "../project/display.ts";
import { unknownTypeHint } from "../project/unknown-type.ts";
import { attestationRules } from "./attestation-rules.ts";
import { debsHaveOneBound, metadataRules } from "./metadata-rules.ts";
import { type ArtifactRule, error, type LedgerState, warning } from "./report.ts";
import { verbatimRules } from "./verbatim-rules.ts";

const packageTypeKnown: ArtifactRule = function* ({ artifact, type, place, config }) {
  if (type) return;
  const message = `the package type ${display(artifact.package_type)} is not known`;
  const hint = unknownTypeHint(artifact.package_type, config.packageTypes.keys());
  yield error("package-type-unknown", place(["package_type"]), message, hint);
};

/** Case-sensitive, because `linux` (packages) and `Linux` (images) are different values. */
const operatingSystemOfType: ArtifactRule = function* ({ artifact, type, place }) {
  const stated = artifact.operating_system;
  if (!type || stated === undefined || stated === type.operating_system) return;
  const message = `operating_system is ${display(stated)}, expected ${display(type.operating_system)} as the type ${artifact.package_type} has it`;
  yield error(
    "operating-system-mismatch",
    place(["operating_system"]),
    message,
    "Leave it out: the package type decides it.",
  );
};

const platformOfType: ArtifactRule = function* ({ artifact, type, place }) {
  const stated = artifact.platform;
  if (!type || stated === undefined || stated === type.platform) return;
  const message = `platform is ${stated}, expected ${type.platform} as the type ${artifact.package_type} has it`;
  yield error(
    "platform-mismatch",
    place(["platform"]),
    message,
    "Leave it out: the package type decides it.",
  );
};

/** An artifact is one of the two variants, or it is not split. */
const notBothVariants: ArtifactRule = function* ({ artifact, place }) {
  if (!artifact.gui_only || !artifact.headless) return;
  const message = "gui_only and headless are both true, expected at most one";
  yield error("variant-both", place(["headless"]), message, "An artifact that is not split has both false.");
};

const fileFitsInBytes: ArtifactRule = function* ({ artifact, file, place }) {
  const bytes = Buffer.byteLength(file);
  if (bytes <= 255) return;
  const path = artifact.file === undefined ? ["name"] : ["file"];
  const message = `the file name has ${bytes} bytes in UTF-8, expected at most 255`;
  yield error(
    "name-format",
    place(path),
    message,
    "No file system stores it; shorten it, or give `file` apart from `name`.",
  );
};

/** Web servers, and relcat's own, never send a file whose name begins with a dot. */
const fileIsServed: ArtifactRule = function* ({ artifact, file, place, ledgerState }) {
  if (!file.startsWith(".") || artifact.url !== undefined) return;
  const path = artifact.file === undefined ? ["name"] : ["file"];
  const message = `the file name is ${display(file)}, expected a name that does not begin with a dot`;
  yield* refusedIfNew(
    place(path),
    message,
    ["Rename it", "web servers do not send such a file"],
    ledgerState(),
  );
};

/** These characters display a name in another order than it is stored: `tool\u202Eimg.exe` looks like `toolexe.gmi`. */
const namesReadAsStored: ArtifactRule = function* ({ artifact, place, ledgerState }) {
  for (const key of ["name", "file"] as const) {
    const [found] = /[\u202a-\u202e\u2066-\u2069]/.exec(artifact[key] ?? "") ?? [];
    if (found === undefined) continue;
    const code = `U+${found.charCodeAt(0).toString(16).toUpperCase()}`;
    const message = `${key} has the character ${code}, which changes the direction of text, expected none`;
    yield* refusedIfNew(place([key]), message, ["Remove it", "it can disguise a file name"], ledgerState());
  }
};

/** Earlier versions of relcat cut such names, which the ledger makes permanent. */
function* refusedIfNew(
  at: Place,
  message: string,
  [fix, reason]: [string, string],
  ledgerState: LedgerState,
) {
  if (ledgerState === "new") yield error("name-format", at, message, `${fix}: ${reason}.`);
  if (ledgerState === "cut")
    yield warning(
      "name-format",
      at,
      message,
      `It is cut, so the name stays. Withdraw it with relcat retract: ${reason}.`,
    );
}

const urlCanBeRead: ArtifactRule = function* ({ artifact, place }) {
  if (artifact.url === undefined || URL.canParse(artifact.url)) return;
  const message = `url is ${display(artifact.url)}, expected an http or https URL`;
  yield error("url-format", place(["url"]), message, "Leave it out to use artifact_url of catalog.yaml.");
};

/** A copied manifest with last month's files would ship old software as a new version. */
const fileCarriesNoOtherVersion: ArtifactRule = function* ({ artifact, file, version, place }) {
  for (const other of versionsWithin(file)) {
    if (other === version) continue;
    const path = artifact.file === undefined ? ["name"] : ["file"];
    const message = `the file name has the version ${other}, expected ${version}`;
    yield error("foreign-version", place(path), message, "Was this manifest copied from another release?");
    return;
  }
};

const partsRequired: ArtifactRule = function* ({ artifact, type, version, config, place }) {
  if (!type) return;
  const { require } = config;
  const hint = (part: string) =>
    `Let the build write it, or take ${type.kind} out of require.${part} in catalog.yaml.`;
  for (const part of ["store", "vendor"] as const) {
    if (!require[part].includes(type.kind) || !isEmpty(artifact[part])) continue;
    yield error(
      `${part}-required`,
      place([]),
      `${part} is ${absence(artifact[part])}, expected on every ${type.kind}`,
      hint(part),
    );
  }
  // An empty attestation does not count, because it attests nothing.
  if (!require.attestation.includes(type.kind) || !isEmpty(artifact.attestation)) return;
  if (version < require.attestationFrom) return;
  const since = require.attestationFrom === "" ? "" : ` from ${require.attestationFrom} on`;
  const message = `attestation is ${absence(artifact.attestation)}, expected on every ${type.kind}${since}`;
  yield error("attestation-required", place([]), message, hint("attestation"));
};

const isEmpty = (part: unknown): boolean =>
  part === undefined || (typeof part === "object" && Object.values(part ?? {}).every(isEmpty));

const absence = (part: object | undefined) => (part === undefined ? "missing" : "empty");

/** In the catalog only images have a store path and sources of their own. */
const partsOfImagesOnly: ArtifactRule = function* ({ artifact, type, place }) {
  if (!type || type.kind === "image") return;
  for (const part of ["store", "vendor"] as const) {
    if (artifact[part] === undefined) continue;
    const message = `${part} is set on a ${type.kind}, expected on images only`;
    yield error(`${part}-forbidden`, place([part], "key"), message, "Remove it.");
  }
};

const derivationOfStorePath: ArtifactRule = function* ({ artifact, place }) {
  const hash = /^\/nix\/store\/([0-9a-z]{32})-/.exec(artifact.store?.path ?? "")?.[1];
  const stated = artifact.vendor?.image?.derivation;
  if (hash === undefined || stated === undefined || stated === hash) return;
  const message = `derivation is ${display(stated)}, but store.path has the hash ${display(hash)}`;
  yield warning(
    "derivation-path",
    place(["vendor", "image", "derivation"]),
    message,
    "One of the two is from another build.",
  );
};

const revisionListed: ArtifactRule = function* ({ artifact, release, place }) {
  const revs = release.release?.value.revs;
  const rev = artifact.vendor?.rev;
  if (revs === undefined || rev === undefined || Object.values(revs).includes(rev)) return;
  const message = `vendor.rev ${rev} is not one of the release's revs`;
  yield error(
    "revision-unlisted",
    place(["vendor", "rev"]),
    message,
    `Rebuild from a listed revision, or add this one to ${release.folder}/release.yaml.`,
  );
};

/** All rules for one artifact, in the order in which their messages appear. */
export const artifactRules: readonly ArtifactRule[] = [
  packageTypeKnown,
  operatingSystemOfType,
  platformOfType,
  notBothVariants,
  debsHaveOneBound,
  fileFitsInBytes,
  fileIsServed,
  namesReadAsStored,
  urlCanBeRead,
  fileCarriesNoOtherVersion,
  partsRequired,
  partsOfImagesOnly,
  ...attestationRules,
  ...metadataRules,
  ...verbatimRules,
  derivationOfStorePath,
  revisionListed,
];
