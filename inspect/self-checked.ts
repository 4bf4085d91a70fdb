import type { Inspection } from "./inspection.ts";
import type { SelfCheckFinder } from "./self-check.ts";
import { Fault } from "./verdict.ts";

/** Adds the self-check result. A failed self-check lowers only a verdict that was `ok`. */
export function withSelfCheck(inspection: Inspection, finder: SelfCheckFinder): Inspection {
  try {
    const { cryptolib_post, note } = finder.found();
    return { ...inspection, cryptolib_post, notes: [...inspection.notes, ...(note ? [note] : [])] };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    if (inspection.verdict === "ok") return { ...inspection, verdict: error.verdict, reason: error.message };
    return { ...inspection, notes: [...inspection.notes, error.message] };
  }
}
