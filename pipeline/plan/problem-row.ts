import type { Problem } from "../../shared/errors.ts";
import type { ForbiddenChange } from "../documents/plan.ts";

/** A problem in the form of a plan, with every key present. */
export const problemRow = ({ code, message, hint, at }: Problem): ForbiddenChange => ({
  code,
  message,
  hint: hint ?? null,
  file: at?.file ?? null,
  line: at?.line ?? null,
  column: at?.column ?? null,
});
