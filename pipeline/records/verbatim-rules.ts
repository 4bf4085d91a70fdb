import type { Problem } from "../../shared/errors.ts";
import { display } from "../project/display.ts";
import { checkShape } from "../project/document.ts";
import { type ArtifactInRelease, type ArtifactRule, error } from "./report.ts";
import { outOfOrder, recordShape } from "./verbatim.ts";

/** Violations of imported records are reported like others, so no one can use `verbatim` to bypass a rule. */
const verbatimBreaksRules: ArtifactRule = function* (context) {
  const { artifact, place } = context;
  for (const [field, value] of Object.entries(artifact.verbatim ?? {})) {
    if (identityFields.includes(field)) continue;
    const at = place(["verbatim", field], "key");
    const problems = shapeProblems(field, value, context);
    yield* problems.map((problem) => ({ ...problem, at }));
    if (problems.length > 0 || differsFromType(field, context) || datesOutOfOrder(context)) continue;
    const message = `verbatim.${field} is ${display(value)}, which a manifest can say itself`;
    const hint = "Write it as a field of the artifact; verbatim is for what breaks a rule.";
    yield error("verbatim-needless", at, message, hint);
  }
};

function shapeProblems(field: string, value: unknown, { config }: ArtifactInRelease): Problem[] {
  const syntax = { value: { [field]: value }, locate: () => 0, spelling: () => undefined };
  return checkShape({ file: "", text: "" }, syntax, recordShape(config.wire)).problems;
}

/** Other rules report these two fields already, because the entry contains them. */
const differsFromType = (field: string, { artifact, type }: ArtifactInRelease) =>
  type !== undefined &&
  (field === "operating_system" || field === "platform") &&
  artifact[field] !== type[field];

const datesOutOfOrder = ({ artifact: { verbatim } }: ArtifactInRelease) =>
  verbatim !== undefined && outOfOrder(verbatim.created_date, verbatim.modified_date);

const datesInOrder: ArtifactRule = function* (context) {
  if (!datesOutOfOrder(context)) return;
  const { created_date, modified_date } = context.artifact.verbatim ?? {};
  const message = `modified_date is ${display(modified_date)}, before created_date ${display(created_date)}`;
  const hint = "The catalog it was imported from has it so.";
  yield error("date-order", context.place(["verbatim", "modified_date"], "key"), message, hint);
};

const noFieldAbsent: ArtifactRule = function* ({ artifact, place }) {
  for (const [index, field] of (artifact.absent ?? []).entries()) {
    const message = `the field ${field} is missing from the record`;
    yield error(
      "missing-key",
      place(["absent", index]),
      message,
      "The catalog it was imported from has none.",
    );
  }
};

const identityFields: readonly string[] = ["id", "version"];

/** Id and version identify a record, so their fields cannot be overridden. */
const identityNotVerbatim: ArtifactRule = function* ({ artifact, place }) {
  for (const field of identityFields) {
    if (!Object.hasOwn(artifact.verbatim ?? {}, field)) continue;
    const message = `verbatim.${field} is set in an artifact, but the ${field} of a record cannot be chosen`;
    yield error("verbatim-needless", place(["verbatim", field], "key"), message, "Remove it.");
  }
};

/** Only an imported record may lack a checksum, because its file may no longer be available. */
const checksumKnown: ArtifactRule = function* ({ artifact, place }) {
  if (artifact.sha256 !== "unknown" || Object.hasOwn(artifact.verbatim ?? {}, "checksum")) return;
  const message = 'sha256 is "unknown", expected 64 lowercase hexadecimal characters';
  const hint = "Only imported records may lack it, with what they have in verbatim.checksum.";
  yield error("checksum-format", place(["sha256"]), message, hint);
};

export const verbatimRules: readonly ArtifactRule[] = [
  verbatimBreaksRules,
  datesInOrder,
  noFieldAbsent,
  identityNotVerbatim,
  checksumKnown,
];
