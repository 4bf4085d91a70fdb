import type { Place } from "../../shared/errors.ts";
import { versionsWithin } from "../../shared/version.ts";
import { display } from "../project/display.ts";
import { unknownTypeHint } from "../project/unknown-type.ts";
import { attestationRules } from "./attestation-rules.ts";
import { debsHaveOneBound, metadataRules } from "./metadata-rules.ts";
import { type ArtifactInRelease, type ArtifactRule, error, warning } from "./report.ts";
import { verbatimRules } from "./verbatim-rules.ts";

const packageTypeKnown: ArtifactRule = function* ({ artifact, type, place, config }) {
  if (type) return;
  const message = `the package type ${display(artifact.package_type)} is not known`;
  const hint = unknownTypeHint(artifact.package_type, config.packageTypes.keys());
  yield error("package-type-unknown", place(["package_type"]), message, hint);
};

/** Case-sensitive, because `linux` (packages) and `Linux` (images) are different values. */
const systemOfType: ArtifactRule = function* ({ artifact, type, place }) {
  const codes = { operating_system: "operating-system-mismatch", platform: "platform-mismatch" } as const;
  for (const field of ["operating_system", "platform"] as const) {
    const stated = artifact[field];
    if (!type || stated === undefined || stated === type[field]) continue;
    const message = `${field} is ${display(stated)}, expected ${display(type[field])} as the type ${artifact.package_type} has it`;
    yield error(codes[field], place([field]), message, "Leave it out: the package type decides it.");
  }
};

/** An artifact is one of the two variants, or it is not split. */
const notBothVariants: ArtifactRule = function* ({ artifact, place }) {
  if (!artifact.gui_only || !artifact.headless) return;
  const message = "gui_only and headless are both true, expected at most one";
  yield error("variant-both", place(["headless"]), message, "An artifact that is not split has both false.");
};

/** An artifact without `file` is called as its `name` says. */
const placeOfFile = ({ artifact, place }: ArtifactInRelease) =>
  place([artifact.file === undefined ? "name" : "file"]);

const fileFitsInBytes: ArtifactRule = function* (context) {
  const bytes = Buffer.byteLength(context.file);
  if (bytes <= 255) return;
  const message = `the file name has ${bytes} bytes in UTF-8, expected at most 255`;
  const hint = "No file system stores it; shorten it, or give `file` apart from `name`.";
  yield error("name-format", placeOfFile(context), message, hint);
};

/** Web servers, and relcat's own, never send a file whose name begins with a dot. */
const fileIsServed: ArtifactRule = function* (context) {
  const { artifact, file } = context;
  if (!file.startsWith(".") || artifact.url !== undefined) return;
  const message = `the file name is ${display(file)}, expected a name that does not begin with a dot`;
  yield* refusedIfNew(
    context,
    placeOfFile(context),
    message,
    "Rename it",
    "web servers do not send such a file",
  );
};

/** These characters display a name in another order than it is stored: `tool\u202Eimg.exe` looks like `toolexe.gmi`. */
const namesReadAsStored: ArtifactRule = function* (context) {
  for (const key of ["name", "file"] as const) {
    const [found] = /[\u202a-\u202e\u2066-\u2069]/.exec(context.artifact[key] ?? "") ?? [];
    if (found === undefined) continue;
    const code = `U+${found.charCodeAt(0).toString(16).toUpperCase()}`;
    const message = `${key} has the character ${code}, which changes the direction of text, expected none`;
    yield* refusedIfNew(context, context.place([key]), message, "Remove it", "it can disguise a file name");
  }
};

/** Earlier versions of relcat cut such names, which the ledger makes permanent. */
function* refusedIfNew(context: ArtifactInRelease, at: Place, message: string, fix: string, reason: string) {
  const state = context.ledgerState();
  const hint = `It is cut, so the name stays. Withdraw it with relcat retract: ${reason}.`;
  if (state === "new") yield error("name-format", at, message, `${fix}: ${reason}.`);
  if (state === "cut") yield warning("name-format", at, message, hint);
}

const urlCanBeRead: ArtifactRule = function* ({ artifact, place }) {
  if (artifact.url === undefined || URL.canParse(artifact.url)) return;
  const message = `url is ${display(artifact.url)}, expected an http or https URL`;
  yield error("url-format", place(["url"]), message, "Leave it out to use artifact_url of catalog.yaml.");
};

/** A copied manifest with last month's files would ship old software as a new version. */
const fileCarriesNoOtherVersion: ArtifactRule = function* (context) {
  const other = versionsWithin(context.file).find((each) => each !== context.version);
  if (other === undefined) return;
  const message = `the file name has the version ${other}, expected ${context.version}`;
  const hint = "Was this manifest copied from another release?";
  yield error("foreign-version", placeOfFile(context), message, hint);
};

const partsRequired: ArtifactRule = function* ({ artifact, type, version, config, place }) {
  if (!type) return;
  const { require } = config;
  const hint = (part: string) =>
    `Let the build write it, or take ${type.kind} out of require.${part} in catalog.yaml.`;
  for (const part of ["store", "vendor"] as const) {
    if (!require[part].includes(type.kind) || !isEmpty(artifact[part])) continue;
    const message = `${part} is ${absence(artifact[part])}, expected on every ${type.kind}`;
    yield error(`${part}-required`, place([]), message, hint(part));
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
  const at = place(["vendor", "image", "derivation"]);
  yield warning("derivation-path", at, message, "One of the two is from another build.");
};

const revisionListed: ArtifactRule = function* ({ artifact, release, place }) {
  const revs = release.release?.value.revs;
  const rev = artifact.vendor?.rev;
  if (revs === undefined || rev === undefined || Object.values(revs).includes(rev)) return;
  const message = `vendor.rev ${rev} is not one of the release's revs`;
  const hint = `Rebuild from a listed revision, or add this one to ${release.folder}/release.yaml.`;
  yield error("revision-unlisted", place(["vendor", "rev"]), message, hint);
};

/** All rules for one artifact, in the order in which their messages appear. */
export const artifactRules: readonly ArtifactRule[] = [
  packageTypeKnown,
  systemOfType,
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
