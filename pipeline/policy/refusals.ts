import { fitsPackageType } from "../../inspect/images/platform-requirements.ts";
import type { Inspection } from "../../inspect/inspection.ts";
import type { Verdict } from "../../inspect/verdict.ts";
import type { Place, Problem } from "../../shared/errors.ts";
import type { Policy } from "../documents/policy.ts";

interface CheckedArtifact {
  name: string;
  packageType: string;
  version: string;
  /** Location of the claim; without a claim, location of the artifact. */
  at(claim?: Claim): Place;
}

/** A claim of the manifest that the bytes may contradict. */
export type Claim = "package_type" | "release";

/** Policy violations as errors, and doubts about platform support as warnings. */
export function policyProblems(inspection: Inspection, policy: Policy, held: CheckedArtifact): Problem[] {
  const { name, packageType, version, at } = held;
  const refused = refusalsOf(inspection, packageType, policy, version).map(
    ({ reason, hint, claim }): Problem => ({
      code: "policy-refused",
      severity: "error",
      message: `${name} is refused by the policy of ${packageType}: ${reason}`,
      hint,
      at: at(claim),
    }),
  );
  if (refused.length > 0) return refused;
  return fitsPackageType(inspection, packageType).map((misfit) => ({
    code: "image-misfit",
    severity: "warning",
    message: `${name} may not work as ${packageType}: ${misfit}`,
    hint: "Correct its package_type, or build it for that platform.",
    at: at("package_type"),
  }));
}

interface Refusal {
  reason: string;
  hint: string;
  claim?: Claim;
}

/** Inspection format per package type, where only one format is valid. */
const formats: Readonly<Record<string, string>> = {
  rpm: "rpm",
  deb: "deb",
  msi: "msi",
  pkg: "pkg",
  helm: "helm",
  xz: "tar",
};

const again = "Do not ship it: build and sign it again.";

const waysOut: Partial<Record<Verdict, string>> = {
  unsigned: "Sign it before it is ingested, or accept unsigned in policy: of catalog.yaml.",
  adhoc: "Sign it with a certificate, or accept adhoc in policy: of catalog.yaml.",
  "untrusted-key": "Sign it with a key of signers:, or put this one there if it may sign.",
  "revoked-key": "Sign it again, with a key that is not revoked.",
  "expired-certificate": "Sign it again with a certificate that is valid, and timestamp the signature.",
  "weak-digest": "Sign it again over SHA-256.",
  "unsupported-format": "Build it in a form that relcat reads: docs/inspection.md says which.",
};

export function refusalsOf(
  inspection: Inspection,
  packageType: string,
  policy: Policy,
  version: string,
): Refusal[] {
  const { type, verdict, reason } = inspection;
  const format = Object.hasOwn(formats, packageType) ? formats[packageType] : undefined;
  if (!policy.verdict.includes(verdict))
    return [{ reason: `it is ${verdict}: ${reason}`, hint: waysOut[verdict] ?? again }];
  if (format !== undefined && type !== format)
    return [
      {
        reason: `its bytes are ${type}, expected ${format}`,
        hint: "Correct its package_type, or the file.",
        claim: "package_type",
      },
    ];
  return [...filesInside(inspection, packageType, policy), ...otherVersion(inspection, policy, version)];
}

function filesInside({ file_signatures: files }: Inspection, packageType: string, { unsigned }: Policy) {
  const bad = files.filter(({ name, verdict }) => verdict !== "ok" && !unsigned.includes(name));
  return bad.map(({ name, verdict }) => ({
    reason: `${name} inside is ${verdict}`,
    hint: `Sign it, or list it in catalog.yaml: policy: { ${packageType}: { unsigned: [${JSON.stringify(name)}] } }.`,
  }));
}

function otherVersion({ facts }: Inspection, { versions }: Policy, version: string): Refusal[] {
  if (typeof facts.version !== "string") return [];
  const expected = versionsInside(version, versions);
  if (expected.includes(upstream(facts.version))) return [];
  return [
    {
      reason: `it says version ${facts.version}, expected ${expected.join(" or ")} in ${version}`,
      hint: "Is it a file of another release? Otherwise give the format of its version in version_map: of catalog.yaml.",
      claim: "release",
    },
  ];
}

/** Strips the epoch prefix and the revision suffix that packagers add. */
const upstream = (version: string): string => version.replace(/^\d+:/, "").replace(/-[^-]+$/, "");

/** @param version YY.MM.NNN @param templates with {YY}, {M}, {MM}, {N} and {NNN} */
export function versionsInside(version: string, templates: readonly string[]): string[] {
  const [YY = "", MM = "", NNN = ""] = version.split(".");
  const [M, N] = [MM, NNN].map((digits) => String(Number(digits)));
  const values: Readonly<Record<string, string | undefined>> = { YY, MM, NNN, M, N };
  const filled = templates.map((template) =>
    template.replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? ""),
  );
  return [...new Set(filled)];
}
