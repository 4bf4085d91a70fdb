import { z } from "zod";

export const text = z.string();
export const moment = z.iso.datetime({ precision: 3 }).describe("ISO 8601, UTC, with milliseconds.");
export const line = (maxLength: number) =>
  z
    .string()
    .min(1)
    .max(maxLength)
    .refine(
      (value) => !/[\p{Cc}\u2028\u2029]/u.test(value) && value.isWellFormed(),
      "Has control characters",
    );

export const pageSize = (description: string) =>
  z
    .string()
    .regex(/^([1-9]\d{0,2}|1000)$/, "Expected a number from 1 to 1000")
    .optional()
    .describe(description);
