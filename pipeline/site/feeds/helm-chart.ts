import { z } from "zod";
import type { ChartMetadata } from "../../../shared/package-metadata.ts";

const text = z.string();
const texts = z.array(text);

/**
 * Fields of Chart.yaml that Helm declares, with their types. Helm before 3.12 refuses a whole index with a field of
 * another name or type in it, so others are left out, and so is a chart with another type.
 */
const chartSchema = z.object({
  apiVersion: text.optional(),
  name: text.regex(/^[A-Za-z0-9._-]{1,250}$/),
  version: text.regex(
    /^v?\d+(?:\.\d+){0,2}(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/,
  ),
  kubeVersion: text.optional(),
  description: text.optional(),
  type: z.enum(["application", "library"]).optional(),
  keywords: texts.optional(),
  home: text.optional(),
  sources: texts.optional(),
  dependencies: z
    .array(
      z.object({
        name: text,
        version: text.optional(),
        repository: text.optional(),
        condition: text.optional(),
        tags: texts.optional(),
        enabled: z.boolean().optional(),
        "import-values": z.array(z.unknown()).optional(),
        alias: text.optional(),
      }),
    )
    .optional(),
  maintainers: z
    .array(z.object({ name: text.optional(), email: text.optional(), url: text.optional() }))
    .optional(),
  icon: text.optional(),
  condition: text.optional(),
  tags: text.optional(),
  appVersion: text.optional(),
  deprecated: z.boolean().optional(),
  annotations: z.record(text, text).optional(),
});

/** Chart.yaml as Helm's indexes and registries repeat it. */
export type Chart = z.infer<typeof chartSchema>;

/** @returns the entry, or the reason why an index cannot contain the chart */
export function indexedChart({ chart }: ChartMetadata): Chart | string {
  const { data, error } = chartSchema.safeParse(withoutEmpty(chart));
  if (data) return data;
  const [issue] = error.issues;
  return `${issue?.path.join(".")} of its Chart.yaml is not what Helm accepts`;
}

/** A key without a value is the same as an absent one. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (!(value instanceof Object)) return value;
  const kept = Object.entries(value).filter(([, inner]) => inner !== "" && inner !== null);
  return Object.fromEntries(kept.map(([key, inner]) => [key, withoutEmpty(inner)]));
}
