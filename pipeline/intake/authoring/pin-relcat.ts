import { basename } from "node:path";
import { failure } from "../../../shared/errors.ts";
import type { CommandContext } from "../../system/command-context.ts";
import { exists, readIfPresent, readPresent } from "../../system/files.ts";
import { withLock } from "../../system/lock.ts";
import { pack } from "../../system/npm.ts";
import { withWorkFolder } from "../../system/work-folder.ts";

/** The package that runs. */
export interface OwnPackage {
  folder: string;
  version: string;
}

/** How a project's package.json installs relcat. */
export interface Pin {
  /** Value in devDependencies. */
  spec: string;
  /** File that the value names. */
  tarball?: { path: string; bytes: Uint8Array } | undefined;
  /** Digest of the relcat that a registry must give; undefined: not known. */
  integrity?: string | undefined;
  /** True if the file is missing because npm is not installed here. */
  isUnpacked?: boolean;
}

const vendor = (name: string) => ({ spec: `file:vendor/${name}`, path: `vendor/${name}` });

/**
 * Pins the relcat that runs: its version if a registry served it, otherwise a tarball packed from it. A registry
 * that did not serve it may have a foreign package of that name.
 * @param wanted a version or a .tgz file that replaces it
 * @throws RelcatError usage; file-access; pack-failed
 */
export async function pinRelcat(
  own: OwnPackage,
  wanted: string | undefined,
  context: CommandContext,
): Promise<Pin> {
  if (wanted !== undefined) return pinWanted(wanted);
  const { folder, version } = own;
  const served = servedByRegistry(folder, version);
  return served ? { spec: version, integrity: served.integrity } : packRelcat(own, context);
}

/**
 * A clone is compiled and packed by one process at a time.
 * @throws RelcatError pack-failed, lock-held
 */
export async function packRelcat(
  { folder, version }: OwnPackage,
  { pid, onWait }: CommandContext,
): Promise<Pin> {
  const isClone = exists(`${folder}/cli/main.ts`);
  const packed = await withWorkFolder((work) => {
    const packing = () => pack(folder, isClone, work);
    return isClone ? withLock(folder, pid, onWait, packing) : packing();
  });
  if (!packed) return { spec: vendor(`relcat-${version}.tgz`).spec, isUnpacked: true };
  const { spec, path } = vendor(packed.name);
  return { spec, tarball: { path, bytes: packed.bytes } };
}

function pinWanted(wanted: string): Pin {
  if (/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(wanted)) return { spec: wanted };
  if (!wanted.endsWith(".tgz")) {
    throw failure(
      "usage",
      `--relcat is ${wanted}, expected a version such as 1.2.3 or a file that ends in .tgz`,
      "Leave it out to use the relcat that runs now.",
    );
  }
  const { spec, path } = vendor(basename(wanted));
  return { spec, tarball: { path, bytes: readPresent(wanted) } };
}

/** The version of Node that relcat was tested with: a project's `npx relcat` must not depend on the Node of its machine. */
export function testedNode({ folder }: OwnPackage): string | undefined {
  const about = new TextDecoder().decode(readPresent(`${folder}/package.json`));
  return (JSON.parse(about) as { devDependencies?: { node?: string } }).devDependencies?.node;
}

/** npm's note about the installed package, if it came from a registry. */
function servedByRegistry(folder: string, version: string): { integrity?: string } | undefined {
  const noted = readIfPresent(`${folder}/../.package-lock.json`);
  if (!noted) return undefined;
  const own = packageIn(new TextDecoder().decode(noted));
  const address = own?.resolved ?? "";
  const isServed = /^https?:/.test(address) && address.endsWith(`/relcat/-/relcat-${version}.tgz`);
  return isServed ? own : undefined;
}

/** True if a registry gave another package than the one that runs. */
export const isForeign = ({ integrity }: Pin, packageLock: string): boolean =>
  integrity !== undefined && packageIn(packageLock)?.integrity !== integrity;

/** relcat's entry in package-lock.json or node_modules/.package-lock.json. */
function packageIn(text: string): { resolved?: string; integrity?: string } | undefined {
  const { packages } = JSON.parse(text) as { packages?: Record<string, { resolved?: string }> };
  return packages?.["node_modules/relcat"];
}
