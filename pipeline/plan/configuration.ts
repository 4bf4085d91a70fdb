import type { Config } from "../documents/config.ts";
import type { FieldChange } from "../documents/plan.ts";
import { artifactUrl } from "../ledger/publish-records.ts";
import { changedLeaves } from "./fields.ts";
import type { ListedRecord } from "./snapshot.ts";

/** Settings that affect public content, by their names in catalog.yaml. */
export function publicSettings(config: Config): Record<string, unknown> {
  const { product, baseUrl, artifactUrl: artifact_url, authority, wire, platforms, packageTypes } = config;
  return {
    product,
    base_url: baseUrl,
    artifact_url,
    authority,
    wire,
    platforms: Object.fromEntries(platforms),
    package_types: Object.fromEntries(packageTypes),
    notes: { components: Object.fromEntries(config.components), kinds: Object.fromEntries(config.kinds) },
  };
}

/** Global changes from the configuration, and record changes caused only by it. */
export interface ConfigurationChanges {
  fields: readonly FieldChange[];
  causeOf(change: FieldChange, before: ListedRecord, after: ListedRecord): string | undefined;
}

export const noChanges: ConfigurationChanges = { fields: [], causeOf: () => undefined };

export function configurationChanges(before: Config, after: Config): ConfigurationChanges {
  const fields = changedLeaves(publicSettings(before), publicSettings(after));
  const byField = new Map(fields.map((change) => [change.field, change]));
  const isOfConfig = (record: ListedRecord, config: Config) =>
    record.download?.url ===
    artifactUrl({ ...record.row, checksum: record.checksum }, record.row.file ?? "", config);
  return {
    fields,
    causeOf({ field, from, to }, old, now) {
      if (field === "url") {
        const derived = isOfConfig(old, before) && isOfConfig(now, after);
        return derived ? ["artifact_url", "base_url"].find((key) => byField.has(key)) : undefined;
      }
      const key = `package_types.${now.row.package_type}.${field}`;
      const change = byField.get(key);
      return change && change.from === from && change.to === to ? key : undefined;
    },
  };
}
