import type { Config, WrittenConfig } from "../documents/config.ts";
import type { Policy } from "../documents/policy.ts";

const usualVersions = ["{YY}.{M}.{N}", "{YY}.{MM}.{NNN}"];

/** Policies by package type: images have one if it is written, all other types if there are signers. */
export function policiesOf(
  written: WrittenConfig,
  packageTypes: Config["packageTypes"],
): ReadonlyMap<string, Policy> {
  if (!written.signers?.length) return new Map();
  const types = [...packageTypes].filter(([type, { kind }]) => kind !== "image" || written.policy?.[type]);
  return new Map(
    types.map(([type]) => {
      const { verdict = ["ok"], self_check: selfCheck, unsigned = [] } = written.policy?.[type] ?? {};
      const version = written.version_map?.[type];
      return [type, { verdict, selfCheck, unsigned, versions: version ? [version] : usualVersions }];
    }),
  );
}
