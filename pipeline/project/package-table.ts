import { defaultPackageTypes, type PackageType } from "../../shared/package-types.ts";
import type { WrittenConfig } from "../documents/config.ts";

/** Built-in package types, overridden by the rows of catalog.yaml. */
export function packageTypes(written: WrittenConfig): Map<string, PackageType> {
  const types = new Map<string, PackageType>(Object.entries(defaultPackageTypes));
  for (const [name, row] of Object.entries(written.package_types ?? {})) {
    types.set(name, { ...types.get(name), ...row } as PackageType);
  }
  return types;
}
