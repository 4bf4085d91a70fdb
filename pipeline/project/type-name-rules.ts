import { defaultPackageTypes, resolveAlias } from "../../shared/package-types.ts";
import type { ConfigRule } from "./config-rule.ts";
import { display } from "./display.ts";
import { packageTypes } from "./package-table.ts";
import { unknownTypeHint } from "./unknown-type.ts";

export const expectedTypes: ConfigRule = (config, report) => {
  const known = new Set([...Object.keys(defaultPackageTypes), ...Object.keys(config.package_types ?? {})]);
  for (const [index, entry] of (config.expected ?? []).entries()) {
    const type = typeof entry === "string" ? entry : entry.package_type;
    if (known.has(type)) continue;
    const message = `the package type ${type} is not known`;
    report(
      "package-type-unknown",
      typeof entry === "string" ? ["expected", index] : ["expected", index, "package_type"],
      message,
      unknownTypeHint(type, known),
      "value",
    );
  }
};

/** Rules may use the names of nixpkgs, which are not in the table. */
export const ingestTypes: ConfigRule = (config, report) => {
  const types = packageTypes(config);
  for (const [index, { package_type: type }] of (config.ingest ?? []).entries()) {
    if (types.has(resolveAlias(type, types))) continue;
    report(
      "package-type-unknown",
      ["ingest", index, "package_type"],
      `the package type ${type} is not known`,
      unknownTypeHint(type, types.keys()),
      "value",
    );
  }
};

/** A policy for a misspelled type would apply to nothing. */
export const policyTypes: ConfigRule = (config, report) => {
  const types = packageTypes(config);
  const tables = [
    [["policy"], config.policy],
    [["version_map"], config.version_map],
    [["feeds", "packslip", "artifacts"], config.feeds?.packslip?.artifacts],
  ] as const;
  for (const [path, table] of tables) {
    for (const type of Object.keys(table ?? {})) {
      if (types.has(type)) continue;
      const message = `the package type ${display(type)} is not known`;
      report("package-type-unknown", [...path, type], message, unknownTypeHint(type, types.keys()));
    }
  }
};
