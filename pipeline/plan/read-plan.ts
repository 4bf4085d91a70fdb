import { failure, RelcatError } from "../../shared/errors.ts";
import { parseJson } from "../../shared/json.ts";
import { decode, parseSource } from "../../shared/source.ts";
import { type Plan, planSchema } from "../documents/plan.ts";
import { digest } from "../ledger/ledger.ts";
import { checkShape } from "../project/document.ts";
import { readInput } from "../system/input-files.ts";

/** A plan names every document of a site, which is about 20 MB for 25,000 records. */
const maxPlanBytes = 256 * 1024 * 1024;

/**
 * @param file "-" is standard input
 * @throws RelcatError plan-digest if it was changed; file-access, and syntax errors
 */
export async function readPlan(file: string): Promise<Plan> {
  const source = decode(file, await readInput(file, maxPlanBytes), maxPlanBytes);
  const { document, problems } = checkShape(source, parseSource(source, parseJson), planSchema);
  if (!document) throw new RelcatError(problems);
  if (planDigest(document.value) === document.value.digest) return document.value;
  throw failure(
    "plan-digest",
    `${file} was changed since it was planned: its digest does not match its content`,
    "Plan again: relcat plan --out FILE. Plans must not be edited.",
  );
}

/** Digest over all other members of a plan, independent of white space and key order. */
export function planDigest(plan: Omit<Plan, "digest">): string {
  const { digest: _, ...rest } = planSchema.parse({ ...plan, digest: "0".repeat(64) });
  return digest(JSON.stringify(rest));
}
