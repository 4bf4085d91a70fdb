import { type Problem, throwErrors } from "../../shared/errors.ts";
import type { ForbiddenChange, Plan } from "../documents/plan.ts";
import type { Catalog } from "../ledger/catalog.ts";
import type { Cut } from "../ledger/cut.ts";
import { identity } from "../ledger/ledger-records.ts";
import { isPrivate } from "../records/normalize.ts";

export interface Refused {
  problems: Problem[];
  /** Problems of private records. */
  hidden: Problem[];
}

/**
 * @param artifacts folder with the artifacts to inspect again; undefined: the results recorded at ingest
 * @throws RelcatError for signers or artifacts that cannot be read
 */
export async function refusedArtifacts(
  catalog: Catalog,
  { events }: Cut,
  artifacts: string | undefined,
  clock: number,
): Promise<Refused> {
  if (catalog.config.policies.size === 0) return { problems: [], hidden: [] };
  const { judgeArtifacts } = await import("../policy/judge.ts");
  const added = new Set(
    events.flatMap((event) => (event.event === "add" ? identity(event.version, event.file) : [])),
  );
  const due = catalog.releases
    .flatMap((release) => release.artifacts)
    .filter(({ file, content }) => added.has(identity(content.version, file)));
  const judge = (isHidden: boolean) => {
    const judged = due.filter(({ content }) => isPrivate(content) === isHidden);
    return judgeArtifacts(catalog, judged, { artifacts, needsClaims: true, clock });
  };
  return { problems: await judge(false), hidden: await judge(true) };
}

/** @throws RelcatError policy-refused, inspection-missing, inspection-outdated, checksum-mismatch */
export const throwRefused = ({ problems, hidden }: Refused): void => throwErrors([...problems, ...hidden]);

/** A plan may be public, so private records are reported without details. */
export function refusedRows({ problems, hidden }: Refused): Plan["refused"] {
  const isError = ({ severity }: Problem) => severity === "error";
  const unnamed = hidden.filter(isError).map(
    ({ code }): Problem => ({
      code,
      severity: "error",
      message: "the artifact of a private record does not meet its policy, or was not inspected",
      hint: "relcat cut names it and how to fix it.",
    }),
  );
  return [...problems.filter(isError), ...unnamed].map(problemRow);
}

/** A problem in the form of a plan, with every key present. */
export const problemRow = ({ code, message, hint, at }: Problem): ForbiddenChange => ({
  code,
  message,
  hint: hint ?? null,
  file: at?.file ?? null,
  line: at?.line ?? null,
  column: at?.column ?? null,
});
