import type { Architecture, MsiMetadata } from "../../../shared/package-metadata.ts";
import { architectureNamed } from "../../architecture.ts";
import type { ByteSource } from "../../bytes/byte-source.ts";
import { malformed } from "../../verdict.ts";
import { type InstallerSummary, installerSummary, msiTables, openInstaller } from "./tables.ts";

/** Platforms of the property Template; without one, it is Intel. */
const platforms = new Map<string, Architecture>([
  ["", "i386"],
  ["Intel", "i386"],
  ["x64", "amd64"],
  ["AMD64", "amd64"],
  ["Arm64", "arm64"],
  ["Arm", "armhf"],
]);

/** Reads properties and summary, without the files. @throws Fault malformed; unsupported-format */
export function msiMetadata(source: ByteSource): MsiMetadata {
  const { root } = openInstaller(source);
  const properties = new Map<string, string>();
  for (const [name = "", value = ""] of msiTables(root).rows("Property", ["Property", "Value"]))
    properties.set(name, value);
  const summary = installerSummary(root);
  const property = (name: string): string => {
    const value = properties.get(name);
    if (value) return value;
    throw malformed(`it has no property ${name}`);
  };
  const upgradeCode = properties.get("UpgradeCode");
  return {
    type: "msi",
    product_name: property("ProductName"),
    manufacturer: property("Manufacturer"),
    product_version: property("ProductVersion"),
    product_code: property("ProductCode"),
    ...(upgradeCode && { upgrade_code: upgradeCode }),
    arch: architectureNamed(summary.template.split(";")[0] ?? "", platforms),
    scope: scopeOf(properties, summary),
  };
}

/** Word count: the package needs no elevated privileges. */
const unprivileged = 8;

/** https://learn.microsoft.com/windows/win32/msi/allusers: 2 means machine, unless the user decides otherwise. */
function scopeOf(
  properties: ReadonlyMap<string, string>,
  { wordCount }: InstallerSummary,
): MsiMetadata["scope"] {
  const allUsers = properties.get("ALLUSERS");
  if (allUsers === "1") return "machine";
  const isPerUser = properties.get("MSIINSTALLPERUSER") === "1" || (wordCount & unprivileged) !== 0;
  return allUsers === "2" && !isPerUser ? "machine" : "user";
}
